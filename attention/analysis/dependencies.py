"""Methods of association against the truth, on a model whose true dependencies are known.

`python -m attention.analysis.dependencies` measures them anew and prints a table.
"""

from __future__ import annotations

import random
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attention.analysis.associations import BASELINES, METHODS, NAMED, Followed, methods_for
from attention.analysis.sentences import SENTENCES
from attention.trained import sources
from attention.trained.models import Model

ASKED, SEED = 100, 11
CHANCE = "chance"


@dataclass(frozen=True)
class Dependency:
    """A beginning of a sentence, and the token on which the next word truly depends.

    text: up to the word in question; key: position of that token; right, wrong: two next words,
    the first of which follows from it.
    """

    text: str
    key: int
    right: str
    wrong: str


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


# A model whose truth is known is one entry.
KNOWN: Mapping[str, Callable[[], Sequence[Dependency]]] = {sources.CONSTRUCTED.about.name: repeats}


def sentences_for(model: str) -> Sequence[str]:
    """Sentences of the kind that a model knows: the packaged ones, or its own."""
    return [one.text for one in KNOWN[model]()] if model in KNOWN else SENTENCES


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


@torch.no_grad()
def shares_of(model: Model, known: Sequence[Dependency]) -> dict[str, float]:
    """Shares of sentences in which the greatest association of the last token is the true one, by
    method and baseline; `CHANCE`: of a token taken at random."""
    asked = [*methods_for(model), *BASELINES]
    hits, chance = Counter[str](), 0.0
    for one in known:
        followed = followed_of(model, one)
        chance += 1 / (len(followed.pieces.kept(True)) - 1)
        for name in asked:
            hits[name] += finds(NAMED[name](followed)[-1], followed, one.key)
    return {name: hits[name] / len(known) for name in asked} | {CHANCE: chance / len(known)}


def table(shares: Mapping[str, float]) -> str:
    """Shares of all methods, baselines and chance in Markdown, the best first."""
    rows = ["| method | right |", "| --- | --- |"]
    for name in sorted(shares, key=shares.__getitem__, reverse=True):
        title = NAMED[name].title if name in NAMED else name.capitalize()
        shown = title if name in METHODS else f"*{title}*"
        rows.append(f"| {shown} | {100 * shares[name]:.0f} % |")
    return "\n".join(rows)


def main() -> None:
    """Measure the models whose truth is known, and print what was found."""
    torch.set_num_threads(1)
    for name, known in KNOWN.items():
        model = sources.load(name)
        print(f"{model.about.title}\n\n{table(shares_of(model, known()))}\n", flush=True)


if __name__ == "__main__":
    main()
