"""Texts too long for a link, or to see all weights at once, on Play and in the model window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from torch import Tensor
from torch.testing import assert_close

from attention.app.cached import long_texts
from attention.app.state.long_texts import MAX_LETTERS, cleaned, mark_of
from attention.app.state.uploads import uploads
from attention.core.limits import MAX_SEEN
from attention.hosting.uploads import Uploads
from attention.subjects.model import long_text_runs
from attention.trained.models import Padded, Transformer
from tests.app.test_every_page import TAG
from tests.cases import over
from tests.running import App, opened
from tests.trained.built import LAYERS, offer, writer

PIECES = 613
LONG = "\n".join(["the cat ran on <b>the mat</b> & ![x](http://e.org/x.png) \x00\x1b"] * 300)
SENTENCE = "the mat on the cat " * 110  # which a link carries


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Transformer:
    made = writer(tmp_path, PIECES, "long writer")
    offer(made, monkeypatch)
    long_text_runs.forget()
    return made


def visit(page: str, **link: object) -> App:
    app = opened(page, **{"model": "long writer", "layer": 1, "head": 2} | link)
    return app.unfold() if page == "explore" else app


def put_in(app: App, text: str) -> App:
    app.text_area(key="long_typed").set_value(text)
    return app.press("Read it")


def shown(app: App) -> App:
    """Wait until the map is there."""
    return app.until(lambda: "street_map" in app.sent)


def asked(app: App, **more: Any) -> App:
    """Ask as a browser that shows the map."""
    none = {"tiles": [], "texts": [], "row": -1, "block": [], "words": "", "side": 0, "far": []}
    none |= {"key": -1, "place": []}
    its = {"map": app.sent["street_map"].header["map"], "shown": [], "query": 600}
    return app.tell("street_map", "ask", none | its | more)


def weights(model: Transformer, text: str) -> Tensor:
    """Weights of head 2 of layer 1, with all of them kept. (queries, keys)."""
    runs = [*model.forward(Padded(model.all_pieces(text).ids))]
    return runs[1].trace.weights[2].detach()


@over("page", ["explore", "model"])
def test_a_text_that_is_put_in_has_its_map_and_the_sum_of_its_last_token(page, model):
    long_text_runs.forget()
    app, whole = shown(put_in(visit(page), LONG)), weights(model, cleaned(LONG))
    sent = app.sent["street_map"]
    assert [sent.header[name] for name in ("rows", "row", "chosen")] == [PIECES, 612, 612]
    assert_close(sent.numbers, whole[612], atol=1e-5, rtol=1e-5)
    assert app.selection["query"] == 612
    table = app.tables[-1]
    terms = whole[612].topk(12).values.tolist()
    assert sorted(map(float, table["weight"][:12])) == pytest.approx(sorted(terms), abs=1e-4)
    assert table[""][-2:] == ["601 others", "Σ = y"]
    assert (table["weight"][-1], table["share of y"][-1]) == ("1.0000", "1.0000")
    left_out = model.all_pieces(cleaned(LONG)).left_out
    words = f"Writer reads the first {PIECES} here, the other {left_out:,} are left out."
    assert words in app.said
    assert not TAG.search(app.said)
    assert "<b>" not in app.read_as_markdown
    for row, query in ((89, 89), (89, PIECES)):  # there is no such row
        app = asked(app, row=row, query=query)
        sent = app.sent["street_map"]
        assert [sent.header["row"], sent.header["chosen"], app.selection["query"]] == [89] * 3
        assert_close(sent.numbers, whole[89], atol=1e-5, rtol=1e-5)

    app, count = shown(visit(page, s=SENTENCE, query=541)), len(model.all_pieces(SENTENCE).ids)
    assert MAX_SEEN < count < PIECES
    sent = app.sent["street_map"]
    assert [sent.header[name] for name in ("rows", "chosen")] == [count, 541]
    assert_close(sent.numbers, weights(model, SENTENCE)[541], atol=1e-5, rtol=1e-5)


@over("page, layers, seconds", [("explore", "1 layer", 2), ("model", f"{LAYERS} layers", 3)])
def test_a_long_wait_is_said_before_and_waits_for_a_click(page, layers, seconds, monkeypatch):
    long_text_runs.forget()
    monkeypatch.setattr(long_text_runs, "_rates", {"long writer": 4e6})
    monkeypatch.setattr(long_text_runs, "UNASKED", 0.5)
    app = put_in(visit(page), LONG)
    assert "street_map" not in app.sent
    (words,) = [item.value for item in app.caption if "take" in item.value]
    assert words == f"{PIECES} pieces through {layers} take about {seconds} s here."
    assert long_text_runs._rates == {"long writer": 4e6}
    shown(app.press("Work it out"))
    assert long_text_runs._rates["long writer"] != 4e6, "the next wait follows from this one"


@over("page", ["explore", "model"])
def test_a_link_into_a_text_asks_for_it_and_then_shows_the_same_view(page):
    mark = mark_of(cleaned(LONG))
    app = visit(page, long=mark, query=77)
    assert "street_map" not in app.sent
    (note,) = app.notes
    assert "It begins “the cat ran on <b>the mat</b> & ![x](htt”" in note
    assert "![x]" not in app.read_as_markdown
    app = shown(put_in(app, LONG.replace("\n", "\r\n")))
    assert (app.sent["street_map"].header["chosen"], app.query_params["long"]) == (77, mark)


def test_one_goes_back_to_the_sentence_and_to_the_text_again():
    app = shown(put_in(visit("explore", s="the cat"), LONG))
    app.press("Back to the sentence")
    assert app.sent["picture"].header["tokens"] == ["the", "·cat"]
    app = shown(app.unfold().press("Read it"))  # it is still there
    app.choose("model", "none")
    assert app.sent["picture"].header["tokens"] == ["the", "cat"]
    assert f"reads no more than {MAX_SEEN} tokens: this is the sentence again." in app.notes[0]


@over(
    "text, words",
    [
        ("a" * 10_485_760, "A text may have up to 65,536 letters, this one has 10,485,760."),
        (" \x00\x1b\n", "There are no words in this text."),
    ],
)
def test_a_text_that_is_none_or_too_long_is_refused_in_a_sentence(text, words):
    app = put_in(visit("explore", s="the cat"), text)
    assert app.notes == [words]
    assert app.sent["picture"].header["tokens"] == ["the", "·cat"]
    assert len(app.text_area(key="long_typed").value) <= MAX_LETTERS


def test_one_endless_word_is_read_and_a_short_text_becomes_the_sentence():
    app = shown(put_in(visit("explore"), "a" * MAX_LETTERS))
    assert app.sent["street_map"].header["rows"] == PIECES
    app = put_in(app, "the\ncat")
    assert (app.values["s"], "long" in app.query_params) == ("the cat", False)
    assert app.sent["picture"].header["tokens"] == ["the", "·cat"]


def test_a_file_is_read_as_utf_8_or_refused():
    app = visit("explore", s="the cat")
    app.file_uploader(key="long_file").set_value(("a.txt", b"\xff\xfe\x00", "text/plain")).run()
    assert app.notes == ["A text file must be in UTF-8, this one is not."]
    content = b"\xef\xbb\xbf" + LONG.encode()
    app.file_uploader(key="long_file").set_value(("a.txt", content, "text/plain")).run()
    assert shown(app).query_params["long"] == mark_of(cleaned(LONG))


@over("refused, words", [(True, "there is no room for it"), (False, "please open it again")])
def test_a_file_that_the_server_does_not_hold_is_answered_with_a_sentence(
    monkeypatch, refused, words
):
    def lose(manager: MemoryUploadedFileManager, session: str, file: Any) -> None:
        if refused:
            uploads().refuse(file.file_id)

    app = visit("explore", s="the cat")
    monkeypatch.setattr(MemoryUploadedFileManager, "add_file", lose)
    app.file_uploader(key="long_file").set_value(("a.txt", b"the mat", "text/plain")).run()
    (note,) = app.notes
    assert note.startswith("This file cannot be read: ")
    assert words in note


def test_texts_take_room_of_what_visitors_open_and_few_are_kept(monkeypatch):
    room = Uploads(8, dict)
    monkeypatch.setattr(long_texts, "uploads", lambda: room)
    app = visit("explore")
    for letter in "abcd":
        app = shown(put_in(app, letter + LONG))
    kept = sum(taken.nbytes for taken in room._taken)  # one more may be that of an earlier run
    assert 2 * len(LONG) < kept < 3.1 * len(LONG)
    monkeypatch.setattr(long_texts, "uploads", lambda: Uploads(0, dict))
    (note,) = put_in(app, "e" + LONG).notes[:1]
    assert note.startswith("This text cannot be kept: there is no room for it at the moment.")


def test_states_that_were_let_go_are_made_anew():
    app = shown(put_in(visit("model"), LONG))
    before = app.sent["street_map"].numbers
    long_text_runs.forget()
    again = shown(app.choose("head", 1).choose("head", 2)).sent["street_map"].numbers
    assert torch.equal(before, again)
