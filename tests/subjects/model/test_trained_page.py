"""The page "A real model", and trained models on the pages that offer them."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import torch
from torch.testing import assert_close

from attention.analysis import continuing
from attention.analysis.continuing import SamplingSettings
from attention.app.shell import server
from attention.app.state.openings import ALL_WORDS, FOLDS
from attention.app.state.pages import OF_MODELS, PAGES
from attention.core.settings import settings_of
from attention.figures import layer_words
from attention.figures.scene import Table
from attention.inputs.text import plain
from attention.pipeline import Result, Settings, compute
from attention.subjects.model import continuations
from attention.trained import sources
from attention.trained.models import Run, Transformer
from attention.trained.sampling import next_scores
from tests.cases import over
from tests.running import App, Sent, opened
from tests.subjects.play.how.making import no_vectors, shown
from tests.trained.built import offer, writer
from tests.trained.packaged import packaged, run_model

SENTENCE = "she unhappily sat by the river bank"
OFFERING = [page.name for page in PAGES if page.models == "offered"]
NOT_AS = "Not as it was trained: "


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """No package that carries a model is installed, the owner has named none, and those that come
    with the project are left out."""
    monkeypatch.setattr(sources, "PACKAGED", {})
    monkeypatch.setattr(sources, "CARRIED", {})
    monkeypatch.setattr(sources, "_OWN", sources.OwnModels())


def run_of(name: str, sentence: str = SENTENCE) -> Run:
    return run_model(name, plain(sentence))


def result_of(name: str, **settings: Any) -> Result:
    packaged(name)
    values = Settings(**{"s": SENTENCE} | settings, model=name)
    return compute(values, no_vectors, run_model=run_model)


def visit(page: str, name: str, **link: Any) -> App:
    """The page, as a link with a model opens it."""
    packaged(name)
    return opened(page, **{"s": SENTENCE, "model": name} | link)


def numbers(column: list[str]) -> list[float]:
    return [shown(cell) for cell in column if not cell.endswith("%")]


def numbers_in(table: Table, column: str) -> list[float]:
    return [cell for cell in table.columns[column] if isinstance(cell, float)]


def sides(picture: Sent) -> tuple[list[str], list[str]]:
    """The tokens of a picture's queries and keys."""
    tokens: list[str] = picture.header["tokens"]
    return tokens, picture.header["keys"] or tokens


# The page


def test_without_a_choice_the_first_model_is_shown_and_none_is_not_offered():
    first = sources.names()[1] if len(sources.names()) > 1 else "minilm"
    packaged(first)
    app = opened("model")
    assert app.controls["model"].options == list(sources.names()[1:])
    assert app.values["model"] == first
    assert app.query_params["model"] == first, "another host's first model may be another"
    assert not app.controls.keys() & {"variant", "vectors", "scale", "mask", "cut"}


@over("name, layer, head", [("minilm", 3, 7), ("en-pt", 2, 5), ("pt-en", 7, 3), ("en-pt", 6, 3)])
def test_the_chosen_head_of_the_window_is_a_link_away_on_explore(name, layer, head):
    app = visit("model", name, layer=layer, head=head, query=1)
    window = app.sent["model_window"].header
    assert (app.notes, divmod(window["chosen"], window["heads"])) == ([], (layer, head))
    words, address = app.sent["to_explore"].header["link"]
    page, _, query = address.partition("?")
    assert words == f"Play with head {layer}.{head}"
    app = opened(page, **dict(parse_qsl(query)))
    result, picture = result_of(name, layer=layer, head=head), app.sent["picture"]
    assert_close(picture.parts["weights"], result.trace.weights)
    assert sides(picture) == ([*result.tokens], [*result.key_tokens])
    assert app.selection["query"] == 1


def test_heads_of_joined_words_are_told_by_words():
    result = result_of("minilm", layer=1, join="words")
    seen, words = layer_words.overview(result), layer_words.words_of(result)
    link = {"layer": 1, "join": "words", "query": words.tokens.index("river")}
    app = visit("explore", "minilm", fold="all heads", **link)
    sent = app.sent["rows"]
    assert sent.header["tokens"] == [*words.tokens]
    rows = sent.numbers.reshape(12, -1, len(words.tokens))
    assert_close(rows.sum(-1), torch.ones(rows.shape[:2]))
    assert_close(rows[0], layer_words.shown(result)[2].weights)
    app = visit("explore", "minilm", fold="all heads", words=ALL_WORDS, **link)
    dots = torch.frombuffer(bytearray(app.sent["head_grid"].rest), dtype=torch.uint8).int()
    assert_close(dots, seen.dots.flatten().int(), atol=1, rtol=0)


