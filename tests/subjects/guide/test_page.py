"""The page "Guide": chapter by chapter, a live figure, and a question before its answer."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import torch

from attention.analysis.sentences import SENTENCES
from attention.app.state.openings import opening
from attention.app.state.pages import first_page
from attention.app.state.view import View
from attention.app.state.visit import Visit
from attention.core.printing import distinct_names
from attention.figures.picture import AttentionPicture
from attention.figures.scene import Scene, Words
from attention.inputs.text import tokenize
from attention.subjects.guide import chapter_page, chosen_lesson, fitting
from attention.subjects.guide import scene as scenes
from attention.subjects.guide.chapters import GUIDE, OWN_LESSONS_VARIABLE, WORDLESS, Chapter
from attention.subjects.guide.chosen_lesson import check
from attention.subjects.guide.figures import Card
from attention.subjects.guide.reading import read_lesson
from attention.subjects.learning import controls as learning_controls
from attention.trained import sources
from attention.training.finished import finished
from tests.cases import over
from tests.running import App, opened, viewed
from tests.trained.packaged import packaged

CHAPTERS = read_lesson(GUIDE, check).chapters
NAMED = {chapter.name: chapter for chapter in CHAPTERS}
each_chapter = pytest.mark.parametrize("name", NAMED)
OPENING = {name: text for name, [text] in parse_qs(opening().link).items()}
MINE = "a <b>rare</b> & fine tea"
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


def chapter_of(name: str, **link: object) -> App:
    return opened("guide", chapter=name, **link)


def title(app: App) -> str:
    return next(each.value for each in app.markdown if each.value.startswith("## "))[3:]


def tokens(app: App) -> list[str]:
    return list(app.sent["picture"].header["tokens"])


def box(app: App) -> str:
    """The key of the box for a sentence of one's own, "" where there is none yet."""
    return next((key for key in app.controls if key == "yours"), "")


def of_chapter(name: str, selected: Any = None, **link: object) -> tuple[View, Chapter]:
    """The view of a chapter as a link opens it, and the chapter. selected: in its figures."""
    view = viewed("guide", chapter=name, **link)
    if selected is not None:
        view = replace(view, visit=Visit(in_chapter={"selection": selected}))
    return view, chosen_lesson.lesson(view).chapters[chapter_page.position(view) or 0]


def words_in(drawn: Scene, look: str) -> list[str]:
    """The words of a scene that have a look."""
    words = [figure for figure in drawn if isinstance(figure, Words)]
    return ["".join(figure.parts) for figure in words if figure.look == look]


def picture_in(drawn: Scene, key: str = "picture") -> AttentionPicture:
    """The picture of that key in a scene."""
    figure = drawn[key]
    assert isinstance(figure, AttentionPicture)
    return figure


# The figures, as data


@each_chapter
def test_the_scene_of_a_chapter_holds_the_figure_that_its_file_names(name):
    keys = {"how": "rows", "against": "rows", "heads": "head_grid", "map": "word_map"}
    view, chapter = of_chapter(name)
    if chapter.figure == "finale":
        fitting.ending_of(chapter.sentence or "")
    drawn = [scenes.of_chapter(view, chapter), scenes.of_token(view, chapter)]
    named = keys | {"finale": "card", "learning": ""}
    key = named.get(chapter.figure, chapter.figure)
    assert key in ["", *(figure.key for each in drawn for figure in each)]
    assert not any(words_in(each, "info") for each in drawn)


def test_no_head_is_named_before_the_chapter_on_heads():
    for name, known in (("queries-keys-values", False), ("masks", False), ("order", True)):
        title = sources.about(NAMED[name].model).title
        lines = words_in(scenes.of_chapter(*of_chapter(name)), "quiet")
        (line,) = [each for each in lines if each.startswith(title)]
        assert ("head" in line) == known


