"""Sentences of the opening on a word that looks: a question, a line, and what to expect."""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Sequence

from attention.analysis.words import slots, whole_words
from attention.core.functional import Trace
from attention.core.printing import distinct_names, fixed, listed, percent
from attention.pipeline import Result
from attention.trained import sources

EVEN = 0.2  # a row whose greatest weight lies below that is spread out
CLOSE = 0.05  # weights no further apart cannot be told apart at a glance
MOST_NAMED = 3
UNKNOWN = "[UNK]"  # piece of a text that no other piece of a model is like

PRONOUNS = """it he she they him her them his its hers their theirs itself himself herself
themselves"""
DETERMINERS = "the a an this that these those my your our some any no every each another"
# Words that name nothing. In English, what is left are nouns, verbs, adjectives and adverbs.
OTHERS = """and or but nor so yet if because since while although though when where than as which
who whom whose what why how to of in on at by for with from into onto over under about after before
between through during without within against near off out up down i you we me us one there here not
too very just also only even still again more most is are was were be been being am do does did done
have has had having will would can could shall should may might must said says say n't 's 'm 'd 'll
're 've"""
_PRONOUNS, _DETERMINERS = ({*text.split()} for text in (PRONOUNS, DETERMINERS))
_FUNCTION_WORDS = _PRONOUNS | _DETERMINERS | {*OTHERS.split()}
NO_NOUNS = re.compile(r"(?:ly|ous|ful|ive|able|ible|[^aeiou]{1,2}ed)$")


def question(name: str, on_vectors: bool = False) -> str:
    """The question that arcs from a word answer; on_vectors: no trained model reads it."""
    asked = f"hich word does “{name}” look at?"
    return f"On word vectors, w{asked}" if on_vectors else f"W{asked}"


def asked_about(tokens: Sequence[str]) -> int:
    """The position of the word of a sentence to open on: a pronoun, else the last noun, else the
    last word.

    A noun is told by the words around it alone: the last of those between a determiner and the
    next function word, or else the last word that is no function word.
    """
    words = [token.removeprefix("·").removeprefix("▁").casefold() for token in tokens]
    pronouns = [at for at, word in enumerate(words) if word in _PRONOUNS]
    if pronouns:
        return pronouns[-1]
    named = [at for at, word in enumerate(words) if _may_be_noun(word)]
    after = [at for at in named if _follows_determiner(words, at)]
    ends = [at for at in after if at + 1 not in named]
    written = [at for at, word in enumerate(words) if any(map(str.isalnum, word))]
    return next(iter([*ends[-1:], *named[-1:], *written[-1:]]), max(0, len(words) - 1))


def _may_be_noun(word: str) -> bool:
    return word.isalpha() and word not in _FUNCTION_WORDS and not NO_NOUNS.search(word)


def _follows_determiner(words: Sequence[str], at: int) -> bool:
    """True if no function word stands between a word and a determiner before it."""
    before = words[:at][::-1]
    first = next((word for word in before if word in _FUNCTION_WORDS or not word.isalpha()), "")
    return first in _DETERMINERS


def line(
    row: Sequence[float], names: Sequence[str], query: int, seen: int | None = None
) -> list[str]:
    """Sentence on the keys that a query looks at: its parts, every second of which stands out.

    row: its weights, none below 0; names: of the keys, one of which is the query itself; seen: how
    many of them the mask lets it see, None = all.
    """
    said, order = f"“{names[query]}”", _order(row)
    if not any(row):
        return [f"{said} may look at nothing: the mask hides every word."]
    first, second = order[0], order[1] if len(order) > 1 else None
    if (len(row) if seen is None else seen) == 1:
        return [f"{said} can see only ", _named(names, first, query), "."]
    if second is None or not row[second]:
        return [f"{said} looks only at ", _named(names, first, query), "."]
    if _is_spread(row, order):
        return [
            f"{said} spreads its attention: the most that a word gets is {percent(row[first])}."
        ]
    ends = [_named(names, key, query) for key in (first, second)]
    if row[first] - row[second] < CLOSE:
        shares = [percent(row[key]) for key in (first, second)]
        both = [ends[0], f" {shares[0]}, ", ends[1], f" {shares[1]}: it cannot decide."]
        return [f"{said} looks at ", *both]
    if row[first] >= 0.5 and (first != query or row[second] < CLOSE):
        return [f"{said} looks at ", ends[0], f", {percent(row[first])}."]
    return [
        *(f"{said} looks most at ", ends[0], f", {percent(row[first])}, then at "),
        *(ends[1], f", {percent(row[second])}."),
    ]


