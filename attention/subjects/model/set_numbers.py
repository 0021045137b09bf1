"""A set of prompts in place of one sentence: its answers, and all heads, once for all visitors."""

from __future__ import annotations

import base64
import hashlib
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

import pandas
import torch
from cachetools import LRUCache
from torch import Tensor

from attention.analysis import prompt_sets
from attention.analysis.prompt_sets import LEAST, LOGITS, OWN, Named, Prompt
from attention.analysis.sentences import TEXTS
from attention.app.cached import kept
from attention.app.state.shared import load_model
from attention.app.state.view import View, once_a_run
from attention.atlas.sentences import word_of
from attention.changing.effects import Effects, effects
from attention.changing.known import Progress
from attention.hosting.jobs import Step, Tell
from attention.inputs.text import plain
from attention.subjects.model import numbers
from attention.subjects.model.numbers import AnswerQuery
from attention.subjects.model.options import AS_IN, AS_OTHER, MEAN, REWORDED
from attention.trained.models import Transformer

EXAMPLE = (TEXTS / "capitals.csv").read_text("utf-8")
MOST_LETTERS = 1 << 16
IN_LINK = 6000  # letters that a set takes in a link at most
KEPT = "kept-"  # before the mark of a longer one
SEED = 0  # of the order of prompts, of rewordings and of flips
_longer: LRUCache[str, str] = LRUCache(4 << 20, getsizeof=len)
_lock = Lock()


def packed(text: str) -> str:
    """The setting that stands for the text of a set: the text itself, or where that is too long for
    a link its mark. Raises ValueError for one of too many letters."""
    if len(text) > MOST_LETTERS:
        raise ValueError(f"A set may have up to {MOST_LETTERS:,} letters, this has {len(text):,}.")
    given = text.encode("utf-8", "replace")
    short = base64.urlsafe_b64encode(zlib.compress(given, 9)).decode()
    if len(short) <= IN_LINK:
        return short
    mark = f"{KEPT}{hashlib.sha256(given).hexdigest()[:20]}"
    with _lock:
        _longer[mark] = text
    return mark


def text_of(setting: str) -> str:
    """The text of a set by its setting; "" is the example. Raises ValueError, in a sentence, where
    there is none."""
    if not setting:
        return EXAMPLE
    if setting.startswith(KEPT):
        with _lock:
            text = _longer.get(setting)
        if text is None:
            raise ValueError(
                "The set of this link was too long for a link, and is no longer kept here: put it "
                "in again to see the same."
            )
        return text
    try:
        reader = zlib.decompressobj()
        found = reader.decompress(base64.urlsafe_b64decode(setting), 4 * MOST_LETTERS)
        if not reader.eof:
            raise ValueError("its end is missing, or it is longer than any set")
        return found.decode("utf-8")
    except (ValueError, zlib.error):
        raise ValueError("The set of this link cannot be read: put it in again.") from None


@dataclass(frozen=True)
class PromptSet:
    """Prompts for a model, and how heads are switched off.

    asked: of a prompt of no text, which the way to switch heads is taken from; prompts: in their
    order; refused: a sentence on each row that is left out; reworded: the sentence that all are
    rewordings of, "" for none.
    """

    asked: AnswerQuery
    prompts: tuple[Prompt, ...]
    refused: tuple[str, ...] = ()
    reworded: str = ""

    @property
    def model(self) -> Transformer:
        return _model(self.asked.model)


def _model(name: str) -> Transformer:
    model = load_model(name)
    assert isinstance(model, Transformer)
    return model


@once_a_run
def set_of(view: View) -> PromptSet:
    """The set of a view. Raises ValueError, in a sentence, where there is none."""
    other = numbers.other_model(view)
    way = AS_OTHER if other else MEAN if view["off_to"] == AS_IN else view["off_to"]
    asked = AnswerQuery(view["model"], "", -1, way, other=other)
    if view["prompts"] == REWORDED:
        sentence = plain(view["s"])
        if len(_model(asked.model).pieces(sentence).ids) > prompt_sets.MAX_PIECES:
            most = f"up to {prompt_sets.MAX_PIECES} pieces"
            raise ValueError(f"A sentence of {most} has rewordings here.")
        variants = prompt_sets.rewordings(sentence, seed=SEED)
        return PromptSet(asked, tuple(variants), reworded=sentence)
    return PromptSet(asked, *_read(view["model"], view["prompts"]))


@kept(32)
def _read(model: str, setting: str) -> tuple[tuple[Prompt, ...], tuple[str, ...]]:
    lines = text_of(setting).splitlines()
    text = "\n".join("\t".join(map(plain, line.split("\t"))) for line in lines)
    prompts, refused = prompt_sets.read(text, _model(model))
    return tuple(prompts), tuple(refused)


# Before anything is off


@dataclass(frozen=True, eq=False)
class Before:
    """A prompt as it is: with its answer, that of the model where it asks for that.

    metrics: (3,), see `prompt_sets.metrics`; rank: of the answer among all pieces, 1 for the
    likeliest one, which is said; answer, foil: their words.
    """

    prompt: Prompt
    metrics: Tensor
    rank: int
    said: str
    answer: str
    foil: str