def test_a_line_says_where_the_chosen_word_of_the_visitors_sentence_looks_most():
    packaged("smollm2")
    for query in (2, 4):
        chosen = {"query": query, "stage": "weights"}
        here = of_chapter("masks", chosen, s="a cat and a dog")
        picture = picture_in(scenes.of_chapter(*here)).shown
        row, names = picture.trace.weights[query], distinct_names(picture.tokens)
        key = int(row.argmax())
        line = f"“{names[query]}” looks most at “{names[key]}”: {100 * float(row[key]):.0f} %."
        assert words_in(scenes.of_token(*here), "told") == [f"In your sentence {line}"]
    assert not scenes.of_token(*of_chapter("masks")).parts


def test_without_smollm2_the_last_chapter_names_the_head_whose_name_fits_best(monkeypatch):
    packaged("minilm")
    monkeypatch.setattr(sources, "names", lambda: (sources.NONE, "minilm"))
    here = of_chapter("trained", s="the cat chased the mouse")
    assert not scenes.of_chapter(*here).parts, "nobody waits for it"
    fitting.ending_of("the cat chased the mouse")
    assert isinstance(card := scenes.of_chapter(*here)["card"], Card)
    assert "Of the heads that have earned a name, " in " ".join(card.told)
    assert not scenes.behind(*here).parts, "this model says no next word"


def test_the_map_moves_with_the_chosen_word():
    first = of_chapter("one-word")
    apple = "Cosine of “apple” with “software” 0.71 → 0.89, with “fruit” 0.59 → 0.50."
    assert words_in(scenes.of_token(*first), "told") == [apple]
    assert not scenes.of_chapter(*first).parts
    second = of_chapter("one-word", {"query": 1, "stage": "weights"})
    assert words_in(scenes.of_token(*second), "told")[0].startswith("Cosine of “sells” with")
    unknown = scenes.of_token(*of_chapter("one-word", s="zzxqy"))
    nowhere = "This word has no vector, so it starts nowhere. Choose another word."
    assert nowhere in words_in(unknown, "note")
    assert words_in(unknown, "told") == []


@over("at", [at for at, one in enumerate(CHAPTERS) if one.model or one.figure == "finale"])
def test_where_no_model_is_installed_a_chapter_says_so_and_its_figure_is_untrained(at, monkeypatch):
    monkeypatch.setattr(sources, "names", lambda: (sources.NONE,))
    view, chapter = of_chapter(CHAPTERS[at].name)
    drawn = scenes.of_chapter(view, chapter)
    if chapter.figure == "finale":
        assert isinstance(card := drawn["card"], Card)
        assert "No trained model is installed here" in " ".join(card.told)
        return
    note = words_in(drawn, "note")[0]
    assert f"speaks of the trained model “{chapter.model}”, which is not installed" in note
    assert "The figure shows a layer that has learned nothing." in note
    assert sources.installing() in note
    assert any(figure.kind != "words" for figure in drawn)


# The page


@each_chapter
def test_every_chapter_opens_asks_and_only_then_explains(name):
    chapter, app = NAMED[name], chapter_of(name)
    asked = app.controls["guessed"]
    assert (title(app), asked.label) == (chapter.title, chapter.question)
    assert asked.options == list(chapter.choices)
    assert chapter.body in app.all_words
    assert chapter.because not in app.all_words
    assert not app.notes
    assert chapter.figure in WORDLESS or len(app.sent) > 2
    app.choose("guessed", chapter.answer)
    assert f"**Right.** {chapter.because}" in app.all_words
    marked = f"button:nth-of-type({chapter.answer + 1})::after {{ content: '✓' / \"Right\""
    assert any(marked in item.proto.body for item in app.get("html"))
    assert app.query_params["guess"] == str(chapter.answer)


def test_a_map_has_lines_to_choose_a_word_in_for_the_visitors_sentence_alone():
    assert not scenes.behind(*of_chapter("one-word")).parts
    assert "apple sells computers and software" in NAMED["one-word"].body
    lines = picture_in(scenes.behind(*of_chapter("one-word", s="the river bank")))
    assert tuple(lines.shown.parts) == ("lines",)


