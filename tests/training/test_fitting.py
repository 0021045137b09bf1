"""Claims about trainings, shortened to some seconds: `python -m attention.training` learns all."""

from __future__ import annotations

import io
import itertools
import json
import math
from collections.abc import Callable
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from attention.training import TASKS, Progress, Run, TrainingSettings, fit, fitting
from attention.training import worker as worker_module
from attention.training.finished import finished, packaged, path_of
from attention.training.networks import count
from attention.training.run import from_bytes, read, to_bytes, write
from attention.training.tasks import ATTENTION, Task, lookup, repetition
from attention.training.worker import LENGTH, NoRoomError, Worker, serve
from tests.cases import over
from tests.trained import packaged as models

CLOSE = {"atol": 1e-5, "rtol": 1e-4}
SHORT = {"learn_steps": "100", "learn_width": "16"}
every_task = pytest.mark.parametrize("task", TASKS)


def first(settings: TrainingSettings, steps: int = 2) -> list[Progress]:
    """States of a training of so few steps, before and after these."""
    return [*fit(settings.task, settings, steps=steps)]


def numbers(progress: list[Progress]) -> list[object]:
    return [[each.step, each.loss, each.accuracy, each.maps.tolist()] for each in progress]


def begun_from(name: str) -> Task:
    """A task with its usual settings; the model that it begins from must be installed."""
    task = TASKS[name](TrainingSettings(name))
    if task.model:
        models.packaged(task.model)
    return task


class Looking(nn.Module):
    """A network that looks as a function of the symbols says, and answers nothing."""

    def __init__(self, weights: Callable[[Tensor], Tensor], layers: int = 1, size: int = 1) -> None:
        super().__init__()
        self.weights, self.layers, self.size = weights, layers, size

    def forward(self, symbols: Tensor, seen: Any = None, **more: Any) -> Tensor:
        for _ in range(self.layers if seen else 0):
            seen(SimpleNamespace(weights=self.weights(symbols)))
        return torch.zeros(*symbols.shape, self.size)


def test_a_seed_gives_one_curve_to_the_bit_and_another_or_a_handicap_gives_another_one():
    """Whatever is drawn elsewhere."""
    task, state = "repetition", torch.random.get_rng_state()
    one = first(TrainingSettings(task, **SHORT))
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.rand(7)
    assert numbers(first(TrainingSettings(task, **SHORT))) == numbers(one)
    others = [TrainingSettings(task, handicap, **SHORT) for handicap in TASKS[task].handicaps]
    for other in (TrainingSettings(task, learn_seed=5, **SHORT), *others):
        assert numbers(first(other)) != numbers(one)


def test_a_loss_is_the_mean_over_the_steps_since_the_last_one_was_told(monkeypatch):
    losses = itertools.count(1.0)  # of a step its number
    monkeypatch.setattr(fitting, "_step", lambda *_: next(losses))
    settings = TrainingSettings("look-up", **SHORT)
    told = [*fit("look-up", settings, steps=23, only=(ATTENTION,))]
    assert len(told) > 2
    for before, after in itertools.pairwise(told):
        assert after.loss[ATTENTION] == (before.step + 1 + after.step) / 2


@every_task
def test_maps_are_weights_over_a_named_example(task):
    if TASKS[task].effects:  # of heads, in their place: see test_tuning
        return
    asked = TASKS[task](TrainingSettings(task, **SHORT))
    begun = next(fit(task, asked.settings))
    if task == "race":  # its maps are those of many variants, one network has another width
        assert set(begun.accuracy) < set(asked.curves)
        return
    assert set(begun.accuracy) == set(asked.curves)
    assert asked.handicaps
    example, (layers, heads, queries, keys) = asked.example(), begun.maps.shape
    assert (layers, heads) == (asked.sizes.layers, asked.sizes.heads)
    assert (queries, keys) == (len(example.tokens), len(example.keys))
    assert_close(begun.maps.sum(-1), torch.ones(layers, heads, queries), **CLOSE)
    assert len(example.truth) == queries
    assert {key for looked in example.truth for key in looked} <= {*range(keys)}


@every_task
def test_no_sequence_of_a_test_or_the_example_is_one_to_learn_from(task):
    asked = begun_from(task)
    kept = [row.tobytes() for batch in asked.tests().values() for row in batch.inputs[0].numpy()]
    kept += [row.tobytes() for row in asked.example().batch.inputs[0].numpy()]
    generator = torch.Generator().manual_seed(100)
    learned = {
        row.tobytes() for _ in range(20) for row in asked.batch(generator, 64).inputs[0].numpy()
    }
    shared = learned.intersection(kept)
    assert len(learned) > 64
    few = {row for row in shared if len(row) <= 3 * 8}  # keys of short lists come again
    assert not shared - (few if task in ("look-up", "race") else set())


