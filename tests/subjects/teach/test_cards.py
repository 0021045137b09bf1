"""Cards of a lesson: what they do not ask for stays, and what is typed is in the lesson."""

from __future__ import annotations

import pytest

from attention.subjects.guide.carried import EXAMPLE
from attention.subjects.guide.chosen_lesson import check
from attention.subjects.guide.reading import MAX_CHAPTERS, read_text
from attention.subjects.teach.cards import EXAMPLE_CARD, NEW, Card, Draft, on_card, read_cards
from tests.cases import over
from tests.hostile import HOSTILE

WRITTEN = """---
title: "Scores"   # kept short
colour: [red, 'a: b']
figure: picture
choices:
- this
- "2"
answer: 2
question: >
  Which
  one?
link: "s=a+cat&mask=causal&mask=window"
because: 'It is.'
---

Words.

===

---
{title: Second, figure: spread, question: "Why?", choices: [a, b], answer: b, because: So.}
---
More words.
"""
FIRST, SECOND = read_cards(WRITTEN)


def test_a_card_says_what_its_chapter_says():
    assert (FIRST.text("title"), FIRST.text("question")) == ("Scores", "Which one?")
    assert (FIRST.texts("choices"), FIRST.right) == (["this", "2"], 1)
    assert (FIRST.body, FIRST.setting("s")) == ("Words.", "a cat")
    assert (SECOND.texts("choices"), SECOND.right, SECOND.setting("s")) == (["a", "b"], 1, "")


@over("text", [*HOSTILE, "a\n---\nb", "a\n===\nb", "# a", "- b", "{c", "&d *e"])
def test_any_text_in_a_field_is_in_the_lesson_as_it_was_typed(text):
    draft, typed = Draft.begun(WRITTEN), "\n".join(text[:1900].splitlines()).strip()
    for name in ("title", "because", "new"):
        now = draft.changed(0, lambda card, name=name: card.with_values({name: text[:1900]}))
        first, second = read_cards(now.text)
        given = {**FIRST.given, name: typed}
        assert first.given == {key: value for key, value in given.items() if value}
        assert (first.body, second) == (FIRST.body, SECOND)
    now = draft.changed(0, lambda card: card.with_body(text[:1900]))
    first, second = read_cards(now.text)
    assert first.body.replace(" ===", "===") == typed
    assert (first.given, second) == (FIRST.given, SECOND)
    now = draft.changed(0, lambda card: card.with_settings(s=text[:300]))
    assert read_cards(now.text)[0].setting("s") == text[:300]
    assert read_cards(now.text)[0].link["mask"] == ["causal", "window"]


def test_the_right_answer_stays_right_while_its_words_do_and_a_reply_with_its_answer():
    for choices, answer in (
        (["2", "this", "that"], "2"),
        (["this", "that"], ""),  # its words are gone
        (["one"], ""),
    ):
        assert FIRST.with_choices(choices).text("answer") == answer
    card = FIRST.with_reply(1, "Why so?")
    assert card.replies == ["", "Why so?"]
    assert card.with_choices(["new", "2", "this"]).replies == ["", "Why so?", ""]
    assert card.with_choices(["this", "two"]).replies == ["", "Why so?"]
    assert "replies" not in card.with_reply(1, "").given


def test_replies_are_one_for_each_choice():
    said = EXAMPLE.replace("answer: they shrink", 'replies: [No., "", Yes.]\nanswer: they shrink')
    assert read_text(said, check).chapters[0].replies == ("No.", "", "Yes.")
    (problem,) = read_text(said.replace('"", ', ""), check).problems
    assert problem.endswith("replies must be one for each of the 3 choices, got 2.")


def test_a_lesson_has_no_more_cards_than_chapters_that_are_read():
    chapter = "---\ntitle: A\n---\n"
    full = Draft.begun("===\n".join([chapter] * MAX_CHAPTERS))
    assert len(full.cards) == MAX_CHAPTERS == 100
    assert full.added() is full
    with pytest.raises(ValueError, match=r"The lesson has more than 100 chapters\."):
        read_cards("===\n".join([chapter] * 101))


def test_cards_are_added_moved_removed_and_brought_back():
    first, last = (card.text("title") for card in Draft.begun(EXAMPLE).cards)
    empty = Draft.begun(EXAMPLE).added()
    longer = empty.changed(empty.opened, lambda _: EXAMPLE_CARD)

    def titles(draft: Draft) -> list[str]:
        return [chapter.title for chapter in read_text(draft.text, check).chapters]

    assert (titles(empty), empty.card) == ([first, last], NEW)
    assert titles(longer) == [first, "Chapter 2", last]
    moved = longer.moved(-1)
    assert (titles(moved), moved.card) == (["Chapter 1", first, last], EXAMPLE_CARD)
    lesson = read_text(moved.text, check)
    assert [chapter.lesson for chapter in lesson.chapters] == ["A first look", "", ""]
    shorter = moved.removed()
    assert (titles(shorter), shorter.at, shorter.before) == ([first, last], 0, moved)
    assert shorter.changed(shorter.opened, lambda card: card.with_body("x")).before is None
    assert shorter.moved(1).moved(-1).text == shorter.text


def test_problems_are_told_on_cards_without_lines_and_keys():
    bare = Draft.begun(EXAMPLE).changed(0, lambda card: Card({"figure": "picture"}))
    wrong = bare.changed(1, lambda card: card.with_settings(mask="round").with_body("<b>"))
    asks = "ask a question, give two to four answers, each another one, choose the right answer"
    first, second, third = map(on_card, read_text(wrong.text, check).problems)
    assert first == f"Card 1: {asks}."
    assert second.startswith("Card 2: figure: mask must be some of")
    assert third == "Card 2: HTML is not allowed, only Markdown."
    same = bare.changed(0, lambda card: EXAMPLE_CARD.with_choices(["x", "x"]))
    told = [*map(on_card, read_text(same.text, check).problems)]
    assert told == [
        "Card 1: give two to four answers, each another one.",
        "Card 1: choose the right answer.",
    ]
