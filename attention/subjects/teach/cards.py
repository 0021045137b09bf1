"""A lesson that is being written: a card for each of its chapters, which it becomes a text of.

What a card does not ask for stays on it: all that its chapter says besides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import parse_qs, urlencode

import yaml

from attention.subjects.guide.reading import (
    BETWEEN,
    MAX_CHAPTER,
    MAX_CHAPTERS,
    MAX_LESSON,
    LessonError,
    Value,
    chapter_name,
    front_matter,
    split,
)

TITLE = "lesson"  # the key of the title of all chapters, in the first of them
# What a card asks for, where its chapter lacks it or cannot have what it says.
ASKED = {
    "question": "ask a question",
    "choices": "give two to four answers, each another one",
    "answer": "choose the right answer",
}
PROBLEM = re.compile(r"chapter (\d+), line \d+: (((?:\w+, )*\w+) (?:must|is|has) .*|.*)\.", re.S)


@dataclass(frozen=True)
class Card:
    """One chapter of a lesson: given: the value of each key in its front matter; body: the words
    before its figure."""

    given: Mapping[str, Value]
    body: str = ""

    @classmethod
    def read(cls, lines: Sequence[str]) -> Card:
        """The card of some lines. Raises LessonError where their front matter is none."""
        end, found = front_matter(lines)
        given = {name: value for name, (_, value) in found.items()}
        return cls(given, "\n".join(lines[end:]).strip())

    def text(self, name: str) -> str:
        """The value of a key that is one text, "" where there is none."""
        value = self.given.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        """The values of a key that is a list, each on one line."""
        value = self.given.get(name, [])
        return [" ".join(text.split()) for text in value] if isinstance(value, list) else []

    @cached_property
    def written(self) -> str:
        """Its chapter as text, below the line with which that begins."""
        return f"{_yaml(self.given)}---\n{self.body}"

    @property
    def right(self) -> int | None:
        """The position of the right choice, None while there is none."""
        answer = self.text("answer")
        choices = self.texts("choices")
        if answer in choices:
            return choices.index(answer)
        numbers = [str(at) for at in range(1, len(choices) + 1)]
        return numbers.index(answer) if answer in numbers else None

    @property
    def replies(self) -> list[str]:
        """A text for each choice that is said once it is chosen, "" for none."""
        count = len(self.texts("choices"))
        return [*self.texts("replies"), *[""] * count][:count]

    @property
    def link(self) -> dict[str, list[str]]:
        """The texts of each setting that its figure is made from."""
        return parse_qs(self.text("link").removeprefix("?"), keep_blank_values=True)

    def setting(self, name: str, otherwise: str = "") -> str:
        """A setting of its figure, as its link says it."""
        return self.link.get(name, [otherwise])[-1]

    def number(self, name: str) -> int:
        """A whole number that the link of its figure says, 0 where it says none."""
        said = self.setting(name)
        return int(said) if said.isascii() and said.isdigit() and len(said) < 6 else 0

    def with_values(self, changed: Mapping[str, Value]) -> Card:
        """The card with other values under some keys; without a key whose value is empty."""
        given = {**self.given, **{name: _tidy(value) for name, value in changed.items()}}
        return replace(self, given={name: value for name, value in given.items() if value})

    def with_body(self, words: str) -> Card:
        """The card with other words before the figure."""
        lines = [f" {line}" if line.rstrip() == BETWEEN else line for line in words.splitlines()]
        return replace(self, body="\n".join(lines).strip())

    def with_settings(self, **texts: str) -> Card:
        """The card with other settings of its figure; "" takes one out, nothing else changes."""
        said = {name: [text] for name, text in texts.items()}
        link = {name: some for name, some in (self.link | said).items() if some != [""]}
        return self.with_values({"link": urlencode(link, doseq=True)})

    def with_choices(self, choices: Sequence[str]) -> Card:
        """The card with other choices; the right one stays, as long as its words do."""
        before, right, replies = self.texts("choices"), self.right, self.replies
        changed: dict[str, Value] = {"choices": [*choices]}
        if right is not None:
            changed["answer"] = before[right] if before[right] in choices else ""
        if any(replies):
            of_text = dict(zip(before, replies, strict=True))
            of_place = ["" if text in choices else of_text[text] for text in before]
            of_place += [""] * len(choices)
            found = [of_text.get(text, of_place[at]) for at, text in enumerate(choices)]
            changed["replies"] = found if any(found) else ""
        return self.with_values(changed)

    def with_reply(self, at: int, reply: str) -> Card:
        """The card with another text that is said once a choice is chosen. at: its position."""
        replies = [*self.replies[:at], reply, *self.replies[at + 1 :]]
        return self.with_values({"replies": replies if any(replies) else ""})


NEW = Card({"figure": "picture", "parts": ["lines"]})
EXAMPLE_CARD = Card(
    {
        **NEW.given,
        "link": "s=the+cat+chased+the+mouse&query=4",
        "question": "Which other word does “mouse” look at most?",
        "choices": ["cat", "chased"],
        "answer": "cat",
    }
)


@dataclass(frozen=True)
class Draft:
    """A lesson while it is written.

    cards: one for each chapter; names: of each a number that it keeps wherever it moves; title: of
    all chapters, "" for none; opened: the name of the card to be seen; before: the draft as it was
    until a card was removed; link: the letters of the link that carries it, None where it is too
    long for one.
    """

    cards: tuple[Card, ...]
    names: tuple[int, ...]
    title: str = ""
    opened: int = 0
    before: Draft | None = None
    link: str | None = ""

    @classmethod
    def begun(cls, text: str, link: str = "") -> Draft:
        """The draft of a text. Raises ValueError with what keeps that from being read."""
        cards = read_cards(text)
        bare = tuple(card.with_values({TITLE: ""}) for card in cards)
        return cls(bare, tuple(range(len(cards))), cards[0].text(TITLE), link=link)

    @cached_property
    def text(self) -> str:
        """The lesson as one text."""
        title = _yaml({TITLE: self.title}) if self.title else ""
        first, *others = (card.written for card in self.cards)
        return f"\n{BETWEEN}\n".join([f"---\n{title}{first}", *(f"---\n{each}" for each in others)])

    @property
    def at(self) -> int:
        """The position of the card to be seen."""
        return self.names.index(self.opened)

    @property
    def card(self) -> Card:
        """The card to be seen."""
        return self.cards[self.at]

    def changed(self, name: int, change: Callable[[Card], Card]) -> Draft:
        """The draft with another card in place of the one of a name, the same where that is gone.

        change: gives it.
        """
        cards = [
            change(card) if here == name else card
            for here, card in zip(self.names, self.cards, strict=True)
        ]
        return replace(self, cards=tuple(cards), before=None)

    def titled(self, title: str) -> Draft:
        """The draft with another title of all its chapters."""
        return replace(self, title=" ".join(title.split()))

    def with_opened(self, name: int) -> Draft:
        """The draft with another card to be seen, if there is one of that name."""
        return replace(self, opened=name) if name in self.names else self

    def moved(self, by: int) -> Draft:
        """The draft with the open card further on. by: places, -1 = one before."""
        order = [*self.names]
        at = self.at
        order.insert(at + by, order.pop(at))
        return self._ordered(order)

    def removed(self) -> Draft:
        """The draft without the open card; the next one opens, and `before` has all of them."""
        order = [name for name in self.names if name != self.opened]
        opened = order[min(self.at, len(order) - 1)]
        return replace(self._ordered(order), opened=opened, before=self)

    def added(self) -> Draft:
        """The draft with a new card behind the open one, which is open then, if there is room."""
        name, at = max(self.names) + 1, self.at + 1
        names = (*self.names[:at], name, *self.names[at:])
        cards = (*self.cards[:at], NEW, *self.cards[at:])
        longer = replace(self, cards=cards, names=names, opened=name, before=None)
        return self if len(cards) > MAX_CHAPTERS or len(longer.text) > MAX_LESSON else longer

    def _ordered(self, order: Sequence[int]) -> Draft:
        """The draft with some of its cards in an order."""
        cards = tuple(self.cards[self.names.index(name)] for name in order)
        return replace(self, cards=cards, names=tuple(order), before=None)


def on_card(problem: str) -> str:
    """A problem of a lesson in the words of its cards, without lines and keys."""
    found = PROBLEM.fullmatch(problem)
    if found is None:
        return problem
    told = [ASKED[key] for key in (found[3] or "").split(", ") if key in ASKED]
    words = ", ".join(told) or found[2].replace("the line", "a text").replace("link:", "figure:")
    return f"Card {found[1]}: {words}."


def read_cards(text: str) -> list[Card]:
    """The cards of a text. Raises ValueError with the first thing that keeps it from being read."""
    if len(text) > MAX_LESSON:
        raise ValueError(f"The lesson has more than {MAX_LESSON:,} letters.")
    cards, parts = [], split(text)
    if len(parts) > MAX_CHAPTERS:
        raise ValueError(f"The lesson has more than {MAX_CHAPTERS} chapters.")
    for number, (above, lines) in enumerate(parts, 1):
        try:
            cards.append(Card.read(lines))
        except LessonError as error:
            raise ValueError(error.told(chapter_name(number), above)[0]) from error
    return cards


def _tidy(value: Value) -> Value:
    """A value without the signs at which lines are told apart, but for a simple line end."""
    if isinstance(value, str):
        return "\n".join(value.splitlines()).strip()
    return [" ".join(text.split()) for text in value]


def _yaml(values: Mapping[str, Value]) -> str:
    """Values in YAML; a list stands in one line, as in [one, two]."""
    return "".join(
        yaml.safe_dump(
            {name: value},
            default_flow_style=None if isinstance(value, list) else False,
            allow_unicode=True,
            sort_keys=False,
            width=8 * MAX_CHAPTER,
        )
        for name, value in values.items()
    )
