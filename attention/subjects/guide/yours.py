"""A visitor's sentence in a chapter: if it teaches well there, and the chapter's words on it.

A chapter says in its front matter from how many words on it shows a visitor's sentence. Words that
it has for that case name tokens in braces, as in {word}; only those of letters alone are named.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from attention.core.printing import distinct_names
from attention.figures import layer_words
from attention.pipeline import Result
from attention.subjects.guide.chapters import Chapter
from attention.subjects.play.pronoun_words import asked_about

MOST, LONGEST = 24, 20  # tokens of a sentence, letters of a token that is named
KNOWN = 0.5  # share of the words that have a vector
NAMED = re.compile(r"\\?\{(\w+)\\?\}")
TOKENS = ("word", "before", "earlier", "other")  # the chosen one, those before it, another one
COUNTS = ("words", "cells", "twice", "fourfold")  # tokens, their square, and those of twice as many


def named_in(chapter: Chapter) -> set[str]:
    """Everything that the words of a chapter name in braces."""
    texts = chapter.your_hint, chapter.your_question, *chapter.your_choices, chapter.your_because
    return {name for text in texts for name in NAMED.findall(text)}


def problem(chapter: Chapter, result: Result | None, words: Mapping[str, str]) -> str:
    """Why a chapter keeps its own sentence in place of the one of a result, "" where it does not.

    result: None for a sentence without words; words: see `lesson_words`.
    """
    tokens = [] if result is None else layer_words.shown(result)[0]
    written = [token for token in tokens if any(map(str.isalpha, token))]
    if result is None or len(written) < chapter.yours:
        return words["short"].format(count=chapter.yours)
    if len(tokens) > MOST:
        return words["long"]
    if chapter.figure != "finale" and sum(result.known) < KNOWN * len(result.known):
        return words["unknown"]
    if query_in(chapter, result) is None:
        return words["pieces"]
    return ""


def query_in(chapter: Chapter, result: Result) -> int | None:
    """The token of a visitor's sentence to begin with: the one to ask about, or else the last whose
    tokens can be named as the chapter does; None where there is none."""
    tokens, wanted = layer_words.shown(result)[0], named_in(chapter) & {*TOKENS}
    there = [at for at in range(len(tokens)) if wanted <= _names(tokens, at).keys()]
    asked = asked_about(tokens)
    return asked if asked in there else there[-1] if there else None


def on_yours(chapter: Chapter, result: Result) -> Chapter:
    """A chapter with its words on a visitor's sentence; its answer is not shown on another one."""
    tokens, query = layer_words.shown(result)[0], query_in(chapter, result)
    count = len(tokens)
    names = {} if query is None else _names(tokens, query)
    numbers = (count, count**2, 2 * count, (2 * count) ** 2)
    names |= dict(zip(COUNTS, map(str, numbers), strict=True))

    def filled(text: str, otherwise: str) -> str:
        return NAMED.sub(lambda found: names.get(found[1], found[0]), text) or otherwise

    of_another = bool(chapter.reveal.keys() & {"s", "query"})
    return replace(
        chapter,
        hint=filled(chapter.your_hint, chapter.hint),
        question=filled(chapter.your_question, chapter.question),
        choices=tuple(filled(text, "") for text in chapter.your_choices) or chapter.choices,
        because=filled(chapter.your_because, chapter.because),
        replies=() if chapter.your_choices else chapter.replies,
        reveal={} if of_another else chapter.reveal,
    )


def _names(tokens: Sequence[str], query: int) -> dict[str, str]:
    """Names of the tokens around one, as far as they are whole words of letters alone."""
    whole = [at for at in range(len(tokens)) if _is_word(tokens, at)]
    others = [at for at in whole if at != query]
    places: Mapping[str, int] = {
        **{"word": query, "before": query - 1, "earlier": query - 2},
        **({"other": others[-1]} if others else {}),
    }
    shown = distinct_names(tokens)
    return {name: shown[at] for name, at in places.items() if at in whole}


def _is_word(tokens: Sequence[str], at: int) -> bool:
    token, after = tokens[at], tokens[at + 1 : at + 2]
    goes_on = any(each.startswith("##") for each in after)
    return token.isalpha() and len(token) <= LONGEST and not goes_on