@kept(2048)
@torch.no_grad()
def _before_of(name: str, prompt: Prompt) -> Before:
    model = _model(name)
    run = model.run(prompt.text)
    scores = model.scores(run.hidden[-1])
    likeliest = int(scores.argmax())
    prompt = replace(prompt, answer=likeliest if prompt.answer == OWN else prompt.answer)
    rank = int((scores > scores[prompt.answer]).sum()) + 1
    ids = [likeliest, prompt.answer, *([] if prompt.foil is None else [prompt.foil])]
    said, answer, *foil = map(word_of, model.shown(ids))
    numbers_of = prompt_sets.metrics(run.hidden, model, prompt)
    return Before(prompt, numbers_of, rank, said, answer, foil[0] if foil else "")


def steps_to_before(asked: PromptSet) -> list[Step]:
    """Remaining steps until `before_of` is known."""
    name = asked.asked.model
    left = [one for one in asked.prompts if (name, one) not in _before_of.cache]

    def work(tell: Tell) -> None:
        for done, prompt in enumerate(left, 1):
            _before_of(name, prompt)
            tell(done, len(left))

    title = "Reading each prompt, all heads on"
    return [Step(title, ("before", name, asked.prompts), work)] if left else []


def own_answer(asked: PromptSet) -> str:
    """The answer to the sentence that all prompts are rewordings of."""
    return _before_of(asked.asked.model, Prompt(0, asked.reworded)).answer


def before_of(asked: PromptSet) -> list[Before]:
    """All prompts as they are, in their order."""
    return [_before_of(asked.asked.model, one) for one in asked.prompts]


# Each head off


@kept(nbytes=16 << 20, key=lambda asked, prompt, progress: (asked, prompt.answer, prompt.foil))
def _changes_of(asked: AnswerQuery, prompt: Prompt, progress: Progress) -> Tensor:
    """The change of each metric without each head. (layers, heads, 3)."""
    model = _model(asked.model)
    metric, run = partial(prompt_sets.metrics, model=model, prompt=prompt), model.run(prompt.text)
    return effects(model, run, metric, to=numbers.replacement_of(asked), progress=progress).change


def _key(asked: PromptSet, prompt: Prompt) -> tuple[AnswerQuery, int, int | None]:
    return replace(asked.asked, text=prompt.text), prompt.answer, prompt.foil


def steps_to_changes(asked: PromptSet, before: Sequence[Before]) -> list[Step]:
    """Remaining steps until every head is known on every prompt, these in random order."""
    order = random.Random(SEED).sample(before, len(before))
    title = "Switching off one head after another, prompt by prompt"
    steps = [
        Step(title, key, partial(_changes_of, key[0], one.prompt))
        for one in order
        if (key := _key(asked, one.prompt)) not in _changes_of.cache
    ]
    return [*numbers.steps_to_means(asked.asked), *steps] if steps else []


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes without each head so far.

    of: (prompts, layers, heads) by a metric, NaN of prompts that are not worked out yet; known:
    positions of those that are.
    """

    metric: str
    of: Tensor
    known: tuple[int, ...]

    @property
    def mean(self) -> Tensor:
        """Over the prompts known so far, (layers, heads); NaN before any is."""
        return self.of[[*self.known]].mean(0)


def metrics_of(before: Sequence[Before]) -> list[str]:
    """Metrics that all prompts have, the one that the rows ask for first."""
    foils = all(one.prompt.foil is not None for one in before)
    return sorted(LEAST, key=lambda name: name != LOGITS) if foils else [*LEAST][:-1]


def changes_of(asked: PromptSet, before: Sequence[Before], metric: str) -> Changes:
    """Changes of a metric so far, of the first one where the rows do not have it."""
    offered = metrics_of(before)
    metric = metric if metric in offered else offered[0]
    found = [_changes_of.cache.get(_key(asked, one.prompt)) for one in before]
    layers = asked.model.layers
    nothing = torch.full((len(layers), layers[0].attention.heads), torch.nan)
    at = [*LEAST].index(metric)
    every = torch.stack([nothing if one is None else one[..., at] for one in found])
    return Changes(metric, every, tuple(at for at, one in enumerate(found) if one is not None))


@kept(8, key=lambda asked, changes: (asked, changes.metric))
def _named_of(asked: PromptSet, changes: Changes) -> Named:
    templates = [one.template for one in asked.prompts]
    flat, least = changes.of.flatten(1), LEAST[changes.metric]
    return prompt_sets.named(flat, least, templates, seed=SEED)


def named_of(asked: PromptSet, changes: Changes) -> Named | None:
    """Heads named over a set, None before all of it is known."""
    return _named_of(asked, changes) if len(changes.known) == len(asked.prompts) else None


def frame(asked: PromptSet, before: Sequence[Before], changes: Changes) -> pandas.DataFrame:
    """A row for each prompt and head, see `Effects.frame`, with the prompt and its answer."""
    column = [*LEAST].index(changes.metric)
    whole, of_heads = torch.stack([one.metrics[column] for one in before]), changes.of.movedim(0, 2)
    every = Effects(whole, whole + of_heads, asked.asked.way, range(len(of_heads))).frame()
    rows = [before[at] for at in every["text"]]
    named = {"answer": [one.answer for one in rows], "foil": [one.foil for one in rows]}
    number, text = ([getattr(one.prompt, name) for one in rows] for name in ("number", "text"))
    return every.assign(row=number, text=text, metric=changes.metric, **named)
