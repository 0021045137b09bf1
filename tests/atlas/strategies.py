"""Passports of heads that nobody measured, for claims about any: consistent as `passport` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attention.analysis.heads import MEASURES
from attention.analysis.names import WORDS
from attention.atlas.files import SCHEMA
from attention.atlas.passport import (
    Against,
    Alike,
    Atlas,
    Circuit,
    Cost,
    Effects,
    Kind,
    Mean,
    Measured,
    Name,
    Passport,
    Row,
    Text,
    Turned,
    half_of,
)
from tests.properties import strategies as st

KINDS = ("capitals", "opposites", "colours of things", "repeated names")
ANSWERS = ("·Paris", "·west", "·white", "·girl", "·12", "<b>*bold*</b>", "")
PIECES = ("·the", "·cat", "west", "·West", "white", "·black", "*", "<script>", "·princess", "#ing")
MODELS = ("smollm2", "minilm", "constructed")

shares = st.floats(0, 1)
effects = st.floats(-1, 1)
nats = st.floats(-0.5, 3)
counts = st.integers(2, 250)
several_pieces = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(tuple)


def composite(draws: Callable[..., object]) -> Callable[..., Any]:
    """Make a strategy of a function that draws."""
    made: Callable[..., Any] = st.composite(draws)
    return made


def means(of: Any) -> Any:
    """Means with their intervals. of: the strategy of a number."""

    def ordered(numbers: tuple[float, float, float], count: int) -> Mean:
        low, mean, high = sorted(numbers)
        return Mean(mean, low, high, count)

    return st.builds(ordered, st.tuples(of, of, of), counts)


def against(of: Any) -> Any:
    """Numbers beside random ones. of: the strategy of a number."""

    def ordered(value: float, numbers: tuple[float, float, float]) -> Against:
        low, mean, high = sorted(numbers)
        return Against(value, mean, low, high)

    return st.builds(ordered, of, st.tuples(of, of, of))


@composite
def rows(draw: Any, sentences: tuple[Text, ...]) -> Row:
    """A row of attention within one of some sentences."""
    sentence = draw(st.integers(0, len(sentences) - 1))
    query = draw(st.integers(0, len(sentences[sentence].pieces) - 1))
    return Row(sentence, query, (*[1 / (query + 1)] * (query + 1),))


measured = st.builds(
    Measured,
    st.sampled_from([*MEASURES]),
    *(means(shares), means(shares), means(shares), means(shares)),
)


@composite
def names(draw: Any, name: str, sentences: tuple[Text, ...]) -> Name:
    """A name that a head earned on one half, which holds on the other or not."""
    checked, shuffled, untrained = draw(means(shares)), draw(shares), draw(shares)
    holds = checked.mean > 0.5 and checked.low > max(shuffled, untrained)
    found, weight = draw(means(shares)), draw(means(shares))
    example, counter = draw(rows(sentences)), draw(st.none() | rows(sentences))
    return Name(name, found, checked, weight, shuffled, untrained, holds, example, counter)


@composite
def kinds(draw: Any, kind: str) -> Kind:
    """Effects on a kind of prompts, needed or not."""
    found, checked = draw(means(effects)), draw(means(effects))
    zero, turned = draw(st.none() | means(effects)), draw(st.none() | turns())
    return Kind(kind, found, checked, needs(found, checked), zero, turned)


def needs(*halves: Mean) -> bool:
    """If both halves surely lose five points."""
    return all(one.high < 0 and one.mean <= -0.05 for one in halves)


@composite
def turns(draw: Any) -> Turned:
    """Effects of a change as large in a random direction; nothing else says if they are less."""
    found, checked = draw(means(effects)), draw(means(effects))
    return Turned(found, checked, needs(found, checked), draw(st.booleans()))


@composite
def costs(draw: Any) -> Cost:
    """A cost to sentences at large, sure or not."""
    found, checked = draw(means(nats)), draw(means(nats))
    sure = all(one.low > 0 for one in (found, checked)) - all(
        one.high < 0 for one in (found, checked)
    )
    return Cost(found, checked, sure)


@composite
def effects_on(draw: Any, prompts: tuple[Text, ...]) -> Effects:
    """Failures without a head, on these prompts."""
    by_mean = tuple(draw(effects) for _ in prompts)
    by_zero = tuple(draw(effects) for text in prompts if text.by_zero)
    order = sorted(range(len(prompts)), key=lambda at: by_mean[at])
    hangs = [at for at in order if by_mean[at] <= -0.01][:5]
    controls = []
    for at in hangs:
        alike = [one for one in order if prompts[one].kind == prompts[at].kind]
        controls.append(min(alike, key=lambda one: abs(by_mean[one])))
    found = [draw(kinds(name)) for name in dict.fromkeys(text.kind for text in prompts)]
    found.sort(key=lambda one: one.found.mean)
    elsewhere, by_zero_elsewhere = draw(costs()), draw(costs())
    return Effects(
        by_mean,
        by_zero,
        tuple(found),
        elsewhere,
        by_zero_elsewhere,
        tuple(hangs),
        tuple(controls),
    )


circuits = st.builds(Circuit, against(effects), against(shares), against(shares))
alike = st.builds(
    Alike,
    st.sampled_from(MODELS),
    st.integers(0, 2),
    st.integers(0, 3),
    means(effects),
    means(effects),
    shares,
)


@composite
def passports(
    draw: Any, layer: int, head: int, sentences: tuple[Text, ...], prompts: tuple[Text, ...]
) -> Passport:
    """A passport of a head, over these texts."""
    return Passport(
        layer,
        head,
        tuple(draw(st.lists(measured, max_size=4, unique_by=lambda one: one.name))),
        tuple(
            draw(names(name, sentences))
            for name in draw(st.lists(st.sampled_from([*WORDS]), max_size=3, unique=True))
        ),
        tuple(draw(st.lists(rows(sentences), max_size=3))),
        draw(means(shares)),
        draw(means(shares)),
        draw(effects_on(prompts)),
        draw(st.none() | circuits),
        tuple(draw(st.lists(alike, max_size=2))),
    )


@composite
def atlases(draw: Any, most_heads: int = 2) -> Atlas:
    """An atlas of a few heads over a few texts; without prompts' answers it is one of vectors."""
    texts = [tuple(draw(several_pieces)) for _ in range(4)]
    sentences = tuple(
        Text("".join(pieces).replace("·", " "), half_of(at), pieces)
        for at, pieces in enumerate(texts)
    )
    vectors = draw(st.booleans())
    prompts = []
    for kind in draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=2, unique=True)):
        for at in range(4):
            pieces = draw(several_pieces)
            answer = "" if vectors else draw(st.sampled_from(ANSWERS[:-1]))
            before = 1.0 if vectors else draw(shares)
            text = "".join(pieces).replace("·", " ")
            prompts.append(Text(text, half_of(at), pieces, kind, answer, before, at < 2))
    shape = draw(st.lists(st.integers(1, most_heads), min_size=1, max_size=2))
    made = [
        draw(passports(layer, head, sentences, tuple(prompts)))
        for layer, count in enumerate(shape)
        for head in range(count)
    ]
    return Atlas(
        schema=SCHEMA,
        model=draw(st.sampled_from(MODELS)),
        title="A model",
        checkpoint="somebody/model",
        weights="0" * 64,
        versions={"python": "3.11.7", "torch": "2.13.0"},
        command="python -m attention.atlas smollm2",
        seed=0,
        sentences=sentences,
        prompts=tuple(prompts),
        passports=tuple(made),
    )
