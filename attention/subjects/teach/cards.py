"""A lesson that is being written: one text, and a card for each of its chapters.

Both say the same. A card is read from the lines of its chapter, and a change on it writes the lines
of what it changes: all else that a teacher has written stays as it is, comments and keys that no
card shows among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qs, urlencode

import yaml

from attention.subjects.guide.carried import EXAMPLE
from attention.subjects.guide.reading import (
    BETWEEN,
    MAX_CHAPTER,
    MAX_CHAPTERS,
    MAX_LESSON,
    Value,
    Wrong,
    chapter_name,
    front_matter,
    split,
)

NEW = """\
---
title: A new chapter
figure: picture
parts: [lines]
link: "s=the cat chased the mouse&query=2"
question: Which word does it look at most?
choices: [the cat, the mouse]
answer: the mouse
because: Say why.
---
Say in a few words what there is to see.
"""


FIRST_LINE = 2  # of the front matter


@dataclass(frozen=True)
class Card:
    """One chapter of a lesson, as it is written.

    lines: all of it; end: the number of the line that ends its front matter, from 1; places: of
    each key in the front matter its line; given: the value of each.
    """

    lines: tuple[str, ...]
    end: int
    places: Mapping[str, int]
    given: Mapping[str, Value]

    @classmethod
    def read(cls, lines: Sequence[str]) -> Card:
        """The card of some lines. Raises `reading.Wrong` where their front matter is none."""
        end, found = front_matter(lines)
        places = {name: line for name, (line, _) in found.items()}
        return cls(tuple(lines), end, places, {name: value for name, (_, value) in found.items()})

    @property
    def body(self) -> str:
        """The words before the figure."""
        return "\n".join(self.lines[self.end :]).strip()

    def text(self, name: str) -> str:
        """The value of a key that is one text, "" where there is none."""
        value = self.given.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        """The values of a key that is a list, each on one line."""
        value = self.given.get(name, [])
        return [" ".join(text.split()) for text in value] if isinstance(value, list) else []

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
    def sentence(self) -> str:
        """The sentence of its figure, "" where its link has none."""
        return self._link().get("s", [""])[-1]

    def number(self, name: str) -> int:
        """A whole number that the link of its figure says, 0 where it says none."""
        said = self._link().get(name, [""])[-1]
        return int(said) if said.isascii() and said.isdigit() and len(said) < 6 else 0

    @property
    def model(self) -> str:
        """The trained model that its figure is of, "none" for none."""
        return self._link().get("model", ["none"])[-1]

    def _link(self) -> dict[str, list[str]]:
        return parse_qs(self.text("link").removeprefix("?"), keep_blank_values=True)

    # Changes: each gives the lines of the chapter as it is then written.

    def with_body(self, words: str) -> Sequence[str]:
        """Its lines with other words before the figure."""
        lines = [f" {line}" if line.rstrip() == BETWEEN else line for line in words.splitlines()]
        return [*self.lines[: self.end], *lines]

    def with_sentence(self, sentence: str) -> Sequence[str]:
        """Its lines with another sentence in its figure, where nothing else changes."""
        link = self._link() | {"s": [" ".join(sentence.split())]}
        return self.with_values({"link": urlencode(link, doseq=True)})

    def with_number(self, name: str, number: int) -> Sequence[str]:
        """Its lines with another word, layer or head in its figure."""
        link = self._link() | {name: [str(number)]}
        return self.with_values({"link": urlencode(link, doseq=True)})

    def with_model(self, name: str) -> Sequence[str]:
        """Its lines with the figure of another model, on its first layer and head, "none" = of word
        vectors."""
        link = {
            n: texts for n, texts in self._link().items() if n not in ("model", "layer", "head")
        }
        if name != "none":
            link["model"] = [name]
        return self.with_values({"link": urlencode(link, doseq=True)})

    def with_choices(self, choices: Sequence[str]) -> Sequence[str]:
        """Its lines with other choices; the right one stays, as long as its words do."""
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

    def with_reply(self, at: int, reply: str) -> Sequence[str]:
        """Its lines with another text that is said once a choice is chosen. at: its position."""
        replies = [*self.replies[:at], reply, *self.replies[at + 1 :]]
        return self.with_values({"replies": replies if any(replies) else ""})

    def with_values(self, changed: Mapping[str, Value]) -> Sequence[str]:
        """Its lines with other values under some keys; without a key whose value is empty."""
        card = self
        for name, value in changed.items():
            card = card._with(name, _tidy(value))
        return card.lines

    def _with(self, name: str, value: Value) -> Card:
        wanted = {**self.given, name: value}
        if not value:
            del wanted[name]
        start = stop = self.places.get(name, FIRST_LINE if name == "lesson" else self.end)
        if name in self.places:
            stop = min(line for line in (*self.places.values(), self.end) if line > start)
        while stop - 1 > start and self.lines[stop - 2].lstrip()[:1] in ("", "#"):
            stop -= 1  # what stands above the next key belongs to that
        written = _written({name: value}) if value else []
        lines = [*self.lines[: start - 1], *written, *self.lines[stop - 1 :]]
        try:
            changed = Card.read(lines)
        except Wrong:
            changed = None
        if changed is not None and changed.given == wanted:
            return changed
        whole = ["---", *_written(wanted), "---"]  # one that is written in an unusual way
        lines = [*whole, *self.lines[self.end :]]
        return Card(tuple(lines), len(whole), {}, wanted)


@dataclass(frozen=True)
class Draft:
    """A lesson while it is written. Its text is what counts.

    cards: those of the text, or of the last one that could be read; problem: why the text cannot
    be read, "" where it can; names: of each card a number that it keeps wherever it moves; opened:
    that of the card to be seen; before: the draft as it was until a card was removed; link: the
    letters of the link that carries it, None where it is too long for one.
    """

    text: str
    cards: tuple[Card, ...] = ()
    problem: str = ""
    names: tuple[int, ...] = ()
    opened: int = 0
    before: Draft | None = None
    link: str | None = ""

    @classmethod
    def begun(cls, text: str, link: str = "") -> Draft:
        """The draft of a text; where that cannot be read its cards are those of the example."""
        return cls("", link=link)._with(read_cards(EXAMPLE)).written(text)

    def written(self, text: str) -> Draft:
        """The draft with another text."""
        try:
            return replace(self, text=text)._with(read_cards(text))
        except ValueError as error:
            return replace(self, text=text, problem=str(error), before=None)

    def _with(self, cards: Sequence[Card]) -> Draft:
        names = self.names if len(self.names) == len(cards) else tuple(range(len(cards)))
        opened = self.opened if self.opened in names else names[0]
        return replace(
            self, cards=tuple(cards), names=names, opened=opened, problem="", before=None
        )

    @property
    def at(self) -> int:
        """The position of the card to be seen."""
        return self.names.index(self.opened)

    @property
    def title(self) -> str:
        """The title of all its chapters, "" for none."""
        return self.cards[0].text("lesson")

    @property
    def card(self) -> Card:
        """The card to be seen."""
        return self.cards[self.at]

    def changed(self, name: int, change: Callable[[Card], Sequence[str]]) -> Draft:
        """The draft with other lines in the card of a name, the same where that is gone.

        change: gives the lines.
        """
        parts = [card.lines for card in self.cards]
        if name in self.names:
            at = self.names.index(name)
            parts[at] = tuple(change(self.cards[at]))
        return self.written(_joined(parts))

    def titled(self, title: str) -> Draft:
        """The draft with another title of all its chapters."""
        return self.changed(self.names[0], lambda card: card.with_values({"lesson": title}))

    def restored(self) -> Draft:
        """The draft with the text that its cards say."""
        return self.written(_joined([card.lines for card in self.cards]))

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
        return replace(replace(self, opened=opened)._ordered(order), before=self)

    def added(self) -> Draft:
        """The draft with a new card behind the open one, which is open then."""
        parts = [card.lines for card in self.cards]
        name, at = max(self.names) + 1, self.at + 1
        parts.insert(at, tuple(NEW.splitlines()))
        names = (*self.names[:at], name, *self.names[at:])
        longer = replace(self, names=names, opened=name).written(_joined(parts))
        return longer if not longer.problem else self  # which has no room for it

    def _ordered(self, order: Sequence[int]) -> Draft:
        """The draft with some of its cards in an order; its title stays that of all of them."""
        cards = [self.cards[self.names.index(name)] for name in order]
        parts = [card.lines for card in cards]
        if order[0] != self.names[0] and self.title:
            titles = [self.title, *[""] * len(cards)]
            parts = [
                tuple(card.with_values({"lesson": title}))
                for card, title in zip(cards, titles, strict=False)
            ]
        return replace(self, names=tuple(order)).written(_joined(parts))


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
        except Wrong as error:
            told = f"{chapter_name(number)}, line {error.line + above}: {error}."
            raise ValueError(told) from error
    return cards


def _joined(parts: Sequence[Sequence[str]]) -> str:
    between = f"\n{BETWEEN}\n"
    return between.join("\n".join(lines) for lines in parts) + "\n"


def _tidy(value: Value) -> Value:
    """A value without the signs at which lines are told apart, but for a simple line end."""
    if isinstance(value, str):
        return "\n".join(value.splitlines()).strip()
    return [" ".join(text.split()) for text in value]


def _written(values: Mapping[str, Value]) -> list[str]:
    """Values in YAML, each line of it; a list stands in one, as in [one, two]."""
    lines: list[str] = []
    for name, value in values.items():
        flow = None if isinstance(value, list) else False
        text = yaml.safe_dump(
            {name: value},
            default_flow_style=flow,
            allow_unicode=True,
            sort_keys=False,
            width=8 * MAX_CHAPTER,
        )
        lines += text.splitlines()
    return lines