def signed_line(row: Sequence[float], names: Sequence[str], query: int) -> list[str]:
    """Describe the values that a query's output adds and takes away, in sentences: parts as in
    `line`.

    row: its weights, of any sign.
    """
    said, total = f"“{names[query]}”", fixed(math.fsum(row), 2)
    most, least = (
        max(range(len(row)), key=row.__getitem__),
        min(range(len(row)), key=row.__getitem__),
    )
    if not any(row):
        return [f"{said} takes nothing in: all its weights are 0."]
    parts = []
    if row[most] > 0:
        parts = [f"{said} adds most of ", _named(names, most, query), f", {fixed(row[most], 2)}"]
    if row[least] < 0:
        begins = f"{parts[-1]}, and takes " if parts else f"{said} takes "
        parts = [*parts[:-1], begins, _named(names, least, query)]
        parts.append(f" away, {fixed(row[least], 2)}")
    return [*parts[:-1], f"{parts[-1]}. Its weights are no shares: they sum to {total}."]


def change(
    row: Sequence[float],
    other: Sequence[float],
    names: Sequence[str],
    query: int,
    endings: tuple[str, str],
) -> list[str]:
    """Describe how a row differs with another last word, in a sentence like that of `line`.

    row, other: with the first of `endings` and with the second; names: of all tokens but the last.
    Empty for the last word itself, and where a row is empty.
    """
    names = [*names, endings[1]]
    last = len(row) - 1
    if query == last or len(other) != len(row) or not any(row) or not any(other):
        return []
    order_before, order = _order(row), _order(other)
    (before, runner_up), (first, second) = order_before[:2], order[:2]
    ends = [_named(names, key, query) for key in (first, second)]
    share, next_share = percent(other[first]), percent(other[second])
    more = other[first] - row[first]
    if _is_spread(other, order):
        said = [f" spreads its attention: the most that a word gets is {share}."]
    elif other[first] - other[second] < CLOSE:
        said = [" cannot decide: ", ends[0], f" {share}, ", ends[1], f" {next_share}."]
    elif first != before and (first == last or row[before] - row[first] >= CLOSE):
        said = [" looks most at ", ends[0], f" instead, {share}."]
    elif first == last or first != before:
        said = [" looks most at ", ends[0], f", {share}."]
    elif abs(more) < CLOSE:
        led = row[before] - row[runner_up] >= CLOSE and not _is_spread(row, order_before)
        said = [f"{' still' if led else ''} looks most at ", ends[0], f", {share}."]
    elif more > 0:
        said = [" looks at ", ends[0], f" more, {share}."]
    elif other[second] >= other[first] / 2:
        said = [f" divides its attention: {ends[0]} {share}, {ends[1]} {next_share}."]
    else:
        said = [" looks at ", ends[0], f" less, {share}."]
    changed = ["Change ", endings[0], " to ", endings[1]]
    return [*changed, f" and “{names[query]}”{said[0]}", *said[1:]]


def _is_spread(row: Sequence[float], order: Sequence[int]) -> bool:
    """True if no weight of a row, or more than two of them, stand out. order: of its keys."""
    third = row[order[2]] if len(row) > 2 else 0.0
    return row[order[0]] < EVEN or row[order[0]] - third < CLOSE


def _order(row: Sequence[float]) -> list[int]:
    return sorted(range(len(row)), key=lambda key: -row[key])


def _named(names: Sequence[str], key: int, query: int) -> str:
    return "itself" if key == query else names[key]


