"""Names that heads earn: where they look most, counted over the packaged sentences.

`python -m attention.analysis.names` measures the packaged models anew and writes `names.json`.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor

from attention.analysis.heads import NAMINGS, Keys, Measure
from attention.analysis.sentences import PRONOUNS, SENTENCES
from attention.trained import sources
from attention.trained.models import Model, Pieces, Run
from attention.trained.sources import EN_PT, MINILM, SMOLLM2

FILE = Path(__file__).with_suffix(".json")
HOLDS = 0.5  # share of the tokens of a sentence
EARNED = 0.5  # share of the sentences
BEGINNING = 3  # words that two sentences of a pair share
MARKED = re.compile(r"([\[(])(\w+)[\])]")

READING_ENGLISH = (MINILM.about.name, EN_PT.about.name, SMOLLM2.about.name)

NOUN = "noun"
WORDS = {name: naming.words for name, naming in NAMINGS.items()} | {
    NOUN: "the noun that a pronoun stands for"
}


def targets_of(naming: Measure, pieces: Pieces) -> Tensor:
    """Keys on which the greatest weight of a head of that name lies. (pieces, pieces), bool."""
    count = len(pieces.ids)
    return naming.targets_of(torch.arange(count), count, Keys.of(pieces))


@dataclass(frozen=True)
class Named:
    """A name that a head has earned.

    share: of the sentences that have such tokens, on how many it holds: more than half of these
    tokens have their greatest weight there; sentences: how many there are, of a noun how many
    `pairs`, on both of which it must hold; best: the one on which most of the weight lies there;
    errs: of those on which it does not hold the one with the least, "" where it holds on all.
    """

    name: str
    layer: int
    head: int
    share: float
    sentences: int
    best: str
    errs: str = ""

    @property
    def over(self) -> str:
        """Number and kind of what it was counted over: "200 sentences"."""
        return f"{self.sentences} {'pairs of ' if self.name == NOUN else ''}sentences"


def shown(weights: Tensor, targets: Tensor, kept: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Rows in which a name can show, for each head: if it does, and the weight on its keys.

    It shows where one of these keys has more weight than any other, so that an even row shows
    nothing. weights (heads, queries, keys); targets (queries, keys); kept: the positions that
    count. Returns the queries that have such a key, (rows,), and (heads, rows) twice.
    """
    rows = torch.tensor([*kept])
    among = targets[rows[:, None], rows]
    queries = among.any(-1)
    asked, counted = among[queries], weights[:, rows[queries][:, None], rows]
    on, beside = (
        torch.where(which, counted, -1.0).amax(-1, keepdim=True) for which in (asked, ~asked)
    )
    return rows[queries], (on > beside).squeeze(-1), (counted * asked).sum(-1).double()