@over("link, codes", [({}, 0), ({"room": "abcd"}, 1)])
def test_the_guide_ends_on_a_code_only_for_who_is_in_a_class(link, codes):
    app = chapter_of("one-word", **link).choose("guessed", 0).choose("contents", len(CHAPTERS) - 1)
    assert "**1 of 13** right at the first choice." in app.all_words
    assert len(app.code) == codes


def test_where_one_stands_is_in_the_link():
    app = opened("guide").choose("guessed", 0).press("Next")
    assert app.query_params["chapter"] == CHAPTERS[1].name
    assert (title(app), app.view["guess"]) == (CHAPTERS[1].title, -1)
    assert CHAPTERS[1].because not in app.all_words, "a guess is that of one chapter"
    app.choose("contents", 4)
    assert title(app) == CHAPTERS[4].title
    app.choose("guessed", 1).press("Back")
    assert app.query_params["chapter"] == CHAPTERS[3].name
    again = chapter_of(CHAPTERS[3].name, guess=0)
    assert CHAPTERS[3].because in again.all_words
    app = chapter_of("<b>nowhere</b>")
    assert title(app) == CHAPTERS[0].title
    assert "There is no chapter “<b>nowhere</b>” here; showing the first." in app.notes


def test_a_reload_keeps_the_ticks_of_answered_chapters():
    app = opened("guide").choose("guessed", 0).press("Next").choose("guessed", 1)
    again = opened("guide", **app.query_params)
    assert chapter_page.answered(again.view) == [True, True] + 11 * [False]
    other = opened("guide", answered=app.query_params["answered"][:-1] + "<")
    assert not any(chapter_page.answered(other.view)), "a code that does not check is none"


def test_a_step_back_undoes_what_was_chosen_in_a_chapters_figure(monkeypatch):
    packaged("minilm")
    link = {"chapter": "many-heads"}
    app = opened("guide", **link, query="6").tell("head_grid", "head", 3)
    assert (app.selection["query"], app.query_params["figure_head"]) == (6, "3")
    assert opened("guide", **app.query_params).sent["head_grid"].header["chosen"] == 3
    app.step_to("guide", link, monkeypatch)
    assert (app.selection["query"], app.sent["head_grid"].header["chosen"]) == (5, 2)


def test_a_visitor_tries_a_sentence_after_the_answer_and_the_next_chapter_has_its_own():
    app, theirs = chapter_of("scores"), tokenize(NAMED["scores"].sentence or "")
    assert (tokens(app), box(app)) == (theirs, "")
    app.choose("guessed", 0).choose(box(app), "good morning")
    assert (tokens(app), app.query_params["s"]) == (["good", "morning"], "good morning")
    app.press("Back to the chapter's own sentence")
    assert (tokens(app), "s" in app.query_params, app.values[box(app)]) == (theirs, False, "")
    app.choose(box(app), "good morning").press("Next").press("Back")
    assert tokens(app) == theirs
    app.choose("guessed", 0).tell("examples", "example", 0)
    assert (tokens(app), app.values[box(app)]) == (["good", "morning"], "good morning")


def test_a_message_that_was_on_its_way_takes_back_no_chapter_guess_or_sentence():
    app = chapter_of("scores").choose("guessed", 0)
    late = app._tree.get_widget_states()
    app.press("Next")._run(late)
    assert (app.query_params["chapter"], app.view["guess"]) == (CHAPTERS[3].name, -1)
    app.choose("guessed", 0).choose(box(app), "good morning").press("Next").choose("guessed", 0)
    late = app._tree.get_widget_states()
    app.tell("examples", "example", 0)._run(late)
    assert (app.query_params["s"], app.values[box(app)]) == ("good morning", "good morning")


def test_labels_stay_when_one_answers_as_a_run_that_is_cut_may_lose_new_ones():
    app = opened("guide")
    labels = [app.controls[name].options for name in ("contents", "guessed")]
    app.choose("guessed", 0)
    assert [app.controls[name].options for name in ("contents", "guessed")] == labels


