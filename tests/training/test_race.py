"""Claims about the memory race: its networks, and the packaged runs over three seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from torch.testing import assert_close

from attention.core import masks
from attention.core.variants import VARIANTS, Retention
from attention.training import TASKS, Run, TrainingSettings
from attention.training.finished import FOLDER, packaged
from attention.training.networks import attended, seeded
from attention.training.tasks import ATTENTION, lookup, race
from tests.cases import over

CLOSE = {"atol": 1e-5, "rtol": 1e-4}
GRUS = (lookup.GRU, race.EQUAL_STATE)
WITH_STATE = [name for name in race.networks() if name not in (ATTENTION, *GRUS)]
MOST = race.COUNTS[-1]


def settings(width: str, seed: int) -> TrainingSettings:
    return TrainingSettings("race", learn_width=width, learn_seed=seed)


def run_of(width: str, seed: int = 0) -> Run:
    run = packaged(settings(width, seed))
    assert run is not None, "python -m attention.training --write --task race"
    return run


def right(width: str, name: str, pairs: int) -> list[float]:
    """Share of right answers by each of the seeds."""
    return [run_of(width, seed).accuracy(race.curve(name, pairs)) for seed in race.SEEDS]


def test_a_variant_races_once_it_is_named_and_a_network_of_it_needs_its_class_alone(monkeypatch):
    class Halved(Retention):
        """Half of it is left after each token."""

        name, title = "halved", "Halved"
        trained_with: ClassVar[Mapping[str, Any]] = {"decay": 0.5}

    asked = race.Race(TrainingSettings("race"))
    before = [*race.networks()]
    monkeypatch.setitem(VARIANTS, "halved", Halved)
    assert [*race.networks()] == before
    monkeypatch.setattr(race, "RACING", (*race.RACING, Halved))
    assert [*race.networks()] == [*before[:-2], "halved", *GRUS]
    learners = asked.learners(torch.Generator().manual_seed(0))
    assert [*learners] == [*race.networks()][:-1]
    layer = learners["halved"].layers.attention[0]
    assert (type(layer), layer.config.decay, layer.heads) == (Halved, 0.5, 1)
    batch = lookup.draw(torch.Generator().manual_seed(0), 3, 5)
    assert asked.answer(learners["halved"], batch).shape == (3, 5, lookup.VALUES)
    asked.loss(learners["halved"], batch).backward()
    assert all(part.grad is not None for part in layer.parameters())


@over("name", race.racing())
def test_a_layer_that_learns_is_the_variant_of_the_library_at_its_published_scale(name):
    variant = race.racing()[name]
    layer = seeded(12, 2, 3, variant)
    x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    for own, mask, over_memory in ((x, masks.causal(5, 5), None), (x, None, memory)):
        quick = attended(layer, own, mask, over_memory)
        whole = layer(own, mask, memory=over_memory)
        assert_close(quick.weights, whole.weights, **CLOSE)
        assert_close(quick.output, whole.output, **CLOSE)


def test_maps_are_those_of_each_variant_over_the_first_pairs_of_one_list():
    asked = race.Race(TrainingSettings("race"))
    learners, example = asked.learners(torch.Generator().manual_seed(0)), asked.example()
    maps = asked.maps(learners, example)
    assert maps.shape == (len(race.racing()), sum(pairs**2 for pairs in race.SHOWN))
    assert [*map(list, example.truth)] == [[at] for at in range(MOST)]
    assert [name[0] for name in example.tokens] == [name[0] for name in example.keys]
    few = race.SHOWN[0]
    parts = tuple(part[:, :few] for part in example.batch.inputs)
    for row, (name, variant) in enumerate(race.racing().items()):
        seen: list[torch.Tensor] = []
        learners[name](*parts, seen=lambda trace, seen=seen: seen.append(trace.weights))
        weights = maps[row, : few**2].reshape(few, few)
        assert_close(weights, seen[0][0, 0].detach())
        summed = torch.allclose(weights.sum(-1), torch.ones(few), atol=1e-5)
        assert summed == variant.weighing.shares


def test_packaged_runs_are_small_and_differ_in_width_and_seed_alone():
    runs = [run_of(width, seed) for width in race.WIDTHS for seed in race.SEEDS]
    assert len({tuple(each.step for each in run.progress) for run in runs}) == 1
    assert {run.last.step for run in runs} == {race.Race.usual.steps}
    assert sum(path.stat().st_size for path in FOLDER.glob("race*")) < 1_000_000
    for run in runs:
        assert [each.settings.learn_seed for each in race.alike(run)] == [*race.SEEDS]
        words = race.Race(run.settings).after(run)
        for name in race.parameters(race.Race(run.settings).sizes.width):
            mean, least, most = (
                f"{100 * each:.1f}" for each in race.shares(race.alike(run), name, MOST)
            )
            assert f"{name} {mean} % ({least} to {most})" in words
    alone = replace(runs[0], settings=replace(runs[0].settings, learn_seed=5))
    assert race.alike(alone) == [alone]


def test_attention_answers_more_than_every_state_and_a_large_one_more_than_a_small_one():
    for width in ("8", "usual"):
        attention = right(width, ATTENTION, MOST)
        for name in WITH_STATE:
            assert max(right(width, name, MOST)) < min(attention), (width, name)
    assert min(min(right(width, ATTENTION, MOST)) for width in race.WIDTHS) > 0.99
    for name in WITH_STATE:  # a larger state leaves more right
        assert max(right("8", name, MOST)) < min(right("32", name, MOST))


def over_all_lists(name: str, seed: int) -> float:
    found = [run_of(race.EQUAL_AT, seed).accuracy(race.curve(name, pairs)) for pairs in race.COUNTS]
    return sum(found) / len(found)


def test_a_network_is_tuned_where_another_rate_is_better_by_more_than_its_seeds_differ():
    asked, rates = race.Race(settings(race.EQUAL_AT, 0)), race.rates_tried()
    assert [*rates] == [*race.networks()]
    for name, tried in rates.items():
        shares = [over_all_lists(name, seed) for seed in race.SEEDS]
        rate, best = asked.rate(name), max(tried.values())
        assert tried[str(rate)] == pytest.approx(shares[0], abs=1e-4), name
        assert best - tried[str(rate)] <= max(shares) - min(shares), name
        better = best - tried[str(asked.usual.rate)] > max(shares) - min(shares)
        assert (rate == 0.03) == better == (name in race.TUNED), name
    assert race.Race(settings("usual", 0)).rate("gated delta rule") == 0.01


def test_a_gru_of_equal_state_can_be_tested_again():
    asked, run = race.Race(settings(race.EQUAL_AT, 0)), run_of(race.EQUAL_AT)
    with torch.no_grad():
        again = asked.score(race.equal_state(), asked.tests()["5 pairs"])
    assert again == pytest.approx(run.accuracy(race.curve(race.EQUAL_STATE, 5)), abs=1e-3)
    numbers = race.parameters(8)
    assert (race.kept(race.EQUAL_STATE, 8, 20), numbers[race.EQUAL_STATE]) == (64, 15_136)
    assert race.EQUAL_STATE not in race.parameters(16)


def test_the_page_of_docs_has_the_shares_of_all_seeds():
    page = (Path(__file__).parents[2] / "docs" / "without_softmax.md").read_text("utf-8")
    for name in race.networks():
        cells = []
        for width in ("8", "usual", "32"):
            found = race.shares(race.alike(run_of(width)), name, MOST)
            mean, least, most = (f"{100 * share:.1f}" for share in found)
            cells.append("–" if mean == "nan" else f"{mean} ({least} to {most})")
        assert f"| {' | '.join([name, *cells])} |" in page
    for name, tried in race.rates_tried().items():
        cells = [f"{100 * tried[str(at)]:.1f}" if str(at) in tried else "–" for at in race.RATES]
        assert f"| {' | '.join([name, *cells])} |" in page
    worst = min(right("8", "gated linear attention", 1))
    assert f"misses even a single pair ({100 * worst:.0f} % right)" in page
    chance = 1 / 2 + 1 / 2 / lookup.VALUES  # of both values, which may be equal
    for width in ("8", "usual"):
        assert max(right(width, lookup.GRU, 2)) < chance + 0.01


@over("loser", [ATTENTION, lookup.GRU])
def test_of_those_that_forget_at_one_length_the_one_with_fewer_right_forgets_first(
    loser, monkeypatch
):
    def shares(runs: Any, name: str, pairs: int) -> tuple[float]:
        return (1.0 if pairs == race.COUNTS[0] else 0.5 - 0.125 * (name == loser),)

    monkeypatch.setattr(race, "shares", shares)
    monkeypatch.setattr(race, "alike", lambda run: run)
    task = TASKS["race"](TrainingSettings("race"))
    assert task.choices[task.winning_bet(None)] == loser
