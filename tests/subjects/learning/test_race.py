"""The memory race on its page: what its figure is sent, and what its sliders change."""

from __future__ import annotations

import torch

from attention.subjects.learning import controls
from attention.subjects.learning import scene as scenes
from attention.subjects.learning.race import LISTS, RaceOfMemory
from attention.training import Progress, Run, TrainingSettings
from attention.training.finished import packaged
from attention.training.settings import USUAL
from attention.training.tasks import ATTENTION, race
from tests.running import Sent, opened, sent_as

KEY = scenes.KEY
WIDTHS = [8, 16, 32]
SHORT = TrainingSettings("race", learn_width="8", learn_steps="100", learn_seed=7)


def run_of(width: str = USUAL, seed: int = 0) -> Run:
    run = packaged(TrainingSettings("race", learn_width=width, learn_seed=seed))
    assert run is not None
    return run


def parts(sent: Sent) -> tuple[torch.Tensor, torch.Tensor]:
    """Shares (3, sizes, moments, runners, counts), and maps (sizes, moments, variants, cells)."""
    shown = sent.header
    sizes, moments = len(shown["widths"]), len(shown["steps"])
    shape = 3, sizes, moments, len(shown["runners"]), len(shown["counts"])
    numbers, many = sent.numbers, torch.Size(shape).numel()
    variants = sum(runner["map"] for runner in shown["runners"])
    return numbers[:many].reshape(shape), numbers[many:].reshape(sizes, moments, variants, -1)


def test_the_page_shows_all_sizes_with_their_three_seeds_and_the_maps_of_one():
    sent = opened("learning", task="race").sent[KEY]
    shown = sent.header
    assert (shown["widths"], shown["width"], shown["pairs"], shown["seeds"]) == (WIDTHS, 16, 20, 3)
    assert (shown["plays"], shown["live"], shown["brief"]) == (True, False, False)
    shares, maps = parts(sent)
    for size, width in enumerate(("8", USUAL, "32")):
        runs = [run_of(width, seed) for seed in race.SEEDS]
        assert maps[size].equal(torch.stack([each.maps for each in runs[0].progress]))
        for runner, name in enumerate(race.networks()):
            for count, pairs in enumerate(race.COUNTS):
                expected = torch.tensor(race.shares(runs, name, pairs))
                shown_here = shares[:, size, -1, runner, count]
                assert torch.allclose(shown_here, expected, equal_nan=True)
                assert expected.isnan().all() == (name == race.EQUAL_STATE and width != "8")


def test_attention_keeps_more_of_a_longer_list_and_no_other_does():
    sent = sent_as(RaceOfMemory(run_of(), key=KEY).content())
    keeps = {runner["name"]: runner["keeps"] for runner in sent.header["runners"]}
    assert keeps[ATTENTION] == [[2 * width * pairs for pairs in race.SHOWN] for width in WIDTHS]
    assert keeps["delta rule"] == [[width**2] * len(LISTS) for width in WIDTHS]
    assert keeps["GRU"] == [[width] * len(LISTS) for width in WIDTHS]
    learns = {runner["name"]: runner["parameters"] for runner in sent.header["runners"]}
    assert learns[ATTENTION][0] == 656
    assert learns[race.EQUAL_STATE] == [15_136, 0, 0]
    by_map = {
        runner["name"]: (runner["map"], runner["shares"]) for runner in sent.header["runners"]
    }
    assert by_map["linear attention"] == by_map[ATTENTION] == (True, True)
    assert (by_map["delta rule"], by_map["GRU"]) == ((True, False), (False, False))


def test_what_the_sliders_are_left_at_stands_in_the_link_and_comes_back():
    app = opened("learning", task="race")

    def left_at() -> tuple[int, int]:
        shown = app.sent[KEY].header
        return shown["width"], shown["pairs"]

    app.tell(KEY, "width", 8).tell(KEY, "pairs", 5)
    assert left_at() == (8, 5)
    again = opened("learning", task="race", learn_width="8", learn_pairs="5").sent[KEY]
    assert app.sent[KEY].header == again.header
    app.tell(KEY, "width", 64).tell(KEY, "pairs", 7)
    assert left_at() == (8, 5)
    app.tell(KEY, "width", 16)
    assert left_at() == (16, 5)


def test_a_race_that_is_begun_here_is_shorter_than_a_packaged_one_and_shown_alone():
    begun = controls.held(TrainingSettings("race", learn_seed=7))
    assert begun.learn_steps == race.Race.begun_steps
    assert controls.held(TrainingSettings("race")).learn_steps == USUAL
    assert controls.with_next_seed(TrainingSettings("race")).learn_seed == len(race.SEEDS)
    usual = sent_as(scenes.unfinished(controls.untrained(TrainingSettings("race")))[KEY].content())
    assert (usual.header["widths"], usual.header["steps"]) == ([16], [0])
    assert parts(usual)[0].isnan().all()
    untrained = controls.untrained(SHORT)
    sent = sent_as(scenes.under_way(untrained)[KEY].content())
    shares, maps = parts(sent)
    assert (sent.header["widths"], sent.header["seeds"], sent.header["steps"]) == ([8], 1, [0])
    assert shares.isnan().all()
    assert maps[0, 0].equal(untrained.last.maps)
    learned = Progress(3, {}, run_of().last.accuracy, {}, untrained.last.maps)
    live = sent_as(scenes.under_way(Run(SHORT, [*untrained.progress, learned]))[KEY].content())
    assert live.header["steps"] == [3]
    assert live.numbers.numel() == sent.numbers.numel()