def test_the_box_for_a_sentence_keeps_its_place_when_the_answer_comes():
    app = chapter_of("trained")
    before = place(app._tree, box(app))
    app.choose("guessed", 0)
    assert before == place(app._tree, box(app)) != []


def place(block: Any, key: str) -> list[int]:
    """The position of a widget in its block, and of that in its own, from the whole page down."""
    for at, each in getattr(block, "children", {}).items():
        below = place(each, key)
        if below or str(getattr(each, "key", "")).partition(":")[0] == key:
            return [at, *below]
    return []


YOURS = "My grandmother bakes bread in the old kitchen"


def test_a_sentence_typed_before_goes_through_the_guide_where_it_teaches_well():
    packaged("minilm")
    app = opened("explore", s=YOURS).go("guide")
    shown = []
    for chapter in CHAPTERS:
        notes = " ".join(app.notes)
        assert "The figure shows your sentence" not in notes
        if app.view["s"] == YOURS:
            shown.append(chapter.name)
            assert app.controls["guessed"].label == (
                chapter_page.on_yours(
                    viewed("guide", chapter=chapter.name, s=YOURS), chapter
                ).question
            )
        elif chapter.figure not in WORDLESS:
            assert f"Here the chapter keeps its own sentence: {chapter.own}" in app.notes
        if chapter is not CHAPTERS[-1]:
            app.press("Next")
    six = ["scores", "softmax", "weighted-sum", "queries-keys-values", "many-heads", "trained"]
    assert shown == six
    app.go("explore")
    assert app.view["s"] == YOURS


def test_one_line_says_why_a_sentence_does_not_teach_well_in_a_chapter():
    packaged("minilm")
    reasons = {
        "good tea": "it needs at least 3 words.",
        "the cat " * 13: "yours is long for its figure.",
        "o gato persegue zzxqy vvwqx": "too few of your words are known here.",
    }
    for text, why in reasons.items():
        assert chapter_page.why_not_yours(NAMED["scores"], text) == why
    cut = "zzxqyw vvwqxx qqzzyx"
    why = "your words are read in pieces here."
    assert chapter_page.why_not_yours(NAMED["many-heads"], cut) == why
    assert not chapter_page.takes(NAMED["many-heads"], " ".join(["<b>", "a", "**b**", "c"]))


@over("text", SENTENCES[::9])
def test_the_words_on_any_sentence_are_true_of_its_figure(text):
    packaged("minilm")
    for chapter in (chapter for chapter in CHAPTERS if chapter.yours):
        assert chapter_page.takes(chapter, text)
    view, chapter = of_chapter("many-heads", s=text)
    result, query = chapter_page.result(view, chapter), chapter_page.selection(view, chapter)
    at = query["values"]["query"]
    rows = result.trace.weights
    assert (int(rows[at].argmax()), int(rows[at - 1].argmax())) == (at - 1, at - 2)
    names = distinct_names(result.tokens)
    asked = chapter_page.on_yours(view, chapter)
    assert asked.choices == (names[at - 1], names[at - 2], f"{names[at]} itself")
    assert f"*{names[at]}*" in asked.question
    view, chapter = of_chapter("scores", s=text)
    result, words = chapter_page.result(view, chapter), chapter_page.on_yours(view, chapter)
    assert f" = {result.trace.scores.numel()} scores" in words.because
    assert f" = {4 * result.trace.scores.numel()}," in words.because
    view, chapter = of_chapter("weighted-sum", s=text)
    at = chapter_page.selection(view, chapter)["values"]["query"]
    result, words = chapter_page.result(view, chapter), chapter_page.on_yours(view, chapter)
    other = words.hint.split("*")[1]
    assert distinct_names(result.tokens).index(other) != at


def test_the_default_sentence_typed_is_the_visitors_own_and_stays_so_in_the_link():
    default, app = "the cat walks on the street", chapter_of("scores", guess=0)
    own = app.sent["copy_link"].header["title"]
    app.choose(box(app), "the cat").choose(box(app), default)
    assert (app.view["s"], len(tokens(app))) == (f"{default} ", 6)
    link = chapter_of("scores", s=f"{default} ")
    assert own != app.sent["copy_link"].header["title"] == link.sent["copy_link"].header["title"]