def test_what_is_not_here_is_answered_with_a_word_and_the_nearest_shown():
    app = visit("model", "minilm", layer=63, head=49, query=77)
    assert sorted(app.notes) == [
        "There is no head 49 of 12; showing the last, 11.",
        "There is no layer 63 of 6; showing the last.",
        "There is no token 77 of 12; showing the last, 11.",
    ]
    assert app.sent["model_window"].header["chosen"] == 71


# Which models there are


@pytest.mark.usefixtures("no_models")
def test_without_any_model_one_page_says_how_to_add_them_and_others_are_as_ever():
    app = opened("model")
    assert [code.value for code in app.code] == [sources.installing()]
    assert app.missing == [
        "No trained model is installed here. Whoever runs this app adds them with:"
    ]
    assert "model" not in app.controls
    assert app.values["s"] == settings_of(Settings)["s"].default
    for page in OFFERING:
        app = opened(page, model="minilm", s="the cat sat", layer=2)
        (note, *_) = app.notes
        assert note.startswith("model must be one of none, got 'minilm'")
        assert app.values["s"] == "the cat sat"
        assert not app.controls.keys() & {*OF_MODELS}
        assert len(app.sent) > 2


def test_a_model_that_cannot_be_read_at_start_is_told_of_and_not_offered(monkeypatch, capsys):
    packaged("minilm")
    broken = replace(sources.MINILM, hashes={"config.json": "0" * 64})
    monkeypatch.setitem(sources.PACKAGED, "minilm", broken)
    monkeypatch.setattr(sources, "_SET_ASIDE", set())
    monkeypatch.setattr(sources, "_OWN", sources.OwnModels())
    monkeypatch.setattr(server, "load_model", sources.load)
    before = sources.names()
    server.load_models()
    assert "model 'minilm' cannot be read: config.json must have" in capsys.readouterr().err
    assert sources.names() == tuple(name for name in before if name != "minilm")
    app = opened("explore", model="minilm", s="the cat sat")
    assert app.notes[0].startswith("model must be one of none, ")
    assert "minilm" not in app.unfold().controls["model"].options
    assert app.sent["picture"].header["tokens"] == ["the", "cat", "sat"]
    problem = "The model 'minilm' cannot be read: config.json must have"
    assert any(note.startswith(problem) for note in opened("model").notes)


# On other pages


@over("fold, name", [("all heads", "smollm2"), ("how", "minilm"), ("against", "en-pt")])
def test_with_a_model_tokens_are_its_pieces_and_its_settings_take_the_place_of_a_variants(
    fold, name
):
    app, run = visit("explore", name, layer=1, head=2, fold=fold).unfold(), run_of(name)
    pieces, special, layer = list(run.pieces.texts), sum(run.pieces.special), run.inputs[1].layer
    assert any(names[: len(pieces)] == pieces for names in app.names_sent)
    assert {"model", "layer", "special", "cut", "scale", "mask", "positions"} <= app.values.keys()
    assert not app.controls.keys() & {"vectors", "seed", "d_k", "heads"}
    assert ("trained_mask" in app.controls) == bool(layer.masks(1, 1))
    assert ("trained_positions" in app.controls) == (layer.attention.rotary is not None)
    words = f"{len(pieces)} tokens" + (f", {special} of them special" if special else "")
    assert app.sent["examples"].header["words"].startswith(f"{words}. ")


def test_folds_show_the_numbers_of_the_chosen_layer():
    settings: dict[str, Any] = {"layer": 4, "head": 7, "special": "ignored"}
    settings |= {"mask": ("causal",), "scale": "factor", "factor": 0.35}
    result = result_of("minilm", **settings)
    app = visit("explore", "minilm", **settings, fold="all heads")
    assert_close(app.sent["picture"].parts["weights"], result.trace.weights)
    assert sides(app.sent["picture"]) == ([*result.tokens], [*result.key_tokens])
    rows = app.sent["rows"].numbers.reshape(12, -1, len(result.tokens))
    assert_close(rows[:, -1], result.weights_for(len(result.tokens) - 1)[:, -1])
    steps = visit("explore", "minilm", fold="how", words=ALL_WORDS, step="weights", **settings)
    assert_close(steps.sent["matrices"].result.nan_to_num(0), result.trace.weights)


