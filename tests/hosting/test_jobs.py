"""Work of seconds beside the reruns."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from attention.hosting import jobs as module
from attention.hosting.fair_share import FairShare
from attention.hosting.jobs import Job, Jobs, Owner, State, Step, Tell

LONG = 30.0


def owner(address: str, visit: str = "", place: str = "") -> Owner:
    return Owner(address, visit, place)


class Place:
    """Jobs on a clock of their own, which goes on as work is done, and the work that was done.

    gate: the first job waits for it, so that others can stand in line behind it.
    """

    def __init__(self) -> None:
        self.now, self.done = 0.0, list[str]()
        self.gate, self.begun = threading.Event(), threading.Event()

    def jobs(self, **settings: Any) -> Jobs:
        return Jobs(clock=lambda: self.now, cpu=lambda: self.now, **settings)

    def work(self, name: str, parts: int) -> Callable[[Tell], None]:
        """Work of so many parts, of a second each."""

        def work(tell: Tell) -> None:
            for part in range(1, parts + 1):
                self.now += 1
                self.done.append(f"{name}{part}")
                tell(part, parts, f"{name} up to {part}")

        return work

    def job(self, name: str, parts: int = 1, quick: bool = False) -> Job:
        return Job(name, [Step(name, name, self.work(name, parts))], quick)

    def wait(self) -> None:
        """Work that has begun, and goes on as the gate is opened."""
        self.begun.set()
        self.gate.wait(LONG)

    def take_the_turn(self, jobs: Jobs) -> None:
        """Another address has the turn, until the gate is opened."""
        jobs.ask(owner("gate"), Job("gated", [Step("gated", "gated", lambda tell: self.wait())]))
        assert self.begun.wait(LONG)

    def stand_behind(self, jobs: Jobs, *asked: tuple[Owner, Job]) -> list[State]:
        """States of all jobs while another address has the turn; then all are waited for."""
        self.take_the_turn(jobs)
        states = [jobs.ask(*each) for each in asked]
        self.gate.set()
        for each in asked:
            assert jobs.ask(*each, LONG).done
        return states

    def left_alone(self, jobs: Jobs) -> Job:
        """A job of three parts that nobody has asked for since its first part, and stands still."""

        def first_part(tell: Tell) -> None:
            self.now += 1 + jobs.patience
            self.done.append("a1")
            tell(1, 3)
            self.work("then", 2)(tell)

        job = Job("a", [Step("a", "a", first_part)])
        jobs.ask(owner("A"), job)
        assert jobs.ask(owner("B"), self.job("b"), LONG).done  # its turn comes after that part
        assert self.done == ["a1", "b1"]
        return job


@pytest.fixture
def place() -> Iterator[Place]:
    place = Place()
    yield place
    place.gate.set()


@pytest.mark.parametrize(
    ("settings", "asked", "done"),
    [
        # the address that had least of the processor has the next turn
        ({}, "Aa3 Ab3 Bc2", "a1 c1 a2 c2 a3 b1 b2 b3"),
        # quick jobs of an address take turns with its long ones
        ({}, "Aa3 Ac1 Ab1q", "a1 b1 a2 a3 c1"),
        # where too many have begun that are asked for, another waits
        ({"most": 2}, "Aa2 Bb2 Cc2", "a1 b1 a2 b2 c1 c2"),
        # work that tells often keeps its turn for a while
        ({"least": 2.0}, "Aa3 Bb3", "a1 a2 b1 b2 a3 b3"),
    ],
)
def test_turns_go_to_the_address_that_had_least(place, settings, asked, done):
    """asked: each an address, the name of a job, the number of its parts, q for a quick one."""
    jobs = [
        (owner(address, name), place.job(name, int(parts), bool(quick)))
        for address, name, parts, *quick in asked.split()
    ]
    place.stand_behind(place.jobs(**settings), *jobs)
    assert place.done == done.split()


def test_a_job_knows_how_many_of_its_address_come_first_and_how_many_others_have_turns(place):
    asked = [(owner(who, visit), place.job(name)) for who, visit, name in ("A1a", "A2a", "A3b")]
    asked += [(owner(who, visit), place.job(name)) for who, visit, name in ("B1c", "A4d", "C1d")]
    told = place.stand_behind(place.jobs(), *asked, asked[4])
    ahead, others = ([getattr(each, name) for each in told] for name in ("ahead", "others"))
    # whoever asks for the same step is not before it, and it comes when the first of them has it
    assert ahead == [0, 0, 1, 0, 2, 0, 0]
    assert others == [1, 1, 2, 2, 3, 3, 3]  # beside that of the gate


def test_a_step_that_several_ask_for_is_done_once_and_all_hear_of_it(place):
    whole = Job("both", [*place.job("a").steps, *place.job("b").steps])
    place.stand_behind(place.jobs(), (owner("A"), place.job("a")), (owner("B"), whole))
    assert place.done == ["a1", "b1"]


def test_another_job_at_the_same_place_of_a_visit_replaces_the_first_unless_others_wait_for_it(
    place,
):
    jobs, here = place.jobs(), owner("A", "visit", "place")
    place.take_the_turn(jobs)
    for name in ("a", "b", "c"):
        jobs.ask(here, place.job(name))
    jobs.ask(owner("B"), place.job("a"))
    place.gate.set()
    for who, name in ((here, "c"), (owner("B"), "a")):
        assert jobs.ask(who, place.job(name), LONG).done
    assert sorted(place.done) == ["a1", "c1"]


def test_who_leaves_has_no_turn(place):
    jobs = place.jobs()
    place.take_the_turn(jobs)
    jobs.ask(owner("A"), place.job("a"))
    jobs.leave(owner("A"))
    place.gate.set()
    assert jobs.ask(owner("B"), place.job("b"), LONG).done
    assert place.done == ["b1"]


def test_a_job_says_how_far_it_is_and_what_it_has_found_so_far(place):
    jobs = Jobs(least=0.0)

    def half(tell: Tell) -> None:
        tell(1, 2, "a half")
        place.wait()

    job = Job("a", [Step("first", "first", lambda tell: None), Step("second", "second", half)])
    jobs.ask(owner("A"), job)
    assert place.begun.wait(LONG)
    state = jobs.ask(owner("A"), job)
    told = state.done, state.title, state.parts, state.found
    assert told == (False, "second", (1500, 2000), "a half")


@pytest.mark.parametrize(
    ("settings", "lapses", "done"),
    [
        # it goes on where it was when it is asked for again
        ({}, False, "then1 then2"),
        # after a long time it begins anew
        ({}, True, "c1 a1 then1 then2"),
        # it makes room where too many have begun
        ({"most": 1}, False, "a1 then1 then2"),
    ],
)
def test_a_job_that_nobody_asks_for_stays_as_it_is_for_a_while(place, settings, lapses, done):
    jobs = place.jobs(**settings)
    job = place.left_alone(jobs)
    if lapses:
        place.now += jobs.kept + 1
        assert jobs.ask(owner("B"), place.job("c"), LONG).done
    assert jobs.ask(owner("A"), job, LONG).done
    assert place.done[2:] == done.split()


def test_what_the_work_raises_is_raised_once_and_the_next_job_is_done(place):
    jobs = place.jobs()
    with pytest.raises(ValueError, match="no tea"):
        jobs.ask(owner("A"), Job("a", [Step("a", "a", lambda tell: int("no tea"))]), LONG)
    for name in ("b", "a"):
        assert jobs.ask(owner("A"), place.job(name), LONG).done


def test_what_was_taken_counts_half_after_a_while():
    fair_share = FairShare(half_life=30.0)
    fair_share.charge("A", 8.0, now=100.0)
    fair_share.charge("A", 3.0, now=130.0)
    assert [fair_share.used_by(who, 190.0) for who in "AB"] == [7.0 / 4, 0.0]


def test_the_end_waits_until_the_step_under_way_has_stopped(place):
    jobs = place.jobs()

    def work(tell: Tell) -> None:
        place.wait()
        place.now += 1
        tell(1, 2)
        place.done.append("too much")

    jobs.ask(owner("A"), Job("a", [Step("a", "a", work)]))
    assert place.begun.wait(LONG)
    ending = threading.Thread(target=jobs.end)
    ending.start()
    place.gate.set()
    ending.join(LONG)
    assert not ending.is_alive()
    assert place.done == []


def test_work_gives_way_after_each_turn_while_reruns_wait_and_goes_on_though_they_always_do(
    place, monkeypatch
):
    looks = itertools.count()  # between two a second goes by, however long they take
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: float(next(looks))))
    monkeypatch.setattr(module, "LOOK", 0.001)
    monkeypatch.setattr(module, "GIVE_WAY", 4.0)
    seen: list[tuple[str, int]] = []  # whose, and parts done, at each look
    jobs = place.jobs(crowded=lambda address: not seen.append((address, len(place.done))))
    assert jobs.ask(owner("a"), place.job("x", 3), LONG).done
    assert {*seen} == {("a", 1), ("a", 2), ("a", 3)}
    assert min(map(seen.count, {*seen})) > 1


def test_while_the_work_of_one_address_rests_that_of_another_goes_on(place, monkeypatch):
    monkeypatch.setattr(module, "GIVE_WAY", LONG)
    jobs = place.jobs(crowded=lambda who: who == "rests" and "w3" not in place.done)
    resting, other = (owner("rests"), place.job("r", 2)), (owner("works"), place.job("w", 3))
    place.stand_behind(jobs, resting, other)
    assert place.done.index("w3") < place.done.index("r2")
