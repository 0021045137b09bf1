"""Heads in numbers, and why a head looks where it looks."""

from __future__ import annotations

import time

import pytest
from torch.testing import assert_close

from attention.analysis import causes as analysed
from attention.analysis.questions import EXCHANGED, MEAN
from attention.display import causes
from attention.display.switches import LAYERS, PARTS, REASONS
from attention.lessons.known import KNOWN_CAUSES, first_cause
from attention.trained import sources
from tests.hostile import HOSTILE
from tests.running import App, opened, said
from tests.trained.packaged import packaged, run_model

SENTENCE, OTHER = "she sat by the river bank", "she sat by the money bank"
PATIENCE = 120.0


def visit(**link: object) -> App:
    """The page with its work done."""
    name = str(link.setdefault("model", "minilm"))
    packaged(name)
    app = opened("model", **{"s": SENTENCE, "more": PARTS} | link)
    until = time.monotonic() + PATIENCE
    while any(button.label == "Stop" for button in app.button):
        assert time.monotonic() < until
        app.run()
    return app


def chosen(app: App) -> tuple[int, int]:
    """The layer and the head that the window shows."""
    header = app.sent["model_window"].header
    layer, head = divmod(header["chosen"], header["heads"])
    return layer, head


def table(app: App, column: str) -> dict[str, list[str]]:
    (found,) = (table for table in app.tables if column in table)
    return found


@pytest.mark.parametrize("intervention", [MEAN, EXCHANGED])
def test_each_head_is_a_square_in_the_colour_of_its_effect(intervention: str) -> None:
    app = visit(intervention=intervention, second=OTHER, layer=5, head=3)
    squares = app.sent["effects"].header["data"][0]
    assert (len(squares["z"]), len(squares["z"][0])) == (12, 6)
    first = table(app, "total")[""][0]
    layer, head = (int(word) for word in first.split() if word.isdigit())
    assert squares["z"][head][layer] == max(map(max, squares["z"]))
    outline = app.sent["effects"].header["layout"]["shapes"][0]
    assert (outline["x0"], outline["y0"]) == (4.5, 2.5)


def test_a_click_chooses_a_head_of_all_and_a_button_one_of_the_strongest() -> None:
    app = visit()
    app.tell("effects", "point", 17)
    assert chosen(app) == (1, 5)
    app.tell("strongest", "example", 0)
    first = table(app, "total")[""][0]
    assert first == "layer {} head {}".format(*chosen(app))


def test_a_decoder_shows_total_and_direct_effects_votes_and_the_guesses_of_its_layers() -> None:
    known = KNOWN_CAUSES[0]
    app = visit(model="smollm2").tell("known_causes", "example", 0)
    assert chosen(app) == (known.layer, known.head)
    assert (app.values["s"], app.values["second"]) == (known.s, known.second)
    assert app.selection["query"] == known.query
    until = time.monotonic() + PATIENCE
    while any(button.label == "Stop" for button in app.button):
        assert time.monotonic() < until
        app.run()
    assert table(app, "direct")[""][0] == f"layer {known.layer} head {known.head}"
    assert len(app.sent["effects"].header["data"]) == 2
    assert "vote" in table(app, "vote")
    app.choose("more", LAYERS)
    assert [line["name"] for line in app.sent["guesses"].header["data"]] == ["·Mary", "·John"]


def test_weights_lengths_and_the_score_are_of_the_chosen_query_and_key() -> None:
    app = visit(layer=3, head=1, query=6, key=5, more=REASONS)
    run = run_model("minilm", SENTENCE)
    rows, *_ = causes.length_rows(run, 3, 1, 6)
    assert_close(app.sent["lengths"].result, rows)
    assert app.sent["lengths"].header["chosen"] == [0, 5]
    *_, terms = analysed.score_parts(packaged("minilm"), run, 3, 1, 6, 5)
    bars = app.sent["parts"].header["data"]
    assert sum(bars[0]["y"]) == pytest.approx(float(terms.sum()), abs=1e-3)
    assert sum(bars[1]["y"]) == pytest.approx(float(terms.sum()), abs=1e-3)
    app.tell("lengths", "cell", (1, 2))
    assert app.query_params["key"] == "2"


def test_another_length_and_a_missing_second_sentence_are_told_and_the_rest_stays() -> None:
    app = visit(intervention=EXCHANGED, second="two words")
    assert "The first has 8, the second 4" in said(app).replace("the first", "The first")
    app = visit(intervention=EXCHANGED)
    assert "Type the second sentence" in said(app)
    assert "model_window" in app.sent


def test_long_sentences_are_told_so_and_their_heads_are_still_explained() -> None:
    app = visit(s="one " * 70)
    assert "up to 64 pieces; this one has 72" in said(app)
    assert app.sent["model_window"].header["lens"] == "looks"


def test_an_empty_sentence_asks_for_one() -> None:
    assert "Type a sentence above" in visit(s="").info[0].value


def test_hostile_text_is_shown_as_text() -> None:
    text = " ".join(HOSTILE[:8])[:120]
    app = visit(s=text, intervention=EXCHANGED, second=text)
    assert "<script" not in " ".join(item.value for item in app.caption)


def test_the_bare_address_leads_to_a_known_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "intervention=exchanged" in first_cause()
    monkeypatch.setattr(sources, "PACKAGED", {})
    assert first_cause() == ""
