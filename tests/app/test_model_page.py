"""The window of a model: what it is sent, switches, links of before, and long sentences."""

from __future__ import annotations

import time

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.analysis import glances, switches
from attention.analysis.elsewhere import elsewhere
from attention.analysis.study import most_trusted
from attention.app.parts import works
from attention.app.results import answering
from attention.app.state.links import every_setting
from attention.app.state.pages import EARLIER, MODEL
from attention.app.state.view import view_of
from attention.app.state.visit import Visit
from attention.display import switches as told
from attention.display.switches import AS_IN, CLOSED
from attention.lessons.known import EXAMPLES
from tests.hostile import HOSTILE
from tests.running import App, Sent, opened
from tests.trained.packaged import packaged, run_model

SENTENCE = "the red cat sat"
PARIS = EXAMPLES[0]
PATIENCE = 120.0


def visit(name: str = "minilm", **link: object) -> App:
    """The window with all its effects worked out."""
    packaged(name)
    app = opened("model", **{"model": name, "s": SENTENCE} | link)
    until = time.monotonic() + PATIENCE
    while effects(window(app)).isnan().any():
        assert time.monotonic() < until
        app.run()
    return app


def window(app: App) -> Sent:
    return app.sent["model_window"]


def rows(sent: Sent) -> Tensor:
    """The weights of the chosen query, (all heads, keys)."""
    count, columns = len(sent.header["layers"]) * sent.header["heads"], sent.header["columns"]
    return sent.numbers[: count * columns].reshape(count, columns)


def effects(sent: Sent) -> Tensor:
    count, columns = len(sent.header["layers"]) * sent.header["heads"], sent.header["columns"]
    return sent.numbers[count * columns : count * (columns + 1)]


@pytest.mark.parametrize(("name", "query"), [("minilm", 3), ("en-pt", 1)])
def test_all_heads_their_rows_and_effects_are_sent(name: str, query: int) -> None:
    sent, run, model = window(visit(name, query=query)), run_model(name, SENTENCE), packaged(name)
    assert [layer["name"] for layer in sent.header["layers"]] == [
        model.title_of(at) for at in range(len(model.layers))
    ]
    expected = glances.rows_of_each(run, query, query)
    for layer, row in enumerate(expected):
        heads = sent.header["heads"]
        found = rows(sent)[layer * heads : (layer + 1) * heads, : row.shape[1]]
        assert_close(found, row)
    metric, _ = switches.answer_at(model, run, query)
    there = elsewhere(name)
    assert there is not None
    last = len(model.layers) - 1
    found = switches.layer_effects(model, run, last, metric, switches.by_mean(there.means))
    assert_close(effects(sent)[-len(found) :], found, atol=1e-5, rtol=1e-3)
    assert len(sent.header["told"]) == len(effects(sent))
    assert sent.header["greatest"] == int(effects(sent).abs().argmax())


def test_a_switch_changes_the_answer_its_bars_and_its_sentence_and_stands_in_the_link() -> None:
    packaged("smollm2")
    link = {"s": PARIS.s, "model": "smollm2", "layer": 23, "head": 4, "query": PARIS.query}
    app = opened("model", **link)
    assert app.heading[0] == "Which of 270 heads says “Paris”?"
    (trained,) = window(app).header["bars"]
    assert trained["texts"][0] == "Paris"
    app.tell("model_window", "switched", (23 * 9 + 4, 1))
    assert app.query_params["off"] in ("23.4", ["23.4"])
    header = window(app).header
    there = elsewhere("smollm2")
    assert there is not None
    model, run = packaged("smollm2"), run_model("smollm2", PARIS.s)
    states = switches.states_without(model, run, [(23, 4)], switches.by_mean(there.means))
    metric, _ = switches.answer_at(model, run, -1)
    share = float(metric(states))
    assert header["answer"]["now"] == told.percent(share)
    before, now = header["bars"]
    assert before == trained
    assert now["shares"][now["texts"].index("Paris")] == pytest.approx(share, rel=1e-4)
    assert f"to {told.percent(share)}." in header["offWords"]
    app.tell("model_window", "act", "on")
    assert "off" not in app.query_params
    assert window(app).header["answer"]["now"] == header["answer"]["before"]


