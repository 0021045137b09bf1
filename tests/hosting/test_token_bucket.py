"""So much at once, so much for long."""

import pytest

from attention.hosting.token_bucket import TokenBucket


def test_what_may_be_had_at_once_takes_no_waiting_and_the_rest_waits_at_the_rate():
    bucket = TokenBucket.full(rate=2.0, burst=3.0, now=10.0)
    assert bucket.take(3.0, 10.0) == 0.0
    assert bucket.take(1.0, 10.0) == 0.5
    assert bucket.take(0.0, 10.25) == 0.25
    assert bucket.take(0.0, 10.5) == 0.0


def test_no_more_is_saved_up_than_may_be_had_at_once():
    bucket = TokenBucket.full(rate=2.0, burst=3.0, now=0.0)
    assert bucket.take(5.0, 1000.0) == 1.0


def test_what_is_not_there_is_not_spared():
    bucket = TokenBucket.full(rate=0.5, burst=2.0, now=0.0)
    assert [bucket.try_take(0.0) for _ in range(3)] == [True, True, False]
    assert [bucket.try_take(2.0) for _ in range(2)] == [True, False]
    assert bucket.tokens == pytest.approx(0.0)