def holds(weights: Tensor, targets: Tensor, kept: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Test a name for each head on one sentence: if it holds, and the mean weight on its tokens.

    weights, targets, kept: as `shown` has them. Both (heads,), empty where no token that counts has
    such a key.
    """
    queries, right, weight = shown(weights, targets, kept)
    if not len(queries):
        return torch.empty(0), torch.empty(0)
    return right.double().mean(-1), weight.mean(-1)


def marked(text: str) -> tuple[str, str, str]:
    """A sentence as in `PRONOUNS` without its marks, its noun in brackets and its (pronoun)."""
    words = dict(MARKED.findall(text))
    return MARKED.sub(r"\2", text), words["["], words["("]


def pairs() -> list[tuple[str, str]]:
    """Neighbours among `PRONOUNS` that begin alike: in each of the two another noun is meant.

    A head that always takes the same noun is right in one of the two.
    """

    def beginning(text: str) -> list[str]:
        return marked(text)[0].split()[:BEGINNING]

    return [
        (one, other)
        for one, other in itertools.pairwise(PRONOUNS)
        if beginning(one) == beginning(other)
    ]


def noun_targets(pieces: Pieces, noun: str, pronoun: str) -> Tensor:
    """Targets of a pronoun's pieces: those of its noun. (queries, keys)."""
    plain = [text.strip("·▁#_ ").lower() for text in pieces.texts]
    targets = torch.zeros(len(plain), len(plain), dtype=torch.bool)
    asking = [at for at, text in enumerate(plain) if text == pronoun.lower()][-1:]
    for query in asking:
        targets[query, [at for at, text in enumerate(plain) if text == noun.lower()][:1]] = True
    return targets


@dataclass(frozen=True, eq=False)
class _Counted:
    """Results of a name on sentences: if it holds for each head, the weight there, where least."""

    right: Tensor
    weight: Tensor
    texts: Sequence[str]


Case = tuple[Run, str, Tensor]


def _count(cases: Sequence[Case], layer: int, sinks: bool) -> _Counted | None:
    """Count a name in one layer on sentences that it must hold on together.

    cases: each with its targets. None where one of them has none.
    """
    found = [
        holds(run.inputs[layer].trace().weights, targets, run.pieces.kept(not sinks))
        for run, _, targets in cases
    ]
    if not all(len(right) for right, _ in found):
        return None
    right = torch.stack([right > HOLDS for right, _ in found])
    weight = torch.stack([weight for _, weight in found])
    least = (2 * right + weight).argmin(0)
    texts = [cases[at][1] for at in least.tolist()]
    return _Counted(right.all(0), weight.amin(0), texts)


@torch.no_grad()
def earned(model: Model) -> list[Named]:
    """The names that the heads of a model earn over the packaged sentences, most often first."""
    counted: dict[tuple[str, int], list[_Counted]] = defaultdict(list)

    def count(name: str, cases: Sequence[Case], sinks: bool = False) -> None:
        for layer, layer_input in enumerate(cases[0][0].inputs):
            if not layer_input.layer.decodes:
                one = _count(cases, layer, sinks)
                if one is not None:
                    counted[name, layer].append(one)

    for text in SENTENCES:
        run = model.run(text)
        for naming in NAMINGS.values():
            count(naming.name, [(run, text, targets_of(naming, run.pieces))], naming.sinks)
    for pair in pairs():
        cases = []
        for text, noun, pronoun in map(marked, pair):
            run = model.run(text)
            cases.append((run, text, noun_targets(run.pieces, noun, pronoun)))
        count(NOUN, cases)
    found = []
    for (name, layer), rows in counted.items():
        right = torch.stack([row.right for row in rows])
        weight = torch.stack([row.weight for row in rows])
        shares, best = right.double().mean(0), weight.argmax(0)
        worst = weight.masked_fill(right, torch.inf).argmin(0)
        for head in (shares > EARNED).nonzero().flatten().tolist():
            text, errs = (rows[int(at[head])].texts[head] for at in (best, worst))
            errs = "" if shares[head] == 1 else errs
            found.append(Named(name, layer, head, float(shares[head]), len(rows), text, errs))
    return sorted(found, key=lambda one: (-one.share, one.layer, one.head, one.name))


@functools.cache
def names_of(model: str) -> tuple[Named, ...]:
    """The names that the heads of a model have earned; none where it was not measured."""
    return tuple(Named(**one) for one in json.loads(FILE.read_text("utf-8")).get(model, ()))


def written(found: Mapping[str, Sequence[Mapping[str, object]]]) -> str:
    """Names by model as JSON, one head a line."""
    models = []
    for name, heads in found.items():
        lines = ",\n".join(json.dumps(head, ensure_ascii=False) for head in heads)
        models.append(f"{json.dumps(name)}: [\n{lines}\n]")
    return "{\n" + ",\n".join(models) + "\n}\n"


def main() -> None:
    """Measure the packaged models that read English, and write what they have earned."""
    found = {}
    for name in READING_ENGLISH:
        found[name] = [asdict(one) for one in earned(sources.load(name))]
        print(f"{name}: {len(found[name])} names", flush=True)
    FILE.write_text(written(found), "utf-8")


if __name__ == "__main__":
    main()