def test_taken_from_the_opening_the_guide_shows_its_own_sentences_and_explore_has_it_again():
    app = opened("explore", **OPENING)
    app.query_params.clear()  # as the menu does in a browser
    app.go("guide")
    for chapter in CHAPTERS[:2]:
        assert title(app) == chapter.title
        assert "The figure shows your sentence." not in " ".join(app.notes)
        assert "s" not in app.query_params
        assert f"“{chapter.sentence}”" in app.heading[2] or not chapter.sentence
        app.press("Next")
    app.go("explore")
    assert app.query_params["s"] == app.view["s"] == OPENING["s"]


@each_chapter
def test_with_a_sentence_of_ones_own_every_chapter_says_whose_words_it_speaks_of_and_links_out(
    name,
):
    chapter, app = NAMED[name], chapter_of(name, s=MINE, scale="none")
    speaks = f"are about “{chapter.sentence}”. The figure shows your sentence."
    own = chapter.figure not in WORDLESS and not chapter_page.takes(chapter, MINE)
    assert (speaks in " ".join(app.notes)) == own
    assert bool(box(app)) == (chapter.figure not in WORDLESS)
    if not chapter.page:
        assert chapter is CHAPTERS[-1], "the last chapter has invitations"
        return
    (button,) = app.get("link_button")
    page, _, query = button.proto.url.partition("?")
    assert page == ("." if chapter.page == first_page().name else chapter.page)
    texts = parse_qs(query)
    assert check(texts, chapter.page) == []
    here = chapter.where(sources.names()).link
    assert texts == {name: list(some) for name, some in here.items()} | {"s": [MINE]}


def test_the_last_chapter_ends_on_a_next_word_the_head_that_found_it_and_a_card():
    packaged("smollm2")
    app = chapter_of("trained", guess=1).finished()
    drawn = app.sent["next_pieces"].header
    assert drawn["shares"] == sorted(drawn["shares"], reverse=True)
    assert drawn["texts"][0].strip("·") == "Paris"
    card = app.sent["card"].header
    assert (card["following"], card["query"]) == ("Paris", len(card["pieces"]) - 1)
    assert sum(card["weights"]) == pytest.approx(1, abs=1e-4)
    assert app.tables[-1][""][:2] == ["with all heads", "without layer 23 head 4"]
    links = [button.proto.url.partition("?") for button in app.get("link_button")]
    assert [page for page, *_ in links] == [".", "model", "write"]
    for page, _, query in links:
        assert check(parse_qs(query), page.replace(".", first_page().name)) == []
    app.tell("next_pieces", "piece", 0)
    assert app.view["s"].endswith("Paris")


def test_a_visitors_settings_neither_show_nor_change():
    elsewhere = {"scale": "none", "mask": ["causal"], "variant": "gaussian"}
    app = opened("explore", **elsewhere, query=3).go("guide")
    app.choose("contents", [*NAMED].index("many-heads")).tell("head_grid", "head", 1)
    assert app.sent["head_grid"].header["chosen"] == 1
    assert app.sent["picture"].header["masks"] == []
    assert app.sent["picture"].header["scale"] == pytest.approx(32**-0.5)
    app.move(query=6, stage="scores")
    assert app.selection == {"query": 6, "stage": "scores"}
    app.press("Next")
    assert app.selection == {"query": 3, "stage": "weights"}, "a selection is that of one chapter"
    app.go("explore")
    assert app.selection == {"query": 3, "stage": "weights"}
    values = app.values | {"variant": app.values["reader"]}
    assert {name: values[name] for name in elsewhere} == elsewhere


