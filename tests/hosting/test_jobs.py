"""Work of seconds beside the reruns."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from attention.hosting import jobs as module
from attention.hosting.jobs import Job, Jobs, Owner, State, Step, Tell
from attention.hosting.spending import Spending

LONG = 30.0


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Gate that the first job waits for, so that others can stand in line behind it."""
    opened = threading.Event()
    yield opened
    opened.set()


@dataclass
class Place:
    """Jobs on a clock of their own, which goes on as work is done, and the work that was done."""

    now: float = 0.0
    done: list[str] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)

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

    def gated(self, gate: threading.Event) -> Job:
        """A job that has begun once it is asked for, and goes on as the gate is opened."""

        def work(tell: Tell) -> None:
            self.begun.set()
            gate.wait(LONG)

        return Job("gated", [Step("gated", "gated", work)])


def owner(address: str, visit: str = "", place: str = "") -> Owner:
    return Owner(address, visit, place)


def stand_behind(
    gate: threading.Event, place: Place, jobs: Jobs, *asked: tuple[Owner, Job]
) -> list[State]:
    """States of all jobs while another address has the turn; then all are waited for."""
    jobs.ask(owner("gate"), place.gated(gate))
    assert place.begun.wait(LONG)
    states = [jobs.ask(*each) for each in asked]
    gate.set()
    for each in asked:
        assert jobs.ask(*each, LONG).done
    return states


def test_the_address_that_had_least_of_the_processor_has_the_next_turn(
    gate: threading.Event,
) -> None:
    place = Place()
    many = [(owner("A", name), place.job(name, 3)) for name in ("a", "b")]
    stand_behind(gate, place, place.jobs(), *many, (owner("B"), place.job("c", 2)))
    assert place.done == ["a1", "c1", "a2", "c2", "a3", "b1", "b2", "b3"]


def test_quick_jobs_of_an_address_take_turns_with_its_long_ones(gate: threading.Event) -> None:
    place = Place()
    long, quick = (owner("A", "1"), place.job("a", 3)), (owner("A", "2"), place.job("b", 1, True))
    stand_behind(gate, place, place.jobs(), long, (owner("A", "3"), place.job("c")), quick)
    assert place.done == ["a1", "b1", "a2", "a3", "c1"]


def test_jobs_of_one_address_know_how_many_come_first(gate: threading.Event) -> None:
    place = Place()
    asked = [(owner(*where), place.job(where[1])) for where in ("Aa", "Ab", "Bc", "Ad")]
    states = stand_behind(gate, place, place.jobs(), *asked)
    assert [state.ahead for state in states] == [0, 1, 0, 2]


def test_a_step_that_several_ask_for_is_done_once_and_all_hear_of_it(
    gate: threading.Event,
) -> None:
    place = Place()
    whole = Job("both", [*place.job("a").steps, *place.job("b").steps])
    stand_behind(gate, place, place.jobs(), (owner("A"), place.job("a")), (owner("B"), whole))
    assert place.done == ["a1", "b1"]


def test_another_job_at_the_same_place_of_a_visit_replaces_the_first_unless_others_wait_for_it(
    gate: threading.Event,
) -> None:
    place = Place()
    jobs = place.jobs()
    here = owner("A", "visit", "place")
    jobs.ask(owner("gate"), place.gated(gate))
    assert place.begun.wait(LONG)
    for name in ("a", "b", "c"):
        jobs.ask(here, place.job(name))
    jobs.ask(owner("B"), place.job("a"))
    gate.set()
    assert jobs.ask(here, place.job("c"), LONG).done
    assert jobs.ask(owner("B"), place.job("a"), LONG).done
    assert sorted(place.done) == ["a1", "c1"]


def test_a_job_says_how_far_it_is_and_what_it_has_found_so_far(gate: threading.Event) -> None:
    jobs, begun = Jobs(least=0.0), threading.Event()

    def half(tell: Tell) -> None:
        tell(1, 2, "a half")
        begun.set()
        gate.wait(LONG)

    job = Job("a", [Step("first", "first", lambda tell: None), Step("second", "second", half)])
    jobs.ask(owner("A"), job)
    assert begun.wait(LONG)
    state = jobs.ask(owner("A"), job)
    assert (state.done, state.title, state.parts) == (False, "second", (1500, 2000))
    assert state.found == "a half"


def left_alone(place: Place, jobs: Jobs) -> Job:
    """A job of three parts that nobody has asked for since its first part, and stands still."""

    def first_part(tell: Tell) -> None:
        place.now += 1 + jobs.patience
        place.done.append("a1")
        tell(1, 3)
        place.work("then", 2)(tell)

    job = Job("a", [Step("a", "a", first_part)])
    jobs.ask(owner("A"), job)
    assert jobs.ask(owner("B"), place.job("b"), LONG).done  # its turn comes after that part
    return job


