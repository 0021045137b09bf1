"""Work of seconds beside the reruns."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from attention.hosting.jobs import Jobs, Progress, in_turn

LONG = 30.0


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What a job waits for."""
    opened = threading.Event()
    yield opened
    opened.set()


def test_a_job_is_over_once_it_is_done() -> None:
    jobs, calls = Jobs(), list[int]()
    assert jobs.ask("a", lambda tell: calls.append(1), LONG).done
    assert calls == [1]


def test_one_job_at_a_time_and_the_others_know_their_place(gate: threading.Event) -> None:
    jobs, begun = Jobs(), threading.Event()

    def work(tell: Progress) -> None:
        tell(2, 7)
        begun.set()
        gate.wait(LONG)

    assert not jobs.ask("a", work).done
    assert begun.wait(LONG)
    assert jobs.ask("a", work).steps == (2, 7)
    second = jobs.ask("b", lambda tell: None)
    assert (second.done, second.ahead) == (False, 1)
    gate.set()
    assert jobs.ask("b", lambda tell: None, LONG).done
    assert jobs.ask("a", work).done


def test_a_job_that_nobody_asks_for_is_dropped_and_begins_anew_when_asked(
    gate: threading.Event,
) -> None:
    jobs, begun, left = Jobs(), threading.Event(), threading.Event()
    done: list[str] = []

    def work(tell: Progress) -> None:
        begun.set()
        try:
            gate.wait(LONG)
            tell(1, 2)
        finally:
            left.set()

    jobs.patience = LONG
    jobs.ask("a", work)
    assert begun.wait(LONG)
    jobs.patience = 0.0
    gate.set()
    assert left.wait(LONG)
    jobs.patience = LONG
    assert jobs.ask("a", lambda tell: done.append("anew"), LONG).done
    assert done == ["anew"]


def test_what_the_work_raises_is_raised_once_and_the_next_job_is_done() -> None:
    jobs = Jobs()

    def breaks(tell: Progress) -> None:
        raise ValueError("no tea")

    with pytest.raises(ValueError, match="no tea"):
        jobs.ask("a", breaks, LONG)
    for name in ("b", "a"):
        assert jobs.ask(name, lambda tell: None, LONG).done


def test_several_steps_are_one_work_and_it_says_how_far_all_of_them_are() -> None:
    told: list[tuple[int, int]] = []
    done: list[str] = []

    def half(tell: Progress) -> None:
        tell(1, 2)
        done.append("half")

    work = in_turn([("first", lambda tell: done.append("first")), ("second", half)])
    work(lambda at, of: told.append((at, of)))
    assert done == ["first", "half"]
    assert told == [(0, 2000), (1000, 2000), (1500, 2000)]


def test_a_job_is_kept_for_who_waits_longer_than_the_patience(gate: threading.Event) -> None:
    jobs, begun = Jobs(patience=0.05), list[int]()

    def work(tell: Progress) -> None:
        begun.append(1)
        for step in range(4):
            gate.wait(0.05)
            tell(step, 4)

    assert jobs.ask("a", work, LONG).done
    assert begun == [1]
