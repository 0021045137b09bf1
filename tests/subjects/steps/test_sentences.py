"""Sentences about numbers, against these numbers: tables of claims, over random settings."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attention.analysis import sweeps
from attention.analysis.sweeps import Sweep
from attention.core import masks
from attention.core.functional import Trace
from attention.core.scales import SCALES
from attention.core.settings import Setting, settings_of
from attention.core.variants import VARIANTS, Variant
from attention.figures import plots
from attention.figures.captions import parameters_words
from attention.figures.tables import number
from attention.pipeline import Settings
from attention.pipeline.computing import make_masks
from attention.pipeline.preparing import read_sentence
from attention.subjects.compare import words as compare_words
from attention.subjects.steps import Computation, StepSettings, step
from attention.trained.layers import TrainedAttention
from tests.properties import given
from tests.properties import settings as given_settings
from tests.properties import strategies as st
from tests.subjects.steps.making import drawn, layer_of, matrices, shown


@dataclass(frozen=True, eq=False)
class Said:
    """A sentence or two, where they stand, and what they are about."""

    place: str
    words: str
    about: Any


@dataclass(frozen=True)
class Claim:
    """A phrase, and what is true where it stands.

    place, phrase: as `re` reads them; holds: asked of what the words are about, and of what the
    groups of the phrase read; always: whether the phrase stands wherever that is true.
    """

    place: str
    phrase: str
    holds: Callable[..., bool]
    always: bool = False


def hold(
    claims: Iterable[Claim],
    examples: int,
    cases: Iterable[tuple[Callable[..., Iterable[Said]], Mapping[str, Any]]],
) -> None:
    """Each claim that is made holds, none is left out that should be made, and all are made once.

    cases: what says something of chosen settings, and how these are drawn.
    """
    made: set[Claim] = set()

    def check(said: Said) -> None:
        for claim in claims:
            if not re.fullmatch(claim.place, said.place):
                continue
            if found := re.search(claim.phrase, said.words):
                made.add(claim)
                assert claim.holds(said.about, *found.groups()), (claim.phrase, said.words)
            elif claim.always:
                assert not claim.holds(said.about), (claim.phrase, said.words)

    @given_settings(max_examples=examples)
    def each_holds(says: Callable[..., Iterable[Said]], **chosen: Any) -> None:
        for said in says(**chosen):
            check(said)

    for says, settings in cases:
        given(says=st.just(says), **settings)(each_holds)()
    assert [claim.phrase for claim in claims if claim not in made] == []


# Random settings


def one_of(about: Setting) -> Any:
    """Any value of a setting, of numbers the small ones."""
    if isinstance(about.default, tuple):
        return st.lists(st.sampled_from(about.choices), unique=True).map(tuple)
    if about.choices:
        return st.sampled_from(about.choices)
    low, high = about.minimum or 0, min(about.maximum or 9, 9)
    return st.integers(int(low), int(high)) if about.step == 1 else st.floats(low, high)


@st.composite
def settings_with(draw: Callable[[Any], Any], variant: str = "") -> Settings:
    """Any settings of a short sentence whose words may come again; of that variant, or of any."""
    declared = settings_of(Settings)
    variant = variant or draw(one_of(declared["variant"]))
    own = settings_of(VARIANTS[variant].Config)
    drawn_from = ("mask", "valid_len", "radius", "positions", "head", "seed")
    return Settings(
        **{name: draw(one_of(declared[name])) for name in drawn_from},
        s=" ".join(draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=6))),
        variant=variant,
        vectors="random",
        d_model=draw(st.sampled_from([1, 5, 8, 12])),
        scale=draw(st.sampled_from([*SCALES, "factor"])),
        factor=draw(st.sampled_from([0.0, 0.25, 1.0, 10.0])),
        cells=draw(st.sampled_from(["", "0:*", "1:0,2 3:*", "*:0", "*:*"])),
        config=tuple((name, draw(one_of(about))) for name, about in own.items() if name != "seed"),
    )


# What is said of a run


def trained_layer(d_model: int) -> Variant:
    """A layer as a trained model has it, with biases."""
    count = math.gcd(d_model, 4)
    return TrainedAttention(count, layer_of("biased", d_model, heads=count).state_dict())


def computed(settings: Settings, trained: bool = False, **own: Any) -> Computation:
    """The steps of these settings; trained: with such a layer and what would enter it."""
    sentence = read_sentence(settings, settings.s.split(), None)
    layer, vectors, n = settings.variant_layer(settings.d_model), sentence.vectors, len(sentence.x)
    if trained:
        layer = trained_layer(settings.d_model)
        vectors = drawn(n, settings.d_model, seed=settings.seed)
    chosen, _ = make_masks(settings, n, n)
    with torch.no_grad():
        run = layer(
            vectors if sentence.encoding is None else vectors + sentence.encoding,
            masks.combine(chosen.values()),
            scale=settings.scale_factor,
            rotate=settings.rotate,
            bias=settings.bias(layer, n, n),
        )
    head = min(settings.head, layer.heads - 1)
    steps = StepSettings(**own)
    return Computation(layer, run, sentence.tokens, vectors, steps, head, sentence.encoding, chosen)


def said_of_a_run(settings: Settings, trained: bool, row: int, **own: Any) -> Iterator[Said]:
    """Sentences on a run: of the page "Step by step", of its stages, sweeps and parameters."""
    done = computed(settings, trained, **own)
    row, trace = row % len(done.names), done.run.head(done.head)
    for name in done.steps:
        made = step(name, done)
        yield Said(f"step {name}", made.why, (done, name))
        yield Said(f"working {name}", made.working(row, 0).text, (done, row))
    for stage in trace.stages:
        yield Said(f"stage {stage}", plots.stage_words(trace, stage), trace)
    for kind in sweeps.sweeps_of(trace):
        swept = sweeps.sweep(trace, kind, 1.0, done.masks)
        yield Said(f"sweep {kind}", compare_words.sweep_words(swept, swept.at), swept)
    yield Said("parameters", parameters_words(done.layer.origin), done.layer)


# What is true of it


def is_trained(at: Any) -> bool:
    return isinstance(at[0].layer, TrainedAttention)


def holds_ones_and_zeros(layer: Variant) -> bool:
    return all(map(is_binary, layer.parameters()))


def is_binary(numbers: Tensor) -> bool:
    return bool(((numbers == 0) | (numbers == 1)).all())


def with_matrix(true: Callable[[Any, Tensor], bool]) -> Callable[[Any], bool]:
    """True where that is true of the matrix that makes queries, keys or values for the head."""

    def holds(at: Any) -> bool:
        done, role = at
        has_one = done.layer.projection(role)[0] is not None
        return has_one and true(at, matrices(step(role, done).parts)[1].numbers)

    return holds


def is_copied(at: Any) -> bool:
    """True if each column of what is made of x is a column of x, or 0 throughout."""
    done, role = at
    made = done.forms(role)[role]
    there = [*done.x.T, torch.zeros(len(done.x))]
    return all(any(torch.equal(column, each) for each in there) for column in made.T)


def trace_of(at: Any) -> Trace:
    found: Trace = at if isinstance(at, Trace) else at[0].trace
    return found


def hides(at: Any) -> int:
    mask = trace_of(at).mask
    return 0 if mask is None else int((~mask).sum())


def weights_of(at: Any) -> Tensor:
    """The weights that a step or a stage shows."""
    trace = trace_of(at)
    mixed = isinstance(at, tuple) and at[1] == "mixed weights"
    found = trace.mixed_weights if mixed else trace.weights
    assert found is not None
    return found


def sums(weights: Tensor) -> list[str]:
    """Sum of each row, as it is shown."""
    return [number(float(row.double().sum())) for row in weights]


def all_sum_to(at: Any, told: str = "1.0000") -> bool:
    return set(sums(weights_of(at))) == {told}


def some_empty(at: Any) -> bool:
    weights = weights_of(at)
    some, told = not weights.any(-1).all(), set(sums(weights[weights.any(-1)]))
    return some and told == {"1.0000"}


def go_from(at: Any, least: str, most: str) -> bool:
    found = sorted(map(shown, sums(weights_of(at))))
    return (found[0], found[-1]) == (shown(least), shown(most))


def below_0(at: Any, told: str = "0") -> bool:
    return int((weights_of(at) < 0).sum()) == int(told)


def before_dropout(at: Any) -> Tensor:
    done, _ = at
    found: Tensor = done.run.head(done.head).applied
    return found


def moved(at: Any, rows: str, of: str) -> bool:
    pairs = [*zip(*map(sums, (before_dropout(at), trace_of(at).applied)), strict=True)]
    apart = [abs(shown(before) - shown(after)) > 1.5e-4 for before, after in pairs]
    near = [before != after for before, after in pairs]
    return sum(apart) <= int(rows) <= sum(near) and int(of) == len(pairs)


def seen(swept: Sweep) -> Tensor:
    """Mask of the keys that a query may see, whatever the value."""
    return torch.ones_like(swept.base) > 0 if swept.mask is None else swept.mask


def same_at_0(swept: Sweep) -> bool:
    allowed = seen(swept).double()
    even = allowed / allowed.sum(-1, keepdim=True).clamp_min(1)
    return torch.allclose(swept.weights(0.0), even)


def to_the_greatest(swept: Sweep) -> bool:
    """True if the greatest scores of a row get more as a scale grows, or a temperature falls."""
    scores = swept.base.masked_fill(~seen(swept), -math.inf)
    greatest = scores == scores.amax(-1, keepdim=True)
    values = swept.values[:: 60 if swept.kind == "scale" else -60]
    got = torch.stack([swept.weights(value).where(greatest, 0.0).sum(-1) for value in values])
    return bool((got.diff(dim=0) >= -1e-12).all())


WEIGHTS = "step weights|step mixed weights|stage weights"
MADE = "step (?:queries|keys|values)"
ANY = r"(−?\d\S*)"
NO_DROP = "nothing is dropped either"
Always = functools.partial(Claim, always=True)
OF_A_RUN = (
    # Steps
    Always("step x", "before its first layer", is_trained),
    Always(MADE, "No matrix comes before", lambda at: at[0].layer.projection(at[1])[0] is None),
    Always(
        MADE,
        "A matrix of random numbers turns",
        with_matrix(lambda at, W: not is_trained(at) and not is_binary(W)),
    ),
    Always(MADE, "A learned matrix turns", with_matrix(lambda at, W: is_trained(at))),
    Always(MADE, "A matrix of ones and zeros", with_matrix(lambda at, W: is_binary(W))),
    Claim(MADE, "copies it from the vector, number by number", is_copied),
    Always(
        MADE, "Beyond the end of the vector it is 0", with_matrix(lambda at, W: not W.any(0).all())
    ),
    Always(
        "step scaled|stage scaled",
        "ALiBi|follows from the distance",
        lambda at: trace_of(at).bias is not None,
    ),
    Claim("step masked", r"(\d+) cells? (?:is|are) hidden", lambda at, n: hides(at) == int(n)),
    Always("step masked", "Nothing is hidden now", lambda at: hides(at) == 0),
    Always(WEIGHTS, r"each row adds up to 1\.(?!\d)", all_sum_to),
    Always(
        "stage weights",
        "A long grey bar",
        lambda trace: trace.weights_are_a_distribution and bool(trace.weights.any()),
    ),
    Always("step weights|stage weights", "no shares", lambda at: not trace_of(at).normed_by),
    Claim("stage weights", r"(\d+) of them (?:is|are) below 0", below_0),
    Always(WEIGHTS, "each row is 0 throughout", lambda at: not weights_of(at).any()),
    Always(WEIGHTS, "or is 0 throughout where", some_empty),
    Claim(WEIGHTS, r"each row adds up to (−?\d+\.\d{4})", all_sum_to),
    Claim(WEIGHTS, r"the sums of the rows go from (\S+) to (−?\d+\.\d{4})", go_from),
    Always("step mixed weights", "No weight is below 0", below_0),
    Claim("step mixed weights", r"below 0: (\d+)", below_0),
    Claim("step dropout", NO_DROP, lambda at: torch.equal(before_dropout(at), at[0].trace.applied)),
    Always("step dropout", NO_DROP, lambda at: at[0].dropout == 0),
    Claim("step dropout", r"now sum to another number: (\d+) of (\d+)\.", moved),
    Claim(
        "working dropout",
        rf"the row still sums to {ANY}\.",
        lambda at, told: sums(before_dropout(at))[at[1]] == told,
    ),
    Always(
        "step joined",
        "a matrix of random numbers mixes",
        lambda at: not is_trained(at) and not holds_ones_and_zeros(at[0].layer),
    ),
    Always("step joined", "a learned matrix mixes", is_trained),
    # Explore
    Always("stage masked", "hatched cells", lambda trace: hides(trace) > 0),
    Always("stage masked", "no cell is hidden", lambda trace: hides(trace) == 0),
    Always("stage masked", "were mixed across heads", lambda t: t.logits_name == "mixed"),
    Always("stage masked", "after the tokens between", lambda t: t.logits_name == "decayed"),
    # Compare
    Claim("sweep scale", "At scale 0 all keys that a query may see get the same", same_at_0),
    Claim(
        "sweep scale|sweep temperature", "more of the weight goes to the greatest", to_the_greatest
    ),
    # Heads
    Always("parameters", "random", lambda layer: not holds_ones_and_zeros(layer)),
    Claim("parameters", "ones and zeros", holds_ones_and_zeros),
)


def test_what_is_said_of_a_run_holds_for_its_numbers() -> None:
    def drawn_for(variant: str) -> dict[str, Any]:
        return {
            "settings": settings_with(variant),
            "trained": st.just(variant == ""),
            "row": st.integers(0, 5),
            "dropout": st.sampled_from([0.0, 0.1, 0.9]),
            "dropout_seed": st.integers(0, 9),
        }

    hold(OF_A_RUN, 15, [(said_of_a_run, drawn_for(variant)) for variant in (*VARIANTS, "")])
