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


def test_an_answer_is_worked_out_once_and_kept() -> None:
    jobs, calls = Jobs(), []

    def work(tell: Progress) -> str:
        calls.append(1)
        return "tea"

    assert jobs.ask("a", work, LONG).answer == "tea"
    assert jobs.ask("a", work).answer == "tea"
    assert len(calls) == 1


def test_one_job_at_a_time_and_the_others_know_their_place(gate: threading.Event) -> None:
    jobs, begun = Jobs(), threading.Event()

    def work(tell: Progress) -> int:
        tell(2, 7)
        begun.set()
        gate.wait(LONG)
        return 7

    assert jobs.ask("a", work).answer is None
    assert begun.wait(LONG)
    assert jobs.ask("a", work).steps == (2, 7)
    second = jobs.ask("b", lambda tell: 11)
    assert (second.answer, second.ahead) == (None, 1)
    gate.set()
    assert jobs.ask("b", lambda tell: 11, LONG).answer == 11
    assert jobs.ask("a", work).answer == 7


def test_a_job_that_nobody_asks_for_is_dropped_and_begins_anew_when_asked(
    gate: threading.Event,
) -> None:
    jobs, begun, left = Jobs(patience=0.0), threading.Event(), threading.Event()

    def work(tell: Progress) -> str:
        begun.set()
        try:
            gate.wait(LONG)
            tell(1, 2)
        finally:
            left.set()
        return "never"

    jobs.patience = LONG
    jobs.ask("a", work)
    assert begun.wait(LONG)
    jobs.patience = 0.0
    gate.set()
    assert left.wait(LONG)
    jobs.patience = LONG
    assert jobs.ask("a", lambda tell: "anew", LONG).answer == "anew"


def test_what_the_work_raises_is_raised_once_and_the_next_job_is_done() -> None:
    jobs = Jobs()

    def breaks(tell: Progress) -> str:
        raise ValueError("no tea")

    with pytest.raises(ValueError, match="no tea"):
        jobs.ask("a", breaks, LONG)
    assert jobs.ask("b", lambda tell: "milk", LONG).answer == "milk"
    assert jobs.ask("a", lambda tell: "tea", LONG).answer == "tea"


def test_several_steps_are_one_work_and_it_says_how_far_all_of_them_are() -> None:
    told: list[tuple[int, int]] = []
    done: list[str] = []

    def half(tell: Progress) -> None:
        tell(1, 2)
        done.append("half")

    work = in_turn([("first", lambda tell: done.append("first")), ("second", half)])
    assert work(lambda at, of: told.append((at, of))) is True
    assert done == ["first", "half"]
    assert told == [(0, 2000), (1000, 2000), (1500, 2000)]


def test_an_answer_that_is_not_kept_is_worked_out_again() -> None:
    jobs, calls = Jobs(), list[int]()

    def work(tell: Progress) -> bool:
        calls.append(1)
        return True

    assert jobs.ask("a", work, LONG, keep=False).answer is True
    assert jobs.ask("a", work, LONG, keep=False).answer is True
    assert len(calls) == 2