def lines_of(
    trace: Trace,
    tokens: Sequence[str],
    other: tuple[str, Trace] | None = None,
    on_vectors: bool = False,
) -> list[tuple[str, list[str]]]:
    """For each token its question, and its line in parts, see `line`.

    trace: of one head, over the tokens as they are shown; other: another last word, and the trace
    with that one, which the lines go on to; on_vectors: no trained model reads the sentence.
    """
    names, rows = distinct_names(tokens), trace.weights.tolist()
    if not trace.weights_are_a_distribution:
        return [
            (
                f"Which words make the new vector of “{names[query]}”?",
                signed_line(row, names, query),
            )
            for query, row in enumerate(rows)
        ]
    whole = [len(names)] * len(rows)
    seen = whole if trace.mask is None else trace.mask.sum(-1).tolist()
    # A marker behind the last word is no word that could be exchanged.
    ending, others = ("", [])
    if other and other[0] != tokens[-1]:
        ending, others = other[0], other[1].weights.tolist()
    found = []
    for query, row in enumerate(rows):
        said = line(row, names, query, seen[query])
        if len(others) == len(rows) and seen[query] > 1:
            more = change(row, others[query], names[:-1], query, (names[-1], ending))
            said = [*said[:-1], f"{said[-1]} {more[0]}", *more[1:]] if more else said
        found.append((question(_whole_word(tokens, query) or names[query], on_vectors), said))
    return found


def _whole_word(tokens: Sequence[str], query: int) -> str:
    """The word that a piece belongs to, "" where that is the piece alone."""
    spaced = any(token.startswith(("·", "▁")) for token in tokens[1:])

    def goes_on(at: int) -> bool:
        return tokens[at].startswith("##") or (spaced and at > 0 and tokens[at][:1].isalpha())

    first, end = query, query + 1
    while first and goes_on(first):
        first -= 1
    while end < len(tokens) and goes_on(end):
        end += 1
    return whole_words(tokens[first:end], [0] * (end - first))[0] if end - first > 1 else ""


def as_typed(text: str, tokens: Sequence[str]) -> list[str]:
    """Tokens in the letters of the text that they were read from, where nothing else was changed.

    A model may read small letters alone, and none with an accent.
    """
    spots = [(at, _folded(letter)) for at, letter in enumerate(text) if not letter.isspace()]
    positions = [at for at, folded in spots for _ in folded]
    marked = [re.match("(##|▁|·)?(.*)", token, re.DOTALL) for token in tokens]
    parts = [(found.group(1) or "", found.group(2)) for found in marked if found]
    if "".join(_folded(part) for _, part in parts) != "".join(folded for _, folded in spots):
        return list(tokens)
    typed, start = [], 0
    for mark, part in parts:
        end = start + len(_folded(part))
        letters = text[positions[start] : positions[end - 1] + 1] if end > start else ""
        typed.append(mark + letters)
        start = end
    whole = "".join(token.removeprefix(mark) for token, (mark, _) in zip(typed, parts, strict=True))
    return typed if whole == "".join(text.split()) else list(tokens)


@functools.lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    """Letters without case and accents."""
    parts = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def to_expect(result: Result, text: str) -> list[str]:
    """Warnings on a sentence that is not as those the model is at home in, in sentences.

    text: the sentence as it was typed.
    """
    said = []
    if split := split_words(result, text):
        language = sources.about(result.settings.model).language
        knows = f"This model knows {language}: " if language else ""
        quoted = [f"“{word[:40]}”" for word in split]
        more = len(quoted) - MOST_NAMED
        named = quoted if more <= 0 else [*quoted[:MOST_NAMED], f"{more} more"]
        verb = "is" if len(quoted) == 1 else "are"
        said.append(f"{knows}{listed(named)} {verb} read in pieces.")
    if UNKNOWN in result.tokens:
        said.append(f"{UNKNOWN} stands for letters that this model does not know.")
    if result.left_out:
        said.append(f"The last {result.left_out} did not fit and are left out.")
    return said


def split_words(result: Result, text: str) -> list[str]:
    """The words of a text that a trained model reads in more than one piece, as they were typed."""
    if result.groups is None:
        return []
    places = slots(result.groups)
    typed = as_typed(text, result.tokens)
    words = whole_words(typed, places)
    return list(dict.fromkeys(word for at, word in enumerate(words) if places.count(at) > 1))