def test_the_slider_stays_where_it_was_left_until_the_chapter_changes():
    def factor(app: App) -> float:
        return float(app.sent["rows"].header["slider"]["at"])

    app = chapter_of("softmax").tell("rows", "factor", 5.0)
    assert (factor(app), "b_factor" in app.query_params) == (5, False)
    assert factor(app.press("Next").press("Back")) == 3


@over("name", [name for name, chapter in NAMED.items() if chapter.reveal])
def test_an_answer_is_shown_in_the_figure_of_its_chapter(name):
    chapter = NAMED[name]
    theirs = {} if chapter.yours else {"s": "a cat and a dog"}
    app = chapter_of(name, guess=chapter.answer, **theirs).press("Show it in the figure")
    assert "s" not in chapter.reveal or "are about" not in " ".join(app.notes)
    query = chapter.reveal.get("query", [str(app.selection.get("query"))])
    assert str(app.selection.get("query")) == query[-1]


# Lessons of an owner's


def test_a_lesson_of_the_owners_is_offered_and_shown(own):
    app = chapter_of("one-word")
    assert title(app) == CHAPTERS[0].title
    app.choose("lesson_menu", "own")
    assert (title(app), tokens(app), app.selection["query"]) == ("Mine", ["good", "tea"], 1)
    assert not app.get("link_button")
    (own / "1.md").write_text(OWN.replace("Mine", "Changed"), "utf-8")
    os.utime(own / "1.md", (0, 0))
    assert title(opened("guide", lesson="own")) == "Changed"


def test_a_head_that_has_learned_nothing_is_learned_once_that_is_asked_for(monkeypatch):
    app = chapter_of("learning")
    assert app.sent["learning_figure"].header["steps"] == [0]
    settings = learning_controls.held(chapter_page.training_of(NAMED["learning"]))
    over = finished(settings.task)
    monkeypatch.setattr(learning_controls, "_runs", {settings: replace(over, settings=settings)})
    app.press("learn").choose("guessed", 1)
    shown = app.sent["learning_figure"].header
    assert (shown["steps"][-1], shown["brief"], shown["plays"]) == (over.last.step, True, True)


def test_a_mistake_in_a_lesson_is_told_with_its_line_and_the_others_are_shown(own):
    (own / "0.md").write_text(OWN.replace("figure: picture", "figure: <b>"), "utf-8")
    app = opened("guide", lesson="own")
    note = "This lesson has a mistake. 0.md, line 3: HTML is not allowed, only Markdown."
    assert (app.notes, title(app)) == ([note], "Mine")
    (own / "1.md").unlink()
    app = opened("guide", lesson="own")
    assert (len(app.missing), len(app.notes)) == (1, 1)
    (own / "0.md").unlink()
    assert "no files whose names end in .md" in opened("guide", lesson="own").notes[0]


def test_no_link_names_a_folder(monkeypatch):
    monkeypatch.delenv(OWN_LESSONS_VARIABLE, raising=False)
    app = opened("guide", lesson="own")
    assert "lesson must be one of guide, link, got 'own'; showing guide instead." in app.notes
    assert "lesson_menu" not in app.controls


def test_a_word_taken_away_leaves_its_weight_to_the_others_until_it_is_brought_back():
    chapter = NAMED["weighted-sum"]
    app = chapter_of(chapter.name)
    texts, before = app.sent["away"].header["texts"], app.sent["picture"].parts
    assert texts == tokenize(chapter.sentence or "")
    sugar = texts.index("sugar")
    app.tell("away", "example", sugar)
    assert app.sent["away"].header["gone"] == [sugar]
    assert not app.sent["picture"].parts["weights"][:, sugar].any()
    hidden = app.sent["picture"].hidden[app.selection["query"]]
    assert hidden.nonzero().flatten().tolist() == [sugar]
    app.tell("away", "example", sugar)
    assert torch.equal(app.sent["picture"].parts["weights"], before["weights"])
    app.choose("guessed", 0).tell("away", "example", sugar)
    app.choose(box(app), "good morning my friend")
    assert app.sent["away"].header["gone"] == []
    assert not app.sent["picture"].hidden.any()
    assert "cells" not in app.query_params