def test_the_packaged_effects_of_an_example_are_there_at_once() -> None:
    packaged("smollm2")
    app = opened("model", s=PARIS.s, model="smollm2")
    there = elsewhere("smollm2")
    assert there is not None
    assert_close(effects(window(app)), there.effects[PARIS.s].flatten())
    assert window(app).header["greatest"] == 23 * 9 + 4
    assert 11 * 9 + 5 in window(app).header["needed"]


def test_two_words_are_linked_by_the_heads_that_look_from_one_at_the_other() -> None:
    app = visit(query=3).tell("model_window", "pair", (4, 2))
    header = window(app).header
    assert (header["queries"], header["pair"]) == ([4], 2)
    weights = rows(window(app))[:, 2].reshape(6, 12)
    words = header["sequences"][0]
    assert header["linkWords"] == told.link_words(words[4], words[2], weights)
    app.move(query=1)
    assert window(app).header["pair"] == -1


def test_heads_are_set_as_in_another_sentence_of_as_many_pieces() -> None:
    link = {"off_to": AS_IN, "off": "3 4", "query": 2}
    app = visit(off_second="the blue cat sat", **link)
    model, run, other = (
        packaged("minilm"),
        run_model("minilm", SENTENCE),
        run_model("minilm", "the blue cat sat"),
    )
    off = told.read_off("3 4", model)
    states = switches.states_without(model, run, off, switches.as_in(run, other))
    metric, _ = switches.answer_at(model, run, 2)
    assert told.percent(float(metric(states))) in window(app).header["offWords"]
    for second, words in (("two words more", "the second 5"), ("", "Type the other")):
        app = opened("model", model="minilm", s=SENTENCE, off_second=second, **link)
        assert "model_window" not in app.sent
        assert any(words in note for note in app.notes)


def test_the_search_switches_off_the_heads_that_the_answer_needs_most() -> None:
    app = visit(query=2)
    app.tell("model_window", "act", "needs")
    until = time.monotonic() + PATIENCE
    while not app.values["off"]:
        assert time.monotonic() < until
        app.run()
    run, model, there = run_model("minilm", SENTENCE), packaged("minilm"), elsewhere("minilm")
    assert there is not None
    metric, _ = switches.answer_at(model, run, 2)
    found = switches.most_needed(
        model, run, metric, switches.by_mean(there.means), told.MOST_NEEDED, -1
    )
    assert told.read_off(app.values["off"], model) == sorted(head for head, _ in found)


def test_effects_fill_in_layer_by_layer_and_stopping_keeps_those_that_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(works, "WAIT", 0.0)
    packaged("minilm")
    text = "a sentence that nobody has asked of yet"
    app = opened("model", model="minilm", s=text)
    if effects(window(app)).isnan().any():
        app.press("Stop")
        assert any(button.label == "Work it out" for button in app.button)
    asked = answering.Asked("minilm", text, 0, told.MEAN)
    answering._effects_of(asked, 5, lambda done, of: None)
    so_far = answering.effects_so_far(asked)
    assert not so_far[5].isnan().any()


def test_a_long_sentence_shows_where_heads_look_and_still_has_its_switches() -> None:
    packaged("smollm2")
    app = opened("model", model="smollm2", s="cat " * 80, off="20.1")
    header = window(app).header
    assert [name for name, _ in header["lenses"]] == ["looks"]
    assert len(header["sequences"][0]) == 81
    assert "Without head 20.1" in header["offWords"]
    assert "needs" not in {name for name, _ in header["acts"]}
    size = sum(len(item.proto.SerializeToString()) for item in app.get("bidi_component"))
    assert size < 1_500_000


@pytest.mark.parametrize("page", EARLIER, ids=[page.name for page in EARLIER])
def test_a_link_of_before_leads_to_the_view_that_took_its_place(page: object) -> None:
    shown = view_of(page, Visit(), {}, {})  # type: ignore[arg-type]
    assert {name: shown[name] for name in page.implied} == page.implied  # type: ignore[attr-defined]
    said = view_of(page, Visit(), {"more": [CLOSED], "lens": ["says"]}, {})  # type: ignore[arg-type]
    assert (said["more"], said["lens"]) == (CLOSED, "says")
    assert view_of(MODEL, Visit(), {}, {})["more"] == every_setting()["more"].default