@every_task
def test_a_packaged_run_is_that_of_the_usual_settings_and_reaches_its_targets(task):
    run = finished(task)
    assert (run is None) <= (not TASKS[task].targets), f"python -m attention.training --task {task}"
    if run is None:
        return
    assert run.settings == TrainingSettings(task)
    asked = begun_from(task)
    assert [run.progress[0].step, run.last.step] == [0, asked.sizes.steps]
    for target in asked.targets:
        assert target.least <= run.accuracy(target.curve)
    assert f"{100 * run.accuracy(asked.curves[0]):.1f} %" in asked.after(run)
    begun = next(fit(task, run.settings))
    assert_close(begun.maps, run.progress[0].maps, rtol=1e-3, atol=1e-3)


def test_what_is_learned_without_the_scale_differs_from_a_packaged_run_in_the_scale_alone():
    for more in TASKS["look-up"].packaged:
        run = packaged(TrainingSettings("look-up", **more))
        assert run is not None, "python -m attention.training --task look-up --write"
        begun = next(fit("look-up", run.settings))
        assert_close(begun.maps, run.progress[0].maps, rtol=0, atol=1e-3)
    harder, whole = (
        packaged(TrainingSettings("look-up", **more)) for more in TASKS["look-up"].packaged
    )
    assert harder is not None
    one, other = (TASKS["look-up"](run.settings).sizes for run in (harder, whole))
    assert replace(one, scaled=True) == other
    curve = "attention, longer lists"
    early = [
        next(p for p in run.progress if p.step >= 99).accuracy[curve] for run in (harder, whole)
    ]
    assert early[1] == whole.accuracy(curve) == 1
    assert early[0] < 0.9
    told = TASKS["look-up"](harder.settings).after(harder)
    assert f"{100 * harder.accuracy(curve):.1f} % are right" in told
    assert (
        path_of(TrainingSettings("look-up", "no scale", learn_seed=5)).stem == "look-up-no-scale-5"
    )


def test_a_short_training_learns_to_look_up(monkeypatch):
    learners = lookup.LookUp.learners

    def attention_alone(self: lookup.LookUp, generator: torch.Generator) -> dict[str, nn.Module]:
        made = learners(self, generator)
        sizes = {name: count(network) for name, network in made.items()}
        assert all(0.9 < size / sizes[ATTENTION] <= 1 for size in sizes.values())
        return {ATTENTION: made[ATTENTION]}

    monkeypatch.setattr(lookup.LookUp, "learners", attention_alone)
    *_, last = fit("look-up", TrainingSettings("look-up", learn_steps="100"))
    assert last.accuracy["attention, longer lists"] > 0.95


def test_a_pattern_stands_twice_and_its_symbols_nowhere_else():
    batch, first_at, second_at = repetition.draw(torch.Generator().manual_seed(7), 50)
    whole = torch.cat([batch.inputs[0], batch.answers[:, -1:]], 1)
    distances = set()
    for row, counted, start, again in zip(
        whole.tolist(), batch.counted, first_at.tolist(), second_at.tolist(), strict=True
    ):
        pattern = row[start : start + repetition.PATTERN]
        assert len({*pattern}) == repetition.PATTERN
        assert row[again : again + repetition.PATTERN] == pattern
        assert sum(symbol in pattern for symbol in row) == 2 * repetition.PATTERN
        assert counted.nonzero().flatten().tolist() == list(range(again, again + 7))
        distances.add(again - start)
    assert len(distances) > 5


def test_the_induction_measure_is_one_for_a_head_that_looks_where_the_symbol_was():
    def behind(symbols: Tensor) -> Tensor:
        same = symbols[:, :, None] == symbols[:, None, :]
        weights = same.roll(1, -1).tril().float()
        weights[..., 0] = 1e-9
        return (weights / weights.sum(-1, keepdim=True))[:, None]

    asked = repetition.Repetition(TrainingSettings("repetition"))
    measured = asked.measures(Looking(behind))[repetition.INDUCTION]
    assert measured.shape == (1, 1)
    assert float(measured) > 0.99


def test_a_mask_taken_away_while_learning_is_there_in_the_test():
    asked = TASKS["repetition"](TrainingSettings("repetition", "no mask", **SHORT))
    network = asked.learners(torch.Generator().manual_seed(0))[ATTENTION]
    (batch,) = asked.tests().values()
    later = batch.inputs[0].clone()
    later[:, -1] = (later[:, -1] + 1) % 48
    other = repetition.Batch((later,), batch.answers, batch.counted)
    for learning in (False, True):
        one, two = (asked.answer(network, each, learning=learning) for each in (batch, other))
        assert torch.equal(one[:, 0], two[:, 0]) != learning