def test_what_is_not_as_it_was_trained_is_said():
    as_learned = visit("explore", "minilm", layer=1)
    assert "Not as it was trained" not in as_learned.all_words
    app = visit("explore", "minilm", layer=1, scale="none", mask="window", radius=9, cut="3,1,77")
    assert f"{NOT_AS}scale: none; masks: window; heads cut out: 1, 3." in app.all_words
    problem = visit("explore", "minilm", cut="<b>").notes
    assert any(note.endswith("got '<b>'; no head is cut out.") for note in problem)


@over("fold", FOLDS)
def test_a_layer_that_looks_at_another_sentence_has_its_weights_and_no_folds(fold):
    app = visit("explore", "en-pt", layer=7, fold=fold)
    assert sides(app.sent["picture"])[0] != sides(app.sent["picture"])[1]
    assert not app.sent.keys() & {"rows", "matrices", "head_grid", "comparison"}
    assert "fold" not in app.controls


# A model that goes on writing


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Transformer:
    """Such a model, on offer by the name of “writer”."""
    model = writer(tmp_path)
    offer(model, monkeypatch)
    return model


def test_where_nothing_comes_next_there_is_a_word_on_it(written):
    def after(label: str, s: str = "the cat", seed: int = 0) -> App:
        return opened("model", model="writer", s=s, sample_seed=seed).press(label)

    longer = {
        seed: continuing.go_on(written, "the cat", 1, SamplingSettings(sample_seed=seed), False)
        for seed in range(7)
    }
    silent = next(seed for seed, text in longer.items() if text == "the cat")
    heard = next(seed for seed, text in longer.items() if text != "the cat")
    nothing = "Nothing was added: what was chosen says nothing by itself, as when it is only a part"
    assert after("Pick at random", seed=silent).notes == [f"{nothing} of a character."]
    app = after("Pick at random", seed=heard)
    assert (app.values["s"], app.notes) == (longer[heard], [])
    likeliest = continuing.go_on(written, "the cat", 1, SamplingSettings(), True)
    assert after("Add the likeliest").values["s"] == likeliest
    full = "abcdefg " * 20
    app = after("Pick at random", full)
    assert app.notes == ["Nothing was added: no more than 23 pieces fit."]
    assert app.values["s"] == full
    assert app.choose("s", "the").notes == []


def test_it_writes_on_piece_by_piece_until_it_is_stopped(written, monkeypatch):
    monkeypatch.setattr(continuations, "AT_ONCE", 0.0)
    texts = [
        continuing.go_on(written, "the cat", pieces, SamplingSettings(), likeliest=False)
        for pieces in range(1, 5)
    ]
    app = opened("model", model="writer", s="the cat").press("Keep writing")
    for text in texts[:-1]:
        assert text in [item.value for item in app.text]
        assert app.values["s"] == "the cat"
        app.run()
    app.press("Stop")
    assert app.values["s"] == app.query_params["s"] == texts[-1]
    assert "Stop" not in app.buttons


def test_it_stops_writing_where_there_is_no_more_room_or_a_piece_ends_the_text(
    written, monkeypatch
):
    monkeypatch.setattr(continuations, "AT_ONCE", math.inf)
    app = opened("model", model="writer", s="the cat").press("Keep writing")
    whole = continuing.go_on(written, "the cat", 99, SamplingSettings(), likeliest=False)
    assert (app.values["s"], "Keep writing" in app.buttons) == (whole, True)

    ids = written.pieces("the cat").ids.tolist()
    pieces = continuing.pieces_after(written, ids, SamplingSettings(), likeliest=False)
    first, second = next(pieces), next(pieces)
    assert first != second
    monkeypatch.setattr(written, "parts", dataclasses.replace(written.parts, ends=(second,)))
    app = opened("model", model="writer", s="the cat").press("Keep writing")
    text = "the cat" + continuing.text_added(written, ids, [first])
    assert (app.values["s"], "Keep writing" in app.buttons) == (text, True)


def test_a_piece_that_no_text_says_is_not_added_and_any_other_is(written):
    shares = next_scores(written, written.run("the cat")).softmax(-1)
    said = [written.text_of([piece], [0]) for piece in shares.topk(4).indices.tolist()]
    assert None in said
    for index, text in enumerate(said):
        app = opened("model", model="writer", s="the cat").tell("model_window", "piece", index)
        assert app.values["s"] == "the cat" + (text or "")
        assert len(app.notes) == (text is None)
