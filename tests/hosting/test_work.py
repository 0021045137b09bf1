"""Reruns are timed, and wait where their session has used more than its share."""

from __future__ import annotations

import threading

import pytest

from attention.hosting import metrics, work
from attention.hosting.pace import Pace
from attention.hosting.turns import Turns

LONG = 30.0  # seconds


def spin(seconds: float) -> None:
    """Keep the core busy for so long."""
    end = work.time.thread_time() + seconds
    while work.time.thread_time() < end:
        pass


def sample(name: str, **labels: str) -> float:
    return metrics.REGISTRY.get_sample_value(name, labels) or 0.0


def test_a_session_that_used_more_than_its_share_waits_before_its_next_rerun(monkeypatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(work, "_hold_back", lambda seconds, still_wanted: slept.append(seconds))
    used = Pace.full(rate=0.01, burst=0.02, now=work.time.monotonic())
    with work.rerun("explore", used) as held:
        spin(0.05)
    assert (held, slept) == (0.0, [])
    before = sample("attention_held_seconds_total")
    with work.rerun("explore", used) as held:
        pass
    assert slept == [held]
    assert 1.0 < held <= work.MAX_HELD  # 30 ms too many, at 10 ms a second
    assert sample("attention_held_seconds_total") == before + held


def test_no_more_reruns_are_under_way_than_are_allowed_at_once(monkeypatch) -> None:
    turns = Turns(0.0, places=2)
    monkeypatch.setattr(work, "_turns", lambda: turns)
    under_way: list[int] = []
    most: list[int] = []
    enough, go_on = threading.Semaphore(0), threading.Event()

    def visitor(number: int) -> None:
        with work.rerun("explore", work.share(), f"address {number}"):
            under_way.append(number)
            most.append(len(under_way))
            enough.release()
            go_on.wait(30)
            under_way.remove(number)

    threads = [threading.Thread(target=visitor, args=(number,)) for number in range(7)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        assert enough.acquire(timeout=30)
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert len(most) == 7
    assert max(most) == 2


def another_rerun() -> tuple[threading.Thread, threading.Event]:
    """A rerun of another session, in its thread, and whether it has begun."""
    begun = threading.Event()

    def run() -> None:
        with work.rerun("explore", work.share()):
            begun.set()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, begun


def test_a_rerun_that_waits_for_work_done_elsewhere_lets_others_run(monkeypatch) -> None:
    turns = Turns(0.0, places=1)
    monkeypatch.setattr(work, "_turns", lambda: turns)
    with work.rerun("explore", work.share()):
        thread, begun = another_rerun()
        assert not begun.wait(0.2)
        with work.waiting():
            assert begun.wait(LONG)
        thread.join(LONG)
        thread, begun = another_rerun()
        assert not begun.wait(0.2)
    assert begun.wait(LONG)
    thread.join(LONG)


class NotWantedError(Exception):
    """A rerun that is to be stopped."""


def test_a_rerun_that_is_not_wanted_any_more_waits_no_longer(monkeypatch) -> None:
    turns = Turns(LONG, places=1)
    monkeypatch.setattr(work, "_turns", lambda: turns)
    used_up = Pace(rate=1e-6, burst=0.0, left=-1.0, at=work.time.monotonic())

    def stop() -> None:
        raise NotWantedError

    def wait(used: Pace) -> None:
        with pytest.raises(NotWantedError), work.rerun("explore", used, still_wanted=stop):
            raise AssertionError("nobody gives a turn to it")

    with work.rerun("explore", work.share()):
        for used in (work.share(), used_up):
            thread = threading.Thread(target=wait, args=(used,))
            thread.start()
            thread.join(LONG)
            assert not thread.is_alive()
        assert not turns._waiting
    with work.rerun("explore", work.share()):
        pass


def test_what_runs_within_a_rerun_is_a_part_of_it() -> None:
    before = sample("attention_rerun_seconds_count", page="heads")
    used = work.share()
    with work.rerun("heads", used), work.rerun("heads", used):
        pass
    assert sample("attention_rerun_seconds_count", page="heads") == before + 1


def test_a_rerun_that_fails_is_over() -> None:
    used = work.share()
    before = sample("attention_rerun_seconds_count", page="steps")
    for _ in range(2):
        try:
            with work.rerun("steps", used):
                raise RuntimeError
        except RuntimeError:
            pass
    assert sample("attention_rerun_seconds_count", page="steps") == before + 2
