"""`attention.compare(base, tuned, texts, answer=…)`: the heads that a tuning works by.

Each head is transplanted both ways, see `transplants`, and beside that stand the changes of its
weights and of its maps: of these alone nobody knows if they matter. `python -m attention.comparing`
does the same over the lines of a file, on a Dask cluster, and goes on where it was stopped.

May import: core, trained, changing, analysis, atlas, shards; torch, pandas, pyarrow.
"""

from __future__ import annotations

import argparse
import functools
import math
import random
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch import Tensor, nn

from attention.atlas.statistics import student
from attention.changing.answers import Answer, loss_of, loss_of_tokens
from attention.changing.change import Head
from attention.changing.known import Progress
from attention.changing.team import DRAWS, Found, candidates, costliest, greedily, other_teams
from attention.changing.transplants import (
    Pair,
    Transplants,
    map_changes,
    pair,
    transplants_of,
    weight_changes,
)
from attention.shards import (
    Job,
    add_options,
    check_options,
    hash_of,
    parts_of,
    problems,
    run,
    status,
)
from attention.trained import sources
from attention.trained.models import Model

Models = nn.Module | Model
POINTS = 100.0  # of a probability
HALF = 0.5  # of a change, which a team carries
MOST = 16  # heads of a team
KEPT = 16  # texts whose runs are kept
ALL = "all_put_back"

