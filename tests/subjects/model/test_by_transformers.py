"""A folder whose layout is not known here, in the window and on other pages."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.testing import assert_close

from attention.app.cached import runs
from attention.app.state.openings import FOLDS, HOW
from attention.changing.answers import answer_at
from attention.changing.effects import effects
from attention.subjects.model import numbers, options, window
from attention.subjects.model.figures import ModelWindow
from attention.subjects.model.options import LOOKS, LOST, SAYS, ZERO
from attention.trained import sources
from attention.trained.hooked import ByTransformers
from attention.trained.sources import Own, OwnModels
from tests.cases import over
from tests.running import opened, viewed
from tests.subjects.model.shown import effects_of
from tests.trained.built import offer
from tests.trained.packaged import packaged
from tests.trained.run_by_transformers import by_hook, write

SENTENCE, NAME = "the cat sat on the mat and looked", "neox"
UNKNOWN = (
    "This model is run by transformers, and its layout is not known here: how its vectors become "
    "queries, keys and values, and what its norms do, cannot be shown."
)


def offered(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, **more: object) -> None:
    """Have a folder of a family offered, as an owner names it."""
    write(folder, name, **more)
    own = OwnModels()
    found = sources.find_own(str(folder), ())
    own.models = {found.about.name: found}
    monkeypatch.setattr(sources, "_OWN", own)
    assert isinstance(found, Own)


@pytest.fixture
def neox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ByTransformers:
    """A decoder of a family without a layout, in the menus by its folder's name."""
    offered(tmp_path / NAME, "gpt_neox", monkeypatch, max_position_embeddings=700)
    model = sources.load(NAME)
    assert isinstance(model, ByTransformers)
    return model


def test_its_answer_all_heads_and_lenses_are_in_the_window(neox):
    app = opened("model", model=NAME, s=SENTENCE, off_to=ZERO)
    app = app.until(lambda: not effects_of(app).isnan().any())
    header = app.sent["model_window"].header
    assert [layer["name"] for layer in header["layers"]] == ["layer 0", "layer 1", "layer 2"]
    assert [name for name, _ in header["lenses"]] == [LOOKS, LOST, SAYS]
    run = neox.run(SENTENCE)
    metric, piece = answer_at(neox, run, -1)
    assert piece is not None
    last = effects(neox, run, metric, layers=[2], to="zero").change[0]
    assert_close(effects_of(app)[-4:], last, atol=1e-5, rtol=1e-3)
    (trained,) = header["bars"]
    assert trained["shares"][0] == pytest.approx(float(metric(run.hidden)), rel=1e-4)


@pytest.mark.parametrize("tab", options.TABS)
def test_each_tab_shows_what_it_can_and_says_what_needs_a_known_layout(neox, tab):
    app = opened("model", model=NAME, s=SENTENCE, more=tab)
    assert not app.exception
    split = "queries, keys and values, and what its norms do, cannot be shown"
    assert any(split in each for each in app.notes) == (tab == options.REASONS)
    missing = any(each.startswith("Not here: ALTI. ") for each in app.notes)
    assert missing == (tab == options.ASSOCIATIONS)


@over("fold", FOLDS)
def test_of_play_the_stages_alone_need_a_layout(neox, fold):
    app = opened("explore", model=NAME, s=SENTENCE, fold=fold)
    assert (UNKNOWN in app.notes) == (fold == HOW)


def test_norms_on_the_path_of_an_encoder_are_not_guessed(tmp_path, monkeypatch):
    offered(tmp_path / "electra", "electra", monkeypatch)
    app = opened("model", model="electra", s=SENTENCE, query=2, off_to=ZERO)
    header = app.sent["model_window"].header
    assert [name for name, _ in header["lenses"]] == [LOOKS, LOST]
    app = opened("model", model="electra", s=SENTENCE, more=options.REASONS)
    assert UNKNOWN in app.notes


def test_a_long_text_is_shown_as_a_map(neox):
    text = "the cat ran on the mat " * 100
    assert len(neox.all_pieces(text).ids) > neox.limit
    app = opened("model", model=NAME, s=text, layer=1, head=2)
    app = app.until(lambda: "street_map" in app.sent)
    assert not app.exception


def test_a_window_by_transformers_has_the_numbers_of_the_known_layout(monkeypatch):
    name = "minilm"
    packaged(name)
    hooked = by_hook(name)
    offer(hooked, monkeypatch)
    link = {"s": "The red cat sat on the", "off_to": ZERO, "off": "2.3 4", "query": 2}
    shown: list[ModelWindow] = []
    found = []
    for model in (name, hooked.about.name):
        view = viewed("model", model=model, **link)
        of_view = window.window_state(view)
        shown.append(window.figure_of(view, of_view))
        asked = of_view.asked
        found.append(
            [
                torch.cat([*numbers.rows_of(view, [2])]),
                torch.tensor([of_view.answered.before, of_view.answered.now]),
                *(numbers._effects_of(asked, layer, runs.no_progress) for layer in (1, 5)),
                *([numbers.votes_of(asked)] if hooked.adds_up else []),
            ]
        )
    for made, expected in zip(*found, strict=True):
        assert_close(made, expected, atol=1e-5, rtol=1e-5)
    known, by = (each.said for each in shown)
    first, *others = by["lenses"]
    assert known["lenses"] == [first, ("passports", "passports"), *others]
    for key in ("sequences", "answer", "offWords", "off", "chosen"):
        assert by[key] == known[key]