def test_a_job_goes_on_where_it_was_when_it_is_asked_for_again() -> None:
    place = Place()
    jobs = place.jobs()
    job = left_alone(place, jobs)
    assert place.done == ["a1", "b1"]
    assert jobs.ask(owner("A"), job, LONG).done
    assert place.done == ["a1", "b1", "then1", "then2"]


def test_a_job_that_nobody_asks_for_in_a_long_time_begins_anew() -> None:
    place = Place()
    jobs = place.jobs()
    job = left_alone(place, jobs)
    place.now += jobs.kept + 1
    assert jobs.ask(owner("B"), place.job("c"), LONG).done
    assert jobs.ask(owner("A"), job, LONG).done
    assert place.done == ["a1", "b1", "c1", "a1", "then1", "then2"]


def test_where_too_many_have_begun_that_are_asked_for_another_waits(
    gate: threading.Event,
) -> None:
    place = Place()
    asked = [(owner(name), place.job(name.lower(), 2)) for name in "ABC"]
    stand_behind(gate, place, place.jobs(most=2), *asked)
    assert place.done == ["a1", "b1", "a2", "b2", "c1", "c2"]


def test_who_leaves_has_no_turn(gate: threading.Event) -> None:
    place = Place()
    jobs = place.jobs()
    jobs.ask(owner("gate"), place.gated(gate))
    assert place.begun.wait(LONG)
    jobs.ask(owner("A"), place.job("a"))
    jobs.leave(owner("A"))
    gate.set()
    assert jobs.ask(owner("B"), place.job("b"), LONG).done
    assert place.done == ["b1"]


def test_what_the_work_raises_is_raised_once_and_the_next_job_is_done() -> None:
    place = Place()
    jobs = place.jobs()

    def breaks(tell: Tell) -> None:
        raise ValueError("no tea")

    with pytest.raises(ValueError, match="no tea"):
        jobs.ask(owner("A"), Job("a", [Step("a", "a", breaks)]), LONG)
    for name in ("b", "a"):
        assert jobs.ask(owner("A"), place.job(name), LONG).done


def test_what_was_taken_counts_half_after_a_while() -> None:
    spending = Spending(half=30.0)
    spending.take("A", 8.0, now=100.0)
    spending.take("A", 3.0, now=130.0)
    assert [spending.of(who, 190.0) for who in "AB"] == [7.0 / 4, 0.0]


def test_the_end_waits_until_the_step_under_way_has_stopped(gate: threading.Event) -> None:
    place = Place()
    jobs = place.jobs()

    def work(tell: Tell) -> None:
        place.begun.set()
        gate.wait(LONG)
        place.now += 1
        tell(1, 2)
        place.done.append("too much")

    jobs.ask(owner("A"), Job("a", [Step("a", "a", work)]))
    assert place.begun.wait(LONG)
    ending = threading.Thread(target=jobs.end)
    ending.start()
    gate.set()
    ending.join(LONG)
    assert not ending.is_alive()
    assert place.done == []


def test_work_gives_way_after_each_turn_while_reruns_wait_and_goes_on_though_they_always_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LOOK", 0.001)
    monkeypatch.setattr(module, "GIVE_WAY", 0.02)
    place = Place()
    seen: list[int] = []  # parts done at each look

    def crowded(address: str) -> bool:
        assert address == "a"
        seen.append(len(place.done))
        return True

    jobs = place.jobs(crowded=crowded)
    assert jobs.ask(owner("a"), place.job("x", 3), LONG).done
    assert {*seen} == {1, 2, 3}
    assert min(map(seen.count, (1, 2, 3))) > 1


def test_while_the_work_of_one_address_rests_that_of_another_goes_on(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GIVE_WAY", LONG)
    place = Place()
    jobs = place.jobs(crowded=lambda who: who == "rests" and "w3" not in place.done)
    resting, other = owner("rests"), owner("works")
    stand_behind(gate, place, jobs, (resting, place.job("r", 2)), (other, place.job("w", 3)))
    assert place.done.index("w3") < place.done.index("r2")


def test_one_that_nobody_asks_for_makes_room_where_too_many_have_begun() -> None:
    place = Place()
    jobs = place.jobs(most=1)
    job = left_alone(place, jobs)
    assert jobs.ask(owner("A"), job, LONG).done
    assert place.done == ["a1", "b1", "a1", "then1", "then2"]


def test_work_that_tells_often_keeps_its_turn_for_a_while(gate: threading.Event) -> None:
    place = Place()
    many = (owner("A"), place.job("a", 3)), (owner("B"), place.job("b", 3))
    stand_behind(gate, place, place.jobs(least=2.0), *many)
    assert place.done == ["a1", "a2", "b1", "b2", "a3", "b3"]