REFUSED: dict[str, dict[str, Any]] = {
    "task must be one of .*look-up.*, got .chess.": {"task": "chess"},
    "learn_width must be one of usual, 8, 16": {"learn_width": "4096"},
    "learn_steps must be one of": {"learn_steps": "1e9"},
    "learn_seed must lie between 0 and 9999": {"learn_seed": 10_000},
    "handicap must be one of none": {"handicap": "no memory"},
}


@over("problem", REFUSED)
def test_settings_beyond_what_is_offered_or_of_another_task_are_refused(problem):
    with pytest.raises(ValueError, match=problem):
        TrainingSettings(**REFUSED[problem])
    with pytest.raises(ValueError, match="must be of task 'look-up', got 'repetition'"):
        next(fit("look-up", TrainingSettings("repetition")))


def test_steps_and_rate_are_free_in_a_notebook_and_as_the_page_offers_them_elsewhere():
    task, settings = "repetition", TrainingSettings("repetition", **SHORT)
    assert [each.step for each in fit(task, settings, steps=7)][-1] == 7
    slower = TrainingSettings(task, learn_rate="0.003", **SHORT)
    offered = numbers([*fit(task, slower, steps=7)])
    assert numbers([*fit(task, settings, steps=7, rate=0.003)]) == offered
    assert numbers([*fit(task, settings, steps=7, rate=0.0037)]) != offered
    for wrong in ({"steps": 0}, {"rate": 0.0}, {"rate": -1.0}, {"rate": math.inf}):
        with pytest.raises(ValueError, match="steps and rate must be above 0, got"):
            next(fit(task, settings, **wrong))
    with pytest.raises(ValueError, match=r"steps must be a whole number, got '300' \(str\)"):
        next(fit(task, settings, steps="300"))


def test_a_run_comes_back_from_its_file(tmp_path):
    settings = TrainingSettings("repetition", learn_seed=7, **SHORT)
    progress = first(settings)
    again, told = from_bytes(to_bytes(progress[1])), progress[1]
    assert (again.step, again.loss, again.accuracy) == (told.step, told.loss, told.accuracy)
    assert_close(again.maps, told.maps, atol=1e-3, rtol=0)

    write(Run(settings, progress), tmp_path / "run.safetensors", command="by hand")
    kept = read(tmp_path / "run.safetensors")
    assert kept.settings == settings
    assert [each.step for each in kept.progress] == [each.step for each in progress]
    assert kept.last.measures.keys() == {repetition.INDUCTION}


def test_a_worker_trains_as_fit_does_two_at_a_time_and_ends_with_the_last(monkeypatch):
    looks, start = itertools.count(), worker_module._started  # a second from one to the next
    monkeypatch.setattr(worker_module, "time", SimpleNamespace(monotonic=lambda: next(looks)))

    def slowly_started() -> object:
        assert [*itertools.islice(looks, 100)]
        return start()

    monkeypatch.setattr(worker_module, "_started", slowly_started)
    worker = Worker()
    one, two = (TrainingSettings("repetition", learn_seed=seed, **SHORT) for seed in (0, 1))
    made = fit("repetition", one)
    told = [worker.next(settings) for settings in (one, two, one, two)]
    assert worker.seconds == len(told)  # nobody pays for its start
    first_of_one = [each for each in (told[0], told[2]) if each is not None]
    assert [each.loss for each in first_of_one] == [
        each.loss for each, _ in zip(made, "12", strict=False)
    ]
    worker.drop(one)
    assert worker.pid is not None
    worker.drop(two)
    assert worker.pid is None


def steps_told(*asked: TrainingSettings) -> list[int | None]:
    """Steps that trainings have made as a worker is asked for their next progress, None: ended."""
    lines = [json.dumps(["next", asdict(settings)]).encode() + b"\n" for settings in asked]
    answers, told = io.BytesIO(), []
    serve(io.BytesIO(b"".join(lines)), answers)
    answers.seek(0)
    while length := answers.read(LENGTH):
        data = answers.read(int.from_bytes(length, "little"))
        told.append(None if data == worker_module.ENDED else from_bytes(data).step)
    return told


def test_each_training_goes_on_where_it_was_but_for_the_largest_where_memory_is_short(monkeypatch):
    one, like = (TrainingSettings("repetition", learn_seed=seed, **SHORT) for seed in (0, 1))
    large = TrainingSettings("repetition", learn_width="32", learn_steps="100")
    asked = (one, large, like, one, large, like, large)
    assert steps_told(*asked) == [0, 0, 0, 4, 4, 4, 9]
    monkeypatch.setattr(worker_module, "MOST_BYTES", 1)
    assert steps_told(*asked) == [0, 0, 0, 4, None, None, 0]
    worker = Worker()
    monkeypatch.setattr(worker, "_ask", lambda *_: worker_module.ENDED)
    with pytest.raises(NoRoomError):
        worker.next(large)
