"""Methods of association against the truth, on models whose true dependencies are known.

`python -m attention.analysis.dependencies` measures them anew, prints a table, and writes
`dependencies.json`.
"""

from __future__ import annotations

import functools
import json
import random
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from attention.analysis.associations import (
    BASELINES,
    METHODS,
    NAMED,
    Followed,
    erased,
    methods_for,
    ways_of,
)
from attention.analysis.sentences import SENTENCES
from attention.changing.change import Token
from attention.trained import sources
from attention.trained.models import Model
from attention.training.tasks import grammar

FILE = Path(__file__).with_suffix(".json")
ASKED, SEED = 100, 11  # of each kind; apart from those that a training is tested with
CHANCE = "chance"
UNKNOWN, EXCHANGED = "replaced by [unknown]", "given the other number"
NO_WORD = "?"  # that the vocabularies of these models do not have


@dataclass(frozen=True)
class Dependency:
    """A beginning of a sentence, and the token on which the next word truly depends.

    text: up to the word in question; key: position of that token; right, wrong: two next words,
    the first of which follows from it; exchanged: for each word of the text another one of its
    kind, or itself, where one token alone decides.
    """

    text: str
    key: int
    right: str
    wrong: str
    exchanged: Sequence[str] = ()


@dataclass(frozen=True)
class Truth:
    """Shares of sentences in which the greatest association of the last token is the true one.

    sentences: how many; shares: by method and baseline; `CHANCE`: of a token taken at random;
    erasures: the same of erasure by how a token is erased, see `erasures_of`.
    """

    sentences: int
    shares: Mapping[str, float]
    erasures: Mapping[str, float]


def subjects(clauses: int) -> list[Dependency]:
    """Verbs whose subject is known, over so many clauses whose nouns have the other number."""
    return [
        Dependency(one.begun, one.subject, *one.forms, exchanged_numbers(one.begun))
        for one in grammar.to_test(clauses, ASKED, SEED)
    ]


def exchanged_numbers(text: str) -> list[str]:
    """The words of a text, each noun and verb in its other number."""
    one = [*grammar.NOUNS, *grammar.SINGULAR_VERBS]
    several = [*(f"{noun}s" for noun in grammar.NOUNS), *grammar.PLURAL_VERBS]
    other = dict(zip(one + several, several + one, strict=True))
    return [other.get(word, word) for word in text.split()]


def repeats() -> list[Dependency]:
    """Letters of which the last one has come before: the letter that followed it comes again."""
    chance, found = random.Random(SEED), []
    for _ in range(ASKED):
        letters = chance.sample(string.ascii_lowercase, 9)
        at = chance.randrange(len(letters) - 2)
        right, wrong = letters[at + 1], letters[at + 2]
        # behind the start and the letters up to the one that is repeated
        found.append(Dependency(" ".join([*letters, letters[at]]), at + 2, right, wrong))
    return found


# By model and kind of sentence: a model whose truth is known is one entry.
KNOWN: Mapping[str, Mapping[str, Callable[[], Sequence[Dependency]]]] = {
    sources.GRAMMAR.about.name: {
        "one clause": functools.partial(subjects, 1),
        "two clauses": functools.partial(subjects, 2),
    },
    sources.CONSTRUCTED.about.name: {"a letter again": repeats},
}


def sentences_for(model: str) -> Sequence[str]:
    """Sentences of the kind that a model has learned from: the packaged ones, or its own."""
    kinds = [known() for known in KNOWN.get(model, {}).values()]
    return [one.text for each in zip(*kinds, strict=True) for one in each] or SENTENCES


def followed_of(model: Model, one: Dependency) -> Followed:
    """A beginning of a sentence whose target is the right next word rather than the wrong one."""
    right, wrong = (
        int(next(part for part in model.pieces(word).ids[[*model.pieces(word).kept(True)]]))
        for word in (one.right, one.wrong)
    )
    return Followed(model, model.pieces(one.text), (right, wrong))


def finds(found: Tensor, followed: Followed, key: int) -> bool:
    """True if the greatest association of the last token lies on a key.

    found (queries, keys). Special tokens and the last one itself are left out.
    """
    *keys, query = followed.pieces.kept(True)
    return keys[int(found[query, keys].nan_to_num(-torch.inf).argmax())] == key


