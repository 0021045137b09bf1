"""A lesson as cards and as text: both say the same, and nothing that is written gets lost."""

from __future__ import annotations

import time

import pytest

from attention.subjects.guide.carried import EXAMPLE
from attention.subjects.guide.chosen_lesson import check
from attention.subjects.guide.reading import MAX_CHAPTERS, MAX_LESSON, read_text
from attention.subjects.teach.cards import Card, Draft, read_cards
from tests.hostile import HOSTILE

WRITTEN = """---
# of spring
title: "Scores"   # kept short
colour: [red, 'a: b']
figure: picture
choices:
- this
- "2"
# the last one is right
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
UNREADABLE = ["", "x", WRITTEN.replace("'It is.'", "'It is."), WRITTEN + "===\n", "y" * 70_000]


def lines(card: Card) -> str:
    return "\n".join(card.lines)


def test_a_card_says_what_its_chapter_says() -> None:
    assert (FIRST.text("title"), FIRST.text("question")) == ("Scores", "Which one?")
    assert (FIRST.texts("choices"), FIRST.right) == (["this", "2"], 1)
    assert (FIRST.body, FIRST.sentence) == ("Words.", "a cat")
    assert (SECOND.texts("choices"), SECOND.right, SECOND.sentence) == (["a", "b"], 1, "")


@pytest.mark.parametrize(
    ("changed", "before", "after"),
    [
        ({"title": "Weights"}, 'title: "Scores"   # kept short', "title: Weights"),
        ({"title": ""}, 'title: "Scores"   # kept short\n', ""),
        ({"question": "Why: so?"}, "question: >\n  Which\n  one?", "question: 'Why: so?'"),
        ({"choices": ["no", "a, b"]}, '- this\n- "2"', None),
        ({"because": "2"}, "'It is.'", "'2'"),
        ({"try": "Look."}, "'It is.'", "'It is.'\ntry: Look."),
        ({"lesson": "All"}, "# of spring", "lesson: All\n# of spring"),
    ],
)
def test_a_change_on_a_card_writes_its_own_lines_alone(
    changed: dict[str, str | list[str]], before: str, after: str | None
) -> None:
    if after is None:
        before, after = f"choices:\n{before}", "choices: ['no', 'a, b']"
    written = "\n".join(FIRST.with_values(changed))
    assert written == lines(FIRST).replace(before, after)


@pytest.mark.parametrize("text", [*HOSTILE, "a\n---\nb", "a\n===\nb", "# a", "- b", "{c", "&d *e"])
def test_any_text_in_a_field_is_in_the_lesson_as_it_was_typed(text: str) -> None:
    draft = Draft.begun(WRITTEN)
    for name in ("title", "because", "new"):
        now = draft.changed(0, lambda card, name=name: card.with_values({name: text[:1900]}))
        typed = "\n".join(text[:1900].splitlines()).strip()
        assert not now.problem
        given = {**now.cards[0].given}
        assert given.pop(name, "") == typed
        assert given.items() >= {k: v for k, v in FIRST.given.items() if k != name}.items()
        assert now.cards[1] == SECOND
    now = draft.changed(0, lambda card: card.with_body(text[:1900]))
    assert now.cards[0].body.replace(" ===", "===") == "\n".join(text[:1900].splitlines()).strip()
    assert now.cards[0].given == FIRST.given
    now = draft.changed(0, lambda card: card.with_sentence(text[:300]))
    assert now.cards[0].sentence == " ".join(text[:300].split())
    assert "mask=causal&mask=window" in now.cards[0].text("link")


def test_the_right_answer_stays_right_while_its_words_do_and_a_reply_with_its_answer() -> None:
    def right(*choices: str) -> str:
        return Card.read(FIRST.with_choices(choices)).text("answer")

    assert right("2", "this", "that") == "2"
    assert right("this", "that") == ""  # its words are gone
    assert right("one") == ""
    card = Card.read(FIRST.with_reply(1, "Why so?"))
    assert card.replies == ["", "Why so?"]
    assert Card.read(card.with_choices(["new", "2", "this"])).replies == ["", "Why so?", ""]
    assert Card.read(card.with_choices(["this", "two"])).replies == ["", "Why so?"]
    assert "replies" not in Card.read(card.with_reply(1, "")).given


def test_replies_are_one_for_each_choice_and_said_with_the_chapter() -> None:
    said = EXAMPLE.replace("answer: they shrink", 'replies: [No., "", Yes.]\nanswer: they shrink')
    assert read_text(said, check).chapters[0].replies == ("No.", "", "Yes.")
    (problem,) = read_text(said.replace('"", ', ""), check).problems
    assert problem.endswith("replies must be one for each of the 3 choices, got 2.")


def test_a_lesson_has_no_more_cards_than_chapters_that_are_read() -> None:
    chapter = "---\ntitle: A\n---\n"
    assert len(read_cards("===\n".join([chapter] * MAX_CHAPTERS))) == MAX_CHAPTERS == 100
    with pytest.raises(ValueError, match=r"The lesson has more than 100 chapters\."):
        read_cards("===\n".join([chapter] * 101))


def titles(draft: Draft) -> list[str]:
    return [card.text("title") for card in read_cards(draft.text)]


def test_cards_are_added_moved_removed_and_brought_back() -> None:
    first, new, last = "Who does what", "A new chapter", "A softer choice"
    longer = Draft.begun(EXAMPLE).added()
    assert (titles(longer), longer.card.text("title")) == ([first, new, last], new)
    assert not read_text(longer.text, check).problems
    moved = longer.moved(-1)
    assert (titles(moved), moved.card.text("title")) == ([new, first, last], new)
    assert moved.title == "A first look"
    assert [card.text("lesson") for card in moved.cards[1:]] == ["", ""]
    shorter = moved.removed()
    assert (titles(shorter), shorter.card.text("title")) == ([first, last], first)
    assert (shorter.title, shorter.before) == ("A first look", moved)
    assert shorter.titled("Another").before is None
    assert shorter.moved(1).moved(-1).text == shorter.text


@pytest.mark.parametrize("text", UNREADABLE)
def test_the_cards_of_a_text_that_cannot_be_read_are_those_of_the_last_that_could(
    text: str,
) -> None:
    draft = Draft.begun(WRITTEN).written(text)
    assert draft.text == text
    assert draft.problem
    assert draft.cards == (FIRST, SECOND)
    assert read_cards(draft.restored().text) == [FIRST, SECOND]
    assert [card.text("title") for card in Draft.begun(text).cards] == titles(Draft.begun(EXAMPLE))


def test_a_change_in_a_long_lesson_takes_no_more_than_its_length() -> None:
    times = []
    for part in (4, 1):  # of the longest
        chapter = EXAMPLE.split("===")[1].strip("\n")
        many = (MAX_LESSON // part - 2000) // (len(chapter) + 5)
        draft = Draft.begun("\n===\n".join([chapter] * many))
        begun = time.process_time()
        for _ in range(3):
            draft = draft.changed(0, lambda card: card.with_values({"title": "x" * 1000}))
        times.append(time.process_time() - begun)
    assert not draft.problem
    assert times[1] < 16 * times[0]
