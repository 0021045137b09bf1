"""Reruns are timed, and wait where their session has used more than its share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import pytest

from attention.hosting import metrics, reruns
from attention.hosting.rerun_scheduler import RerunScheduler
from attention.hosting.reruns import Share
from attention.hosting.token_bucket import TokenBucket
from tests.hosting.conftest import LONG, Within, until_waiting


def spin(seconds: float) -> None:
    """Keep the core busy for so long."""
    end = reruns.time.thread_time() + seconds
    while reruns.time.thread_time() < end:
        pass


def sample(name: str, **labels: str) -> float:
    return metrics.REGISTRY.get_sample_value(name, labels) or 0.0


def test_a_session_that_used_more_than_its_share_waits_before_its_next_rerun(monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr(reruns, "_hold_back", lambda seconds, still_wanted: slept.append(seconds))
    share = Share(TokenBucket.full(rate=0.005, burst=0.02, now=reruns.time.monotonic()))
    with reruns.rerun("explore", share) as held:
        spin(0.05)
    assert (held, slept) == (0.0, [])
    before = sample("attention_held_seconds_total")
    with reruns.rerun("explore", share) as held:
        pass
    assert slept == [held]
    assert 1.0 < held <= reruns.MAX_HELD  # 30 ms too many, at 5 ms a second
    assert sample("attention_held_seconds_total") == before + held


@pytest.fixture
def start(within: Within) -> Callable[..., threading.Event]:
    """Starts a rerun of another session and gives what is set once it has begun.

    It goes on until what it is given is set.
    """

    def begin(address: str = "", until: threading.Event | None = None) -> threading.Event:
        do = partial(until.wait, LONG) if until is not None else bool
        return within(reruns.rerun("explore", Share(is_inside=True), address), do)

    return begin


def scheduler_of(monkeypatch, max_running: int, quantum: float = 0.0) -> RerunScheduler:
    scheduler = RerunScheduler(quantum, max_running=max_running)
    monkeypatch.setattr(reruns, "_scheduler", lambda: scheduler)
    return scheduler


def test_a_rerun_that_waits_for_work_done_elsewhere_lets_others_run(monkeypatch, start):
    scheduler = scheduler_of(monkeypatch, 1)
    with reruns.rerun("explore", Share()):
        begun = start()
        until_waiting(scheduler, 1)
        with reruns.pause():
            assert begun.wait(LONG)
        begun = start()
        until_waiting(scheduler, 1)
    assert begun.wait(LONG)


class NotWantedError(Exception):
    """A rerun that is to be stopped."""


def test_a_rerun_that_is_not_wanted_any_more_waits_no_longer(monkeypatch):
    scheduler = scheduler_of(monkeypatch, 1, LONG)
    bucket = TokenBucket(rate=1e-6, burst=0.0, tokens=-1.0, updated=reruns.time.monotonic())
    empty = Share(bucket)

    def stop() -> None:
        raise NotWantedError

    def wait(share: Share) -> None:
        with pytest.raises(NotWantedError), reruns.rerun("explore", share, still_wanted=stop):
            raise AssertionError("nobody gives a turn to it")

    with reruns.rerun("explore", Share()):
        for share in (Share(), empty):
            thread = threading.Thread(target=wait, args=(share,))
            thread.start()
            thread.join(LONG)
            assert not thread.is_alive()
        assert not scheduler._waiting
    with reruns.rerun("explore", Share()):
        pass


def test_what_runs_within_a_rerun_is_a_part_of_it():
    before = sample("attention_rerun_seconds_count", page="heads")
    share = Share()
    with reruns.rerun("heads", share), reruns.rerun("heads", share):
        pass
    assert sample("attention_rerun_seconds_count", page="heads") == before + 1