def erasures_of(followed: Followed, exchanged: Sequence[str]) -> dict[str, Tensor]:
    """Moves of the target of the last token when each token is erased. (pieces,) each.

    By way: those of `associations.ways_of`; `UNKNOWN`, which no training has shown the model;
    `EXCHANGED`, another word of its kind, see `Dependency`.
    """
    model, ids = followed.model, followed.pieces.ids
    found = {way: erased(followed, way).drops[-1].abs() for way in ways_of(model)}
    unknown = model.pieces(NO_WORD).ids[-1].expand(len(ids))
    for way, others in ((UNKNOWN, unknown), (EXCHANGED, model.pieces(" ".join(exchanged)).ids)):
        several = [[Token(at, int(piece))] for at, piece in enumerate(others)]
        last = len(followed.layers) - 1
        outputs = torch.cat([runs[last] for runs in followed.changed(several)])
        moved = followed.target(followed.final(outputs)) - followed.target(followed.hidden)
        found[way] = moved[:, -1].abs()
    return found


@torch.no_grad()
def truth_of(model: Model, known: Sequence[Dependency]) -> Truth:
    """Count for each method and baseline how often it names the token that is depended on."""
    asked = [*methods_for(model), *BASELINES]
    hits, ways, chance = Counter[str](), Counter[str](), 0.0
    for one in known:
        followed = followed_of(model, one)
        chance += 1 / (len(followed.pieces.kept(True)) - 1)
        for name in asked:
            hits[name] += finds(NAMED[name](followed)[-1], followed, one.key)
        erasures = erasures_of(followed, one.exchanged) if one.exchanged else {}
        for way, row in erasures.items():
            ways[way] += finds(row.expand(len(row), -1), followed, one.key)
    shares = {name: hits[name] / len(known) for name in asked}
    right = {way: times / len(known) for way, times in ways.items()}
    return Truth(len(known), shares | {CHANCE: chance / len(known)}, right)


@functools.cache
def truths(model: str) -> Mapping[str, Truth]:
    """Measurements of a model, by kind of sentence; none where no truth is known."""
    kinds = json.loads(FILE.read_text("utf-8")).get(model, {})
    return {kind: Truth(**one) for kind, one in kinds.items()}


def title_of(name: str) -> str:
    """Title of a method, a baseline or chance."""
    return NAMED[name].title if name in NAMED else name.capitalize()


def ranked(found: Mapping[str, Truth]) -> list[str]:
    """Names of methods, baselines and chance, those that are right most often first."""

    def mean(name: str) -> float:
        return sum(one.shares[name] for one in found.values()) / len(found)

    names = next(iter(found.values())).shares
    return sorted(names, key=mean, reverse=True)


def table(found: Mapping[str, Truth]) -> str:
    """Shares of all methods in Markdown, the best first."""
    titles = {name: title_of(name) for name in ranked(found)}
    shown = {name: words if name in METHODS else f"*{words}*" for name, words in titles.items()}
    shares = {kind: one.shares for kind, one in found.items()}
    return _markdown("method", shown, shares)


def ways_table(found: Mapping[str, Truth]) -> str:
    """Shares of all ways of erasure in Markdown, "" where none was measured."""
    shares = {kind: one.erasures for kind, one in found.items()}
    ways = next(iter(shares.values()))
    return _markdown("a word is", {way: way for way in ways}, shares) if ways else ""


def _markdown(
    head: str, titles: Mapping[str, str], shares: Mapping[str, Mapping[str, float]]
) -> str:
    rows = [f"| {head} | {' | '.join(shares)} |", f"| --- |{' --- |' * len(shares)}"]
    for name, title in titles.items():
        cells = " | ".join(f"{100 * each[name]:.0f} %" for each in shares.values())
        rows.append(f"| {title} | {cells} |")
    return "\n".join(rows)


def main() -> None:
    """Measure the models whose truth is known, and write what was found."""
    torch.set_num_threads(1)
    measured = {}
    for name, kinds in KNOWN.items():
        model = sources.load(name)
        found = {kind: truth_of(model, known()) for kind, known in kinds.items()}
        measured[name] = {kind: asdict(one) for kind, one in found.items()}
        print(f"{model.about.title}\n\n{table(found)}\n\n{ways_table(found)}\n", flush=True)
    FILE.write_text(json.dumps(measured, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
