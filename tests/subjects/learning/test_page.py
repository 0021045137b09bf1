"""The page on which attention is learned: short trainings, in the worker that visitors share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from attention.app.controls import works
from attention.subjects.learning import controls as learning_controls
from attention.subjects.learning import scene as scenes
from attention.training import TASKS, TrainingSettings, fit
from attention.training.finished import finished
from attention.training.tasks import race
from attention.training.worker import NoRoomError, Worker
from tests.cases import over
from tests.running import App, opened, sent_as
from tests.subjects.learning.instant import learn_at_once
from tests.subjects.model.shown import words

SHORT = {"task": "repetition", "learn_steps": "100", "learn_width": "16", "learn_seed": "7"}
SETTINGS = TrainingSettings("repetition", learn_steps="100", learn_width="16", learn_seed=7)
SHOWN = "learning_figure"


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """No training of an earlier test is known."""
    yield
    learning_controls.worker.end()
    for kept in (learning_controls._runs, learning_controls._so_far, learning_controls._ended):
        kept.clear()


BETS = {"look-up": "attention", "race": "GRU", "repetition": "in the second"}
BETS |= {"tuning": "20 to 29"}


@over("task", BETS)
def test_each_task_is_bet_on_before_its_numbers_are_told(task):
    asked, run = TASKS[task], finished(task)
    assert asked.choices[asked(run.settings).winning_bet(run)] == BETS[task]
    app, told = opened("learning", task=task), asked(run.settings).after(run).replace("*", "")
    assert told not in app.told
    (other, *_) = [each for each in asked.choices if each != BETS[task]]
    app.choose(f"bet_{task}", other)
    assert {f"Not this time: {BETS[task]}.", told} <= {*app.told}
    assert f"Right: {BETS[task]}." in app.choose(f"bet_{task}", BETS[task]).told
    unknown = opened("learning", task=task, learn_seed=99).choose(f"bet_{task}", other)
    assert f"You bet on “{other}”: let it learn, and see." in unknown.told


def header(app: App) -> dict[str, Any]:
    return app.sent[SHOWN].header


@over("task", [task for task in TASKS if finished(task) and task != "race"])
def test_a_packaged_run_plays_by_itself_with_all_that_its_task_says(task):
    asked, run = TASKS[task](TrainingSettings(task)), finished(task)
    assert words(scenes.task(asked.settings)) == [asked.before.replace("*", "")]
    scene = scenes.finished(run)
    sent = sent_as(scene[SHOWN].content())
    shown = sent.header
    assert (shown["plays"], shown["live"], shown["brief"]) == (True, False, False)
    assert [shown["steps"][0], shown["steps"][-1]] == [0, asked.sizes.steps]
    assert sent.numbers.equal(torch.stack([each.maps for each in run.progress]).flatten())
    maps = shown["layers"] * shown["heads"] * len(shown["tokens"]) * len(shown["keys"])
    assert sent.numbers.numel() == len(shown["steps"]) * maps
    assert words(scene) == [asked.after(run).replace("*", "")]
    assert [figure.key for figure in scenes.finished(run, brief=True)] == [SHOWN]
    live = sent_as(scenes.under_way(run)[SHOWN].content())
    assert (live.header["live"], live.numbers.equal(run.last.maps.flatten())) == (True, True)


def test_a_figure_before_the_first_step_is_that_of_the_first_step_to_come():
    untrained, first = learning_controls.untrained(SETTINGS), next(fit("repetition", SETTINGS))
    assert untrained.last.maps.equal(first.maps)
    begun = sent_as(scenes.under_way(untrained)[SHOWN].content())
    assert (begun.header["live"], begun.header["measured"]) == (True, [])
    assert begun.numbers.equal(first.maps.flatten())


def test_no_scale_stands_beside_its_like_with_the_scale_at_the_same_steps():
    shown = opened("learning", handicap="no scale").sent[SHOWN]
    other, steps = shown.header["other"], shown.header["steps"]
    assert other["names"] == ["without the scale", "with the scale"]
    assert [other["steps"][at] for at in other["maps"]] == steps
    with_scale = learning_controls.beside(TrainingSettings("look-up", "no scale"))
    assert with_scale.settings == TrainingSettings("look-up", learn_width="256")
    maps = torch.stack([each.maps for each in with_scale.progress]).flatten()
    assert shown.numbers[shown.numbers.numel() // 2 :].equal(maps)


def test_another_seed_has_the_usual_curves_thin_and_no_map_of_them():
    other = header(opened("learning", **SHORT))["other"]
    usual = finished("repetition")
    assert (other["names"][1], other["maps"]) == ("usual run", [])
    assert other["losses"][0]["values"] == [each.loss["attention"] for each in usual.progress]


def test_a_tuning_is_offered_where_there_is_memory_for_it_and_its_model(monkeypatch):
    monkeypatch.setattr(learning_controls, "free_memory", lambda: 1_300_000_000)
    words = "It needs 2.1 GB of memory, and this server has 1.3 GB free."
    film = opened("learning", task="tuning")
    assert (film.controls["again"].disabled, film.controls["again"].help) == (True, words)
    begun = opened("learning", task="tuning", learn_seed=7)
    assert begun.controls["learn"].disabled
    assert {words, scenes.NOT_TUNED} <= {*begun.told, *(one.value for one in begun.text)}
    monkeypatch.setattr(learning_controls, "free_memory", lambda: None)
    assert not opened("learning", task="tuning").controls["again"].disabled
    monkeypatch.setattr(learning_controls.sources, "names", lambda: ("none",))
    told = learning_controls.lacking(TrainingSettings("tuning"))
    assert told == "It begins from the model smollm2, which this server does not have."


def test_a_training_is_learned_once_for_all_and_stands_beside_the_usual_one(monkeypatch):
    learn_at_once(monkeypatch)
    app = opened("learning", **SHORT)
    assert scenes.NOT_LEARNED in app.told
    before = header(app)
    app.press("learn")
    shown = header(app)
    assert (before["steps"], before["losses"][0]["values"]) == ([0], [])
    assert [before[name] for name in ("tokens", "last")] == [
        shown[name] for name in ("tokens", "last")
    ]
    assert shown["steps"][-1] == shown["last"] == 100
    assert not shown["plays"]
    (table,) = app.tables
    assert table[""] == ["usual", "width of the vectors 16, steps 100, seed of the training 7"]
    assert table["d_model"] == ["64", "16"]
    again = opened("learning", **SHORT)  # the link reopens it
    assert header(again)["losses"] == shown["losses"]


def test_a_training_that_is_left_is_drawn_as_far_as_it_is_and_goes_on(monkeypatch):
    worker = learn_at_once(monkeypatch)
    worker.goes_on.clear()
    monkeypatch.setattr(works, "patience", lambda *_: 0.0)
    app = opened("learning", task="race", learn_width="8", learn_steps="100", learn_seed="7")
    app.press("learn")
    assert {"pause", "stop"} <= app.controls.keys()
    app.press("pause")
    assert "pause" not in app.controls
    worker.goes_on.set()
    monkeypatch.setattr(works, "patience", lambda *_: 120.0)
    app.press("learn")
    shown = header(app)
    assert (shown["steps"], shown["seeds"], shown["widths"]) == ([0, 50, 100], 1, [8])
    rates, table = app.tables
    assert rates["0.1"].count("–") == len(race.networks()) - 1
    assert {race.curve(name, race.COUNTS[-1]) for name in race.networks()} <= table.keys()


def test_a_worker_that_is_killed_is_told_of_and_the_training_can_begin_anew(monkeypatch):
    begin = Worker.next

    def killed(worker: Worker, settings: TrainingSettings) -> object:
        made = begin(worker, settings)
        if made is not None and made.step > 10 and worker.pid is not None:
            os.kill(worker.pid, signal.SIGKILL)
        return made

    with monkeypatch.context() as patch:
        patch.setattr(Worker, "next", killed)
        app = opened("learning", **SHORT).press("learn")
    assert learning_controls.ENDED in app.notes
    assert header(app)["steps"][-1] < 100
    learn_at_once(monkeypatch)
    app.press("learn")
    assert learning_controls.ENDED not in app.notes
    assert header(app)["steps"][-1] == 100


def test_a_training_that_had_to_make_room_says_so(monkeypatch):
    worker = learn_at_once(monkeypatch)

    def make_room(settings: TrainingSettings) -> None:
        raise NoRoomError

    with monkeypatch.context() as patch:
        patch.setattr(worker, "next", make_room)
        app = opened("learning", **SHORT).press("learn")
    assert learning_controls.NO_ROOM in app.notes
    assert header(app.press("learn"))["steps"][-1] == 100


def test_a_training_that_nobody_asks_for_is_ended(monkeypatch):
    learn_at_once(monkeypatch)
    (step,) = learning_controls.task_of(SETTINGS).steps

    def drop(done: int, of: int, found: object = None, /) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        step.work(drop)
    assert learning_controls.why_ended(SETTINGS) == learning_controls.LEFT
    run = learning_controls.so_far(SETTINGS)
    assert run.last.step == 0
