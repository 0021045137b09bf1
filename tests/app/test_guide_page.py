"""The page "Guide": chapter by chapter, a live figure, and a question before its answer."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from urllib.parse import parse_qs

import pytest
import torch

from attention.app.chapters import check
from attention.app.pages import FIRST, PAGES
from attention.display.captions import distinct_names
from attention.inputs.text import tokenize
from attention.lessons.chapters import GUIDE, NUMBERED, OWN_LESSONS_VARIABLE, read_lesson
from attention.lessons.opening import opening
from attention.trained import sources
from tests.hostile import HOSTILE
from tests.running import App, opened
from tests.trained.packaged import packaged

CHAPTERS = read_lesson(GUIDE, check).chapters
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
    return app.markdown[0].value.splitlines()[0].removeprefix("## ")


def words(app: App) -> str:
    return "\n".join(item.value for item in app.markdown)


def test_it_comes_first_in_the_menu_and_the_bare_address_still_opens_explore() -> None:
    assert [page.name for page in PAGES][:2] == ["guide", "explore"]
    assert FIRST.name == "explore"
    app = opened("explore", **{name: text for name, [text] in parse_qs(opening().link).items()})
    assert "sum" in app.sent["picture"].header["parts"]
    (link,) = app.get("page_link")
    assert link.proto.page == "guide"


@pytest.mark.parametrize("at", range(len(CHAPTERS)))
def test_every_chapter_opens_asks_and_only_then_explains(at: int) -> None:
    chapter = CHAPTERS[at]
    app = opened("guide", chapter=at)
    assert title(app) == chapter.title
    assert chapter.body in words(app)
    assert app.pills(key="guessed").label == chapter.question
    assert choices(app) == list(chapter.choices)
    assert chapter.because not in words(app)
    assert not app.notes
    assert chapter.figure == "spread" or len(app.sent) > 2

    app.choose("guessed", chapter.answer)
    assert f"**Yes.** {chapter.because}" in words(app)
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
    assert title(opened("guide", chapter=1, guess=3)) == CHAPTERS[1].title


def test_links_that_number_their_chapter_open_what_they_opened() -> None:
    names = {chapter.name: chapter for chapter in CHAPTERS}
    for number, name in enumerate(NUMBERED):
        assert title(opened("guide", chapter=number)) == names[name].title
    assert title(opened("guide", chapter=99)) == names[NUMBERED[-1]].title


def test_a_chapter_that_is_not_there_is_told_and_the_first_one_shown() -> None:
    app = opened("guide", chapter="<b>nowhere</b>")
    assert title(app) == CHAPTERS[0].title
    assert "There is no chapter “<b>nowhere</b>” here; showing the first." in app.notes


def test_the_figure_shows_the_chapters_sentence_until_the_visitor_types_one() -> None:
    app = opened("guide", chapter=2)
    own = tokenize(CHAPTERS[2].sentence or "")
    assert app.sent["picture"].header["tokens"] == own
    app.choose("s", "good morning")
    assert app.sent["picture"].header["tokens"] == ["good", "morning"]
    app.press("Back to the chapter's own sentence")
    assert app.sent["picture"].header["tokens"] == own
    assert "s" not in app.query_params


@pytest.mark.parametrize("at", range(len(CHAPTERS)))
def test_with_a_sentence_of_ones_own_every_chapter_says_whose_words_it_speaks_of(at: int) -> None:
    chapter = CHAPTERS[at]
    app = opened("guide", chapter=at, s="<b>good</b> morning my friend")
    if chapter.sentence is None:
        assert "This chapter speaks of" not in app.said
        return
    about = (
        f"This chapter speaks of its own sentence, “{chapter.sentence}”. The figure shows yours."
    )
    assert f"<p class='quiet'>{html.escape(about)}</p>" in app.said
    app.press("Back to the chapter's own sentence")
    assert "This chapter speaks of" not in app.said


def test_the_pages_that_the_last_chapter_names_show_what_it_says_they_do() -> None:
    packaged("minilm")
    last = CHAPTERS[-1]
    assert "*Trained* shows that" in last.because
    assert "stands on *Compare*, under *Which heads matter*" in last.because
    link = {name: texts[-1] for name, texts in last.link.items()}
    trained = opened("trained", **link)
    assert any("head 2" in table[""] and "along Σ" in table for table in trained.tables)
    compare = opened("compare", **link)
    assert "**Which heads matter**" in compare.read_as_markdown
    assert any("without head 2" in table[""] for table in compare.tables)


def test_a_visitors_settings_neither_show_nor_change() -> None:
    set_elsewhere = {"scale": "none", "mask": "causal", "variant": "gaussian", "query": "3"}
    app = opened("explore", **set_elsewhere)
    app.switch_page("pages/guide.py").run()
    app.choose("contents", 8).tell("head_grid", "head", 2)
    assert app.sent["head_grid"].header["chosen"] == 2
    assert app.sent["picture"].header["masks"] == []
    assert app.sent["picture"].header["scale"] == pytest.approx(10**-0.5)
    app.move(query=5, stage="scores")
    assert app.place == {"query": 5, "stage": "scores"}
    app.press("Next")
    assert app.place == {"query": 0, "stage": "weights"}, "what is chosen is that of one chapter"
    app.switch_page("pages/explore.py").run()
    assert app.place == {"query": 3, "stage": "weights"}
    assert app.values["scale"] == "none"
    assert app.values["mask"] == ["causal"]
    assert app.values["variant"] == "gaussian"


def test_the_slider_stays_where_it_was_left_until_the_chapter_changes() -> None:
    app = opened("guide", chapter=3).tell("sweep_view", "at", [1, 5.0])
    assert app.sent["sweep_view"].header["at"] == 5
    assert "sweep_at" not in app.query_params
    app.press("Next").press("Back")
    assert app.sent["sweep_view"].header["at"] == 1


def test_the_link_out_leads_to_exactly_this_view() -> None:
    for at, chapter in enumerate(CHAPTERS):
        app = opened("guide", chapter=at, s="a rare & fine tea", scale="none")
        (button,) = app.get("link_button")
        page, _, query = button.proto.url.partition("?")
        assert page == ("." if chapter.page == FIRST.name else chapter.page)
        texts = parse_qs(query)
        assert texts.pop("s") == ["a rare & fine tea"]
        texts.pop("target", None)
        asked = {name: list(some) for name, some in chapter.link.items() if name != "s"}
        assert texts == asked
        assert check(texts, chapter.page) == []


def test_the_map_moves_with_the_chosen_word() -> None:
    app = opened("guide", chapter=0)
    (table,) = app.tables
    assert table[""][:2] == ["software", "fruit"]
    before = table["before"]
    (moved,) = app.move(query=1).tables
    assert moved["before"] != before
    app = opened("guide", chapter=0, s="zzxqy")
    assert "This word has no vector, so it starts nowhere. Choose another word." in app.notes
    assert not app.tables


@pytest.mark.parametrize("at", ["0", "10"])
def test_a_hostile_sentence_is_neither_interpreted_nor_fatal(at: str) -> None:
    text = " ".join(text for text in HOSTILE if len(text) < 1000)
    app = opened("guide", chapter=at, s=text)
    assert not re.search(r"<(/?style|script|img|a\b|b>bold)", app.said)
    rare = {word for word in tokenize(text) if len(word) > 3 and not word.isalpha()}
    assert not [word for word in rare if word in app.read_as_markdown]


def test_a_lesson_of_the_owners_is_offered_and_shown(own: Path) -> None:
    app = opened("guide", chapter=0)
    assert title(app) == CHAPTERS[0].title
    app.choose("lesson", "own")
    assert title(app) == "Mine"
    assert app.sent["picture"].header["tokens"] == ["good", "tea"]
    assert app.place["query"] == 1
    assert not app.get("link_button")
    (own / "1.md").write_text(OWN.replace("Mine", "Changed"), "utf-8")
    os.utime(own / "1.md", (0, 0))
    assert title(opened("guide", lesson="own")) == "Changed"


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


def test_where_no_model_is_installed_the_last_chapter_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sources, "names", lambda: (sources.NONE,))
    app = opened("guide", chapter=len(CHAPTERS) - 1)
    assert "needs the trained model “minilm”, which is not installed here." in app.notes[0]
    assert choices(app)
    assert title(opened("guide", chapter=0)) == CHAPTERS[0].title


def test_the_answer_brings_the_alignment_of_a_trained_translator() -> None:
    packaged("en-pt")
    at = next(at for at, chapter in enumerate(CHAPTERS) if chapter.after == "alignment")
    assert "alignment" not in opened("guide", chapter=at).sent
    app = opened("guide", chapter=at, guess=CHAPTERS[at].answer)
    drawn = app.sent["alignment"]
    assert drawn.header["keys"][:9] == tokenize(CHAPTERS[at].link["memory"][0])
    weights = drawn.parts["weights"]
    assert torch.allclose(weights.sum(-1), torch.ones(len(weights)), atol=1e-5)
    written = drawn.header["tokens"]
    chosen = {
        word: drawn.header["keys"][int(weights[written.index(word)].argmax())]
        for word in ("gato", "chão", "cozinha")
    }
    assert chosen == {"gato": "cat", "chão": "floor", "cozinha": "kitchen"}
    app.choose("s", "the black cat")
    assert app.sent["alignment"].header["keys"][:3] == ["the", "black", "cat"]


def test_without_the_translator_the_answer_says_how_to_add_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sources, "names", lambda: (sources.NONE,))
    at = next(at for at, chapter in enumerate(CHAPTERS) if chapter.after == "alignment")
    app = opened("guide", chapter=at, guess=0)
    assert "picture" in app.sent
    assert "alignment" not in app.sent
    assert "pip install --no-deps -r requirements-models.txt" in app.notes[0]


def test_a_word_taken_away_leaves_its_weight_to_the_others_until_it_is_brought_back() -> None:
    at = next(at for at, chapter in enumerate(CHAPTERS) if "away" in chapter.parts)
    app = opened("guide", chapter=at)
    texts, query = app.sent["away"].header["texts"], app.place["query"]
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


def test_a_comparison_names_what_differs() -> None:
    at = next(at for at, chapter in enumerate(CHAPTERS) if "b_mask" in chapter.link)
    app = opened("guide", chapter=at, s="one two three")
    assert app.sent["comparison"].header["names"] == distinct_names(["one", "two", "three"])
    assert "masks: none → causal" in app.said
    assert "scale" not in re.findall(r"differs'>.*?</p>", app.said)[0]


def test_the_default_sentence_typed_is_the_visitors_own_and_stays_so_in_the_link() -> None:
    default = "the cat walks on the street"
    app = opened("guide", chapter="one-word")
    own = app.sent["copy_link"].header["title"]
    app.choose("s", "the cat").choose("s", default)
    assert app.values["s"] == f"{default} "
    assert app.sent["copy_link"].header["title"] != own
    link = opened("guide", chapter="one-word", s=f"{default} ")
    assert link.sent["copy_link"].header["title"] == app.sent["copy_link"].header["title"]