SCHEMA = pa.schema(
    [
        ("line", pa.int64()),
        ("layer", pa.int32()),
        ("head", pa.int32()),
        *((name, pa.float64()) for name in ("put_back", "put_in", "map_change")),
        *((name, pa.float64()) for name in ("base", "tuned", "all_put_back")),
        ("problem", pa.string()),
    ]
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """A base and what was tuned of it, head by head, over some texts.

    Answers and their changes are in points, hundredths of a probability, or in the unit of an
    answer that is none. Intervals, `…_low` to `…_high`, are of the mean over the texts by Student's
    t, 95 %; nan of one text.

    heads: by (layer, head): `put_back`, by how much the tuned model's answer moves with this head
    as in the base; `put_in`, the base's with the tuned one; `map_change`, of its weights on these
    texts, Jensen–Shannon divergence in bits; `qk_change`, `ov_change`, see
    `transplants.WeightChanges`; `loss_elsewhere`, by how many nats a token other texts cost more
    with this head put back, nan where none were given; `put_back_1` …, of each of the others.
    answers: by text: `text`, the answers of `base` and `tuned`, and `all_put_back`, of the tuned
    model with all heads as in the base.
    team: by size: `layer` and `head` of the one that is put back beside those before, the mean
    `answer` then, the share of the change that is `undone`, and what as many heads at random leave
    of the answer, mean and range, others of the `same_layers` and `any` others; `rank_1` … of the
    head by its `put_back` among all heads of each of the others.
    others: by number, of other tunings of the base: `change` of the answer, and `spearman`, the
    rank correlation of their `put_back` with this tuning's over all heads.
    outside_heads: the share of the change that all heads put back leave, which lies in
    feed-forwards, output projections, norms and embeddings.
    """

    heads: pandas.DataFrame
    answers: pandas.DataFrame
    team: pandas.DataFrame
    others: pandas.DataFrame
    outside_heads: float


class Question(NamedTuple):
    """A text as it is shown, what the model takes of it, and its answer."""

    text: str
    inputs: Any
    answer: Answer


@torch.no_grad()
def compare(
    base: Models,
    tuned: Models,
    texts: Any,
    answer: Any,
    *,
    others: Sequence[Models] = (),
    elsewhere: Any = (),
    tokenizer: Any = None,
    most: int = MOST,
    draws: int = DRAWS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare a base with what was tuned of it, head by head, see `Comparison`.

    base, tuned: two models of one shape, of this project or of PyTorch; texts: one, several, or the
    path of a file with one on each line; of models of PyTorch texts for their `tokenizer`, or
    inputs as the model takes them; answer: a word, as in `effects.effects`, a tuple of two, or a
    function, for all texts; or a list of these, one for each. others: further tunings of the base,
    as with other seeds; elsewhere: other texts, whose loss each head is asked for; most: heads of a
    team, 0 for none; draws: teams at random of each size; progress: is told of each text how many
    steps of how many are done, and stops all by an exception. Raises ValueError where models,
    texts and answers do not fit.
    """
    questions = questions_of(texts, answer, tokenizer, tuned)
    places = questions_of(elsewhere, 0, tokenizer, tuned) if elsewhere else []
    of = len(questions) * (1 + len(others)) + len(places) + bool(most)
    steps = iter(range(1, of + 1))

    def done() -> None:
        step = next(steps)
        if progress is not None:
            progress(step, of)

    @functools.lru_cache(KEPT)
    def sides(at: int) -> Pair:
        return pair(base, tuned, *questions[at][1:], tokenizer)

    found: list[Transplants] = []
    maps: list[Tensor] = []
    for at in range(len(questions)):
        found.append(transplants_of(sides(at)))
        maps.append(map_changes(sides(at).base.own, sides(at).tuned.own).cpu())
        done()
    is_share = not any(callable(one.answer) or isinstance(one.answer, tuple) for one in questions)
    unit = POINTS if is_share else 1.0
    numbers = Numbers(*(unit * torch.stack(each) for each in zip(*map(_parts, found), strict=True)))
    heads = heads_table(numbers, torch.stack(maps), base, tuned)
    losses = [_loss_elsewhere(base, tuned, one.inputs, done) for one in places]
    heads["loss_elsewhere"] = torch.stack(losses).mean(0).numpy() if losses else math.nan
    rows = []
    for number, other in enumerate(others, 1):
        change = []
        for one in questions:
            both = pair(base, other, *one[1:], tokenizer).tuned
            after = both.after([[head] for head in both.heads])
            change.append((after - both.asked.before, both.asked.before))
            done()
        moved, answers = (
            unit * torch.stack(each).double().cpu().mean(0) for each in zip(*change, strict=True)
        )
        heads[f"put_back_{number}"] = moved.numpy()
        rank = heads["put_back"].corr(heads[f"put_back_{number}"], method="spearman")
        rows.append((float(answers - numbers.base.mean()), float(rank)))
    team = carriers(sides, numbers.scaled(1 / unit), most, draws, seed) if most else []
    if most:
        done()
    return Comparison(
        heads,
        _answers(questions, numbers),
        _team_table(team, numbers, heads, len(others), unit),
        pandas.DataFrame(rows, columns=["change", "spearman"], index=range(1, len(others) + 1)),
        numbers.outside_heads,
    )


class Numbers(NamedTuple):
    """Transplants over texts: answers (texts,), and moves of these (texts, layers, heads)."""

    base: Tensor
    tuned: Tensor
    put_back: Tensor
    put_in: Tensor
    all_put_back: Tensor

    @property
    def change(self) -> float:
        """By how much the tuning moves the mean answer."""
        return float((self.tuned - self.base).mean())

    @property
    def outside_heads(self) -> float:
        """The share of the change that all heads put back leave."""
        return float((self.all_put_back - self.base).mean()) / (self.change or math.nan)

    def scaled(self, by: float) -> Numbers:
        return Numbers(*(by * each for each in self))


def _parts(one: Transplants) -> tuple[Tensor, ...]:
    return tuple(getattr(one, name).double().cpu() for name in Numbers._fields)


def questions_of(texts: Any, answer: Any, tokenizer: Any, model: Models) -> list[Question]:
    """Texts with what a model takes of them and their answers, see `compare`."""
    if isinstance(texts, Path):
        texts = [line for line in texts.read_text("utf-8").splitlines() if line.strip()]
    several = [texts] if isinstance(texts, str | Mapping | Tensor) else [*texts]
    if not several:
        raise ValueError("there must be at least one text, got none")
    answers = answer if isinstance(answer, list) else [answer] * len(several)
    if len(answers) != len(several):
        raise ValueError(f"answer must be one for each of {len(several)} texts, got {len(answers)}")
    return [
        Question(
            one if isinstance(one, str) else f"text {at}", _inputs(one, tokenizer, model), word
        )
        for at, (one, word) in enumerate(zip(several, answers, strict=True))
    ]


def _inputs(text: Any, tokenizer: Any, model: Models) -> Any:
    if isinstance(model, Model) or not isinstance(text, str):
        return text
    if tokenizer is None:
        raise ValueError(f"a text needs its tokenizer (tokenizer=…), got {text!r:.60}")
    return tokenizer(text, return_tensors="pt")


def _loss_elsewhere(base: Models, tuned: Models, inputs: Any, done: Callable[[], None]) -> Tensor:
    """By how many nats a token a text costs more with each head put back, of all. (heads,)."""
    loss: Any = loss_of_tokens(inputs)
    if isinstance(tuned, Model):
        loss = loss_of(tuned, tuned.run(inputs))
    side = pair(base, tuned, inputs, loss).tuned
    after: Tensor = side.after([[head] for head in side.heads]) - side.asked.before
    done()
    return after.cpu()


def heads_table(numbers: Numbers, maps: Tensor, base: Models, tuned: Models) -> pandas.DataFrame:
    """The means over texts of each head with their intervals, beside the changes of its weights.

    maps: (texts, layers, heads).
    """
    texts, layers, heads = maps.shape
    index = pandas.MultiIndex.from_product([range(layers), range(heads)], names=["layer", "head"])
    columns: dict[str, Tensor] = {}
    for name, moved in (("put_back", numbers.put_back), ("put_in", numbers.put_in)):
        mean = moved.mean(0)
        width = student(texts - 1) * moved.std(0) / texts**0.5 if texts > 1 else mean * math.nan
        columns |= {name: mean, f"{name}_low": mean - width, f"{name}_high": mean + width}
    columns["map_change"] = maps.nanmean(0)
    for name, change in zip(("qk_change", "ov_change"), weight_changes(base, tuned), strict=True):
        columns[name] = change if change.shape == maps[0].shape else maps[0] * math.nan
    numbered = {name: each.flatten().cpu().numpy() for name, each in columns.items()}
    return pandas.DataFrame(numbered, index=index)


def _answers(questions: Sequence[Question], numbers: Numbers) -> pandas.DataFrame:
    words = [one.answer for one in questions]
    named = [getattr(word, "__name__", "") if callable(word) else word for word in words]
    answers = {name: getattr(numbers, name).numpy() for name in ("base", "tuned", ALL)}
    return pandas.DataFrame({"text": [one.text for one in questions], "answer": named, **answers})


class Member(NamedTuple):
    """A head of a team, and the mean answer as it is put back beside those before; the same of as
    many heads at random, others of the same layers, and any others."""

    head: Head
    answer: float
    same_layers: Tensor
    any: Tensor


def carriers(
    sides: Callable[[int], Pair], numbers: Numbers, most: int, draws: int, seed: int
) -> list[Member]:
    """Heads that undo half of the change, one after the other by greedy search.

    Each step tries those of the greatest effect alone.
    """
    moved, before = numbers.put_back.mean(0), float(numbers.tuned.mean())
    sign = 1 if numbers.change > 0 else -1

    def after(teams: Sequence[Collection[Head]], beside: Collection[Head] = ()) -> Tensor:
        every = (sides(at).tuned.beside(beside) for at in range(len(numbers.base)))
        return torch.stack([side.after(teams) for side in every]).double().cpu().mean(0)

    def step(found: Sequence[Found]) -> Found | None:
        now = found[-1].metric if found else before
        if sign * (before - now) >= HALF * abs(numbers.change):
            return None
        off = [one.head for one in found]
        tried = candidates(moved, moved, off, sign)
        return costliest(tried, after([[head] for head in tried], off), now, sign)

    found = [*greedily(most, step)]
    heads, chance = sides(0).tuned.heads, random.Random(seed)
    counts = moved.shape[1]
    members = []
    for size, one in enumerate(found, 1):
        team = [each.head for each in found[:size]]
        same = other_teams(team, counts, draws, seed)
        rest = [head for head in heads if head not in team]
        any_ = [chance.sample(rest, size) for _ in range(draws)] if len(rest) >= size else []
        at_random = after([*same, *any_]) if same or any_ else torch.empty(0)
        members.append(Member(one.head, one.metric, *at_random.split([len(same), len(any_)])))
    return members


def _team_table(
    team: Sequence[Member], numbers: Numbers, heads: pandas.DataFrame, others: int, unit: float
) -> pandas.DataFrame:
    tuned = float(numbers.tuned.mean())
    rows = []
    for one in team:
        answer = unit * one.answer
        row = {"layer": one.head[0], "head": one.head[1], "answer": answer}
        row["undone"] = (tuned - answer) / numbers.change
        for name, drawn in (("same_layers", one.same_layers), ("any", one.any)):
            drawn = drawn if len(drawn) else torch.full((1,), math.nan)
            ends = {"": drawn.mean(), "_low": drawn.min(), "_high": drawn.max()}
            row |= {name + end: unit * float(number) for end, number in ends.items()}
        for number in range(1, others + 1):
            ranks = heads[f"put_back_{number}"].abs().rank(ascending=False, method="min")
            row[f"rank_{number}"] = int(ranks[one.head])
        rows.append(row)
    return pandas.DataFrame(rows, index=pandas.RangeIndex(1, len(rows) + 1, name="size"))


@dataclass(frozen=True)
class Comparing(Job):
    """Transplants to work out, line by line.

    base, tuned: packaged models, folders or GGUF files, tuned also an adapter's folder; answers: a
    word for all lines, or the path of a file with one for each; words: the hash of that file, ""
    where there is none.
    """

    base: str
    tuned: str
    answers: str
    words: str

    schema = SCHEMA

    def rows(self, number: int, text: str) -> Mapping[str, Sequence[Any]]:
        """The transplants of all heads over one line."""
        words = _words(self.answers) if self.words else None
        if words is not None and number > len(words):
            return self.problem(number, f"there are {len(words)} answers")
        word = words[number - 1] if words else self.answers
        try:
            sides = pair(*models_of(self.base, self.tuned), text, f" {word.strip()}")
        except ValueError as error:
            return self.problem(number, str(error))
        found, heads = transplants_of(sides), sides.tuned.heads
        of_heads = {
            "put_back": POINTS * found.put_back.flatten(),
            "put_in": POINTS * found.put_in.flatten(),
            "map_change": map_changes(sides.base.own, sides.tuned.own).flatten(),
        }
        answers = {name: POINTS * getattr(found, name) for name in ("base", "tuned", ALL)}
        return {
            "line": [number] * len(heads),
            "layer": [layer for layer, _ in heads],
            "head": [head for _, head in heads],
            **{name: numbers.tolist() for name, numbers in of_heads.items()},
            **{name: [float(number)] * len(heads) for name, number in answers.items()},
            "problem": [None] * len(heads),
        }


@functools.lru_cache(maxsize=1)
def _words(answers: str) -> list[str]:
    return Path(answers).read_text("utf-8").splitlines()


@functools.lru_cache(maxsize=1)
def models_of(base: str, tuned: str) -> tuple[Model, Model]:
    """The two models of this process."""
    known = sources.along()
    if base in known:
        source, one = known[base], sources.load(base)
    else:
        source = named = sources.find_own(base, {sources.NONE, *known})
        one = named.read()
    if tuned in known:
        return one, sources.load(tuned, lambda _: one)
    own = sources.find_tuned(tuned, source, {sources.NONE, *known})
    return one, own.read(one) if isinstance(own, sources.Adapted) else own.read()


def summary(folder: Path, job: Comparing, out: Path) -> int:
    """Write the means of all heads over the lines, as `Comparison.heads` has them, as CSV; the
    number of lines. Raises ValueError where there is none."""
    tables = [pq.read_table(part).to_pandas() for part in parts_of(folder, job)]
    found = pandas.concat(tables, ignore_index=True)
    found = found[found["problem"].isna()]
    if found.empty:
        raise ValueError("no line has an answer, see problems.csv")
    shape = (-1, *(int(found[name].max()) + 1 for name in ("layer", "head")))
    columns = {
        name: torch.tensor(found[name].to_numpy()).view(shape) for name in SCHEMA.names[3:-1]
    }
    maps = columns.pop("map_change")
    one = {name: columns[name][:, 0, 0] for name in ("base", "tuned", ALL)}
    numbers = Numbers(**{**columns, **one})
    table = heads_table(numbers, maps, *models_of(job.base, job.tuned)).assign(texts=len(maps))
    made = out.with_name(f".{out.name}")
    table.to_csv(made)
    made.replace(out)
    return len(maps)


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = argparse.ArgumentParser(
        prog="python -m attention.comparing",
        description="Transplants of all heads between a base and what was tuned of it, over the "
        "lines of a file: a Parquet file for each shard, and heads.csv with their means.",
    )
    made.add_argument("base", help="a packaged model, a folder or a GGUF file")
    made.add_argument("tuned", help="one of the same shape, or the folder of an adapter upon it")
    made.add_argument("texts", type=Path, help="a text file in UTF-8, one text on each line")
    made.add_argument(
        "--answers",
        required=True,
        help="the word whose probability is asked for, or a file with one for each line; a blank "
        "is put before it",
    )
    made.add_argument("--into", type=Path, required=True, help="the folder for the results")
    add_options(made, lines=8)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0, or 1 where it could not be done, with a word on the reason."""
    return status(functools.partial(compare_file, parser().parse_args(arguments)))


def compare_file(said: argparse.Namespace) -> str:
    """Compare two models over a file with the command's options; the line that it ends with."""
    check_options(said.lines, said.workers)
    weight_changes(*models_of(said.base, said.tuned))  # of other shapes: said before all else
    said.into.mkdir(parents=True, exist_ok=True)
    file = Path(said.answers).resolve()
    answers = (str(file), hash_of(file)) if file.is_file() else (said.answers, "")
    job = Comparing(hash_of(said.texts), said.lines, said.base, said.tuned, *answers)
    run(said.texts, said.into, job, sys.stderr, said.workers, said.cluster)
    n_problems = problems(said.into, job, said.into / "problems.csv")
    n_lines = summary(said.into, job, said.into / "heads.csv")
    return f"{n_lines:,} lines compared, {n_problems:,} with a problem"


if __name__ == "__main__":
    from attention.comparing import main as by_its_name  # as other processes know it

    sys.exit(by_its_name())