def test_hostile_words_are_sent_as_text_alone() -> None:
    packaged("minilm")
    text = " ".join(HOSTILE[:8])
    app = opened("model", model="minilm", s=text[:120], off=text[:120], off_second=text[:120])
    assert "<script" not in app.said.replace("&lt;script", "")
    assert "<img" not in app.read_as_markdown


def test_an_erased_word_is_left_out_and_what_becomes_of_the_answer_is_told() -> None:
    packaged("smollm2")
    link = {"s": PARIS.s, "model": "smollm2", "query": 4, "key": 3}
    app = opened("model", **link)
    assert ("erase", "Erase “France”") in [tuple(act) for act in window(app).header["acts"]]
    app.tell("model_window", "act", "erase")
    header = window(app).header
    model, run = packaged("smollm2"), run_model("smollm2", PARIS.s)
    left = model.run_pieces(switches.without_piece(model, run.pieces, 3))
    metric, _ = switches.answer_at(model, run, -1)
    assert left.pieces.ids.tolist() == [*run.pieces.ids[:3].tolist(), int(run.pieces.ids[4])]
    share = told.percent(float(metric(left.hidden)))
    assert header["offWords"].startswith("Without the word “France” “Paris” falls from 77 % to ")
    assert header["answer"]["now"] == share
    assert (header["erased"], app.query_params["erased"]) == (3, "3")
    app.tell("model_window", "act", "erase")
    assert window(app).header["erased"] == -1


def test_an_encoder_reads_its_mask_token_in_place_of_an_erased_word() -> None:
    sent = window(visit(query=2, key=4, erased=4))
    model, run = packaged("minilm"), run_model("minilm", SENTENCE)
    masked = switches.without_piece(model, run.pieces, 4)
    assert (masked.ids != run.pieces.ids).nonzero().flatten().tolist() == [4]
    metric, _ = switches.answer_at(model, run, 2)
    moved = float(metric(model.run_pieces(masked).hidden))
    assert f"moves by {told.percent(moved)}" in sent.header["offWords"]
    assert window(visit(query=2, erased=2)).header["erased"] == -1, "the word itself stays"
    assert window(visit(query=2, erased=0)).header["erased"] == -1, "a special token stays"


def test_words_are_coloured_by_the_method_that_the_study_trusts() -> None:
    name = "smollm2"
    packaged(name)
    header = window(opened("model", model=name, s=SENTENCE, words_by=told.WHOLE_MODEL)).header
    trusted = most_trusted(name, "fall", decoder=True)
    assert trusted is not None
    assert header["wholeWords"] == told.trusted_words(trusted)
    assert len(header["whole"]) == len(header["sequences"][0])
    assert 0.99 < sum(map(abs, header["whole"])) < 1.01 or not any(header["whole"])
    assert window(opened("model", model=name, s=SENTENCE)).header["whole"] == []


def test_only_what_the_window_offers_is_taken_from_a_browser() -> None:
    app = visit(layer=1, head=1)
    for event, value in (
        ("head", 72),
        ("switched", (72, 1)),
        ("switched", (1, 2)),
        ("lens", "says"),
        ("pair", (0, 77)),
        ("act", "rm"),
        ("piece", 0),
    ):
        app.tell("model_window", event, value)
    header = window(app).header
    assert (header["chosen"], header["off"], header["lens"]) == (13, [], "lost")
    assert header["pair"] == -1
    assert torch.equal(effects(window(app)), effects(window(visit(layer=1, head=1))))


@pytest.mark.parametrize("tab", [told.PARTS, told.ASSOCIATIONS])
def test_a_tab_works_its_part_out_beside_the_effects_of_all_heads(
    tab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged("minilm")
    monkeypatch.setattr(works, "WAIT", 0.0)
    app = opened("model", model="minilm", s=f"nobody knew of {tab} before", more=tab)
    assert len({button.key for button in app.button if button.label == "Stop"}) == 2
