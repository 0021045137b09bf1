"""What is said of numbers, against these numbers: one table of claims, over random settings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.core import masks
from attention.core.functional import masked_softmax
from attention.core.positions import sinusoidal
from attention.core.scales import SCALES
from attention.core.settings import Setting, settings_of
from attention.core.variants import VARIANTS, Variant
from attention.display import figures
from attention.display.captions import parameters_words
from attention.display.tables import number
from attention.lessons import compare, heads
from attention.lessons.compare import Comparison, Sweep
from attention.lessons.heads import Additions
from attention.lessons.steps import Computation, StepSettings, step
from attention.pipeline import Settings
from attention.pipeline.computing import make_masks
from attention.pipeline.entering import read_sentence
from attention.trained.layers import TrainedAttention
from tests.lessons.making import drawn, layer_of, matrices, shown
from tests.properties import given, strategies
from tests.properties import settings as hypothesis_settings

Draw = Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Said:
    """A sentence or two, where they stand, and what they are about."""

    place: str
    words: str
    about: Any


@dataclass(frozen=True)
class Claim:
    """Where a phrase stands, what it holds for is true.

    place, phrase: as `re` reads them; holds: of what the sentence is about, and of the numbers
    that the phrase tells. only: whether the phrase stands wherever that is true.
    """

    place: str
    phrase: str
    holds: Callable[..., bool]
    only: bool = False


def check(said: Said, claims: Sequence[Claim], made: set[Claim]) -> None:
    """Every claim that the sentence makes holds, and none is left out that it should make."""
    for claim in claims:
        if not re.fullmatch(claim.place, said.place):
            continue
        found = re.search(claim.phrase, said.words)
        if found:
            made.add(claim)
            assert claim.holds(said.about, *found.groups()), (claim.phrase, said.words)
        elif claim.only:
            assert not claim.holds(said.about), (claim.phrase, said.words)


# Random settings


def one_of(about: Setting) -> Any:
    """Any value of a setting, of numbers the small ones."""
    if isinstance(about.default, tuple):
        return strategies.lists(strategies.sampled_from(about.choices), unique=True).map(tuple)
    if about.choices:
        return strategies.sampled_from(about.choices)
    low, high = about.minimum or 0, min(about.maximum or 9, 9)
    if isinstance(about.default, int):
        return strategies.integers(int(low), int(high))
    return strategies.floats(low, high)


@strategies.composite
def chosen_settings(draw: Draw, variant: str = "") -> Settings:
    """Any settings of a short sentence, in which words may come again; of that variant, or any."""
    declared = settings_of(Settings)
    names = ("mask", "valid_len", "radius", "positions", "head", "seed")
    variant = variant or draw(one_of(declared["variant"]))
    own = settings_of(VARIANTS[variant].Config)
    return Settings(
        **{name: draw(one_of(declared[name])) for name in names},
        s=" ".join(draw(strategies.lists(strategies.sampled_from("abcd"), min_size=1, max_size=6))),
        variant=variant,
        vectors="random",
        d_model=draw(strategies.sampled_from([1, 5, 8, 12])),
        scale=draw(strategies.sampled_from([*SCALES, "factor"])),
        factor=draw(strategies.sampled_from([0.0, 0.25, 1.0, 10.0])),
        cells=draw(strategies.sampled_from(["", "0:*", "1:0,2 3:*", "*:0", "*:*"])),
        config=tuple((name, draw(one_of(about))) for name, about in own.items() if name != "seed"),
    )


def trained_layer(d_model: int) -> Variant:
    """A layer as a trained model has it, with biases."""
    parameters = layer_of("biased", d_model, heads=math.gcd(d_model, 3)).state_dict()
    return TrainedAttention(math.gcd(d_model, 3), parameters)


def computed(settings: Settings, trained: bool, **own: Any) -> Computation:
    """The steps of these settings; trained: with what a trained model has in place of words."""
    sentence = read_sentence(settings, settings.s.split(), None)
    layer = trained_layer(settings.d_model) if trained else settings.variant_layer(settings.d_model)
    n = len(sentence.tokens)
    vectors = drawn(n, settings.d_model, seed=settings.seed) if trained else sentence.vectors
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
    return Computation(
        layer, run, sentence.tokens, vectors, StepSettings(**own), head, sentence.encoding, chosen
    )


def of_runs(settings: Settings, other: Settings, trained: bool, row: int, **own: Any) -> list[Said]:
    """All that is said of two computations over the same words, and of two sentences."""
    done, second = computed(settings, trained, **own), computed(other, False)
    beside = computed(replace(other, s=settings.s, d_model=settings.d_model), False)
    row %= len(done.names)
    ours = done.run.head(done.head)
    both = compare.of_settings(done.names, ours, beside.trace)
    pair = compare.of_sentences(done.names, ours, second.names, second.trace)
    return [
        *of_steps(done, row),
        *of_head(done, row),
        *of_comparison(both, row),
        *of_comparison(pair, row),
        Said("alignment", compare.alignment_words(pair), pair),
    ]


def of_steps(done: Computation, row: int) -> Iterator[Said]:
    """What the page "Step by step" says."""
    for name in done.steps:
        made = step(name, done)
        yield Said(f"step {name}", made.why, (done, name))
        yield Said(f"working {name}", made.working(row, 0).words, (done, row))


def of_head(done: Computation, row: int) -> Iterator[Said]:
    """What other pages say of one head of a run, and of all heads."""
    trace, layer = done.run.head(done.head), done.layer
    for stage in trace.stages:
        yield Said(f"stage {stage}", figures.stage_words(trace, stage), trace)
    for kind in compare.sweeps_of(trace):
        swept = compare.sweep(trace, kind, 1.0, done.masks)
        yield Said(f"sweep {kind}", compare.sweep_words(swept, swept.at), swept)
    yield Said("parameters", parameters_words(layer.origin), layer)
    neurons = heads.neurons(layer, trace, row, done.names)
    yield Said("neurons", neurons.words, (trace, row))
    added = heads.additions(layer, done.run, row)
    yield Said("additions", added.sum_words(done.names[row]) + added.words, added)
    seen = heads.overview(done.run, done.head)
    words = heads.previous_token_head(seen, len(done.names))
    yield Said("previous", words, done.run.weights)


def of_comparison(compared: Comparison, row: int) -> Iterator[Said]:
    """What the page "Compare" says of two sides."""
    yield Said("rows", compared.rows_words, compared)
    yield Said("row", compared.row_words(row), (compared, row))


# What holds for which numbers


def sums(weights: Tensor) -> list[str]:
    """What each row sums to, as it is shown."""
    return [number(float(row.double().sum())) for row in weights]


def weights_of(about: Any) -> Tensor:
    """The weights of a step or of a stage."""
    if not isinstance(about, tuple):
        return about.weights
    done, name = about
    found = done.trace.weights if name == "weights" else done.trace.mixed_weights
    assert found is not None
    return found


def whole(about: Any) -> bool:
    return set(sums(weights_of(about))) == {"1.0000"}


def empty(about: Any) -> bool:
    return not weights_of(about).any()


def some_empty(about: Any) -> bool:
    weights = weights_of(about)
    return set(sums(weights[weights.any(-1)])) == {"1.0000"} and not weights.any(-1).all()


def goes_from(about: Any, least: str, most: str) -> bool:
    found = sorted(map(shown, sums(weights_of(about))))
    return (found[0], found[-1]) == (shown(least), shown(most))


def same_words_are_alike(about: Any) -> bool:
    done, _ = about
    first = {name: done.names.index(name) for name in done.names}
    return all(torch.equal(done.x[at], done.x[first[name]]) for at, name in enumerate(done.names))


def matrix_of(about: Any) -> Tensor | None:
    """The part of the matrix that the head of a step uses."""
    done, name = about
    if done.layer.projection(name)[0] is None:
        return None
    return matrices(step(name, done).parts)[1].numbers


def ones_and_zeros(about: Any) -> bool:
    W = matrix_of(about)
    return W is not None and not isinstance(about[0].layer, TrainedAttention) and is_binary(W)


def is_binary(numbers: Tensor) -> bool:
    return bool(((numbers == 0) | (numbers == 1)).all())


def is_copied(about: Any) -> bool:
    """Whether each column of what is made of x is one of x, or 0 throughout."""
    done, name = about
    made = done.trace.unrotated if name != "values" else None
    found = getattr(done.trace, name) if made is None else made[name == "keys"]
    columns = [*done.x.T, torch.zeros(len(done.x))]
    return all(any(torch.equal(column, each) for each in columns) for column in found.T)


def is_random(about: Any) -> bool:
    W = matrix_of(about)
    return W is not None and not is_binary(W) and done_is_drawn(about)


def done_is_drawn(about: Any) -> bool:
    return not isinstance(about[0].layer, TrainedAttention)


def taken_off(about: Any) -> bool:
    """Whether what is taken off grows by the same for each step of distance."""
    trace = about[0].trace if isinstance(about, tuple) else about
    off = (trace.scores * trace.scale - trace.scaled).double()
    n = len(off)
    steps = (torch.arange(n)[:, None] - torch.arange(n)).abs()
    slopes = (off / steps)[steps > 0]
    return trace.bias is not None and bool(
        (slopes > 0).all() and (slopes - slopes[:1]).abs().lt(1e-3).all()
    )


def hidden_cells(about: Any) -> int:
    trace = about[0].trace if isinstance(about, tuple) else about
    return 0 if trace.mask is None else int((~trace.mask).sum())


def before_dropout(done: Computation) -> Tensor:
    return done.run.head(done.head).applied


def moved(about: Any, rows: str, of: str) -> bool:
    done, _ = about
    before, after = before_dropout(done), done.trace.applied
    apart = (before.double().sum(-1) - after.double().sum(-1)).abs()
    return (int(rows), int(of)) == (int((apart >= 5e-5).sum()), len(before))


def is_left_so(about: Any) -> bool:
    """Whether the output of the layer is what its heads put out, side by side."""
    result = matrices(step("joined", about[0]).parts)
    return torch.equal(result[0].numbers, result[-1].numbers)


def seen(swept: Sweep) -> Tensor:
    mask = torch.ones_like(swept.base) > 0 if swept.mask is None else swept.mask
    return mask


def same_at_0(swept: Sweep) -> bool:
    allowed = seen(swept).double()
    even = allowed / allowed.sum(-1, keepdim=True).clamp_min(1)
    return swept.bias is None and torch.allclose(swept.weights(0.0), even)


def distance_at_0(swept: Sweep) -> bool:
    bias = swept.bias
    return bias is not None and torch.equal(
        swept.weights(0.0), masked_softmax(bias.double(), swept.mask)
    )


def weight_of_the_greatest(swept: Sweep, value: float) -> Tensor:
    scores = swept.base.masked_fill(~seen(swept), -math.inf)
    return swept.weights(value).where(scores == scores.amax(-1, keepdim=True), 0.0).sum(-1)


def goes_to_the_greatest(swept: Sweep) -> bool:
    """As the scale grows, or the temperature falls."""
    values = swept.values[:: -60 if swept.kind == "temperature" else 60]
    found = torch.stack([weight_of_the_greatest(swept, value) for value in values])
    return bool((found.diff(dim=0) >= -1e-12).all())


def grows_alike(swept: Sweep) -> bool:
    """Whether at higher temperatures the least weight among those seen grows."""
    found = [
        swept.weights(value).where(seen(swept), math.inf).amin(-1) for value in swept.values[::60]
    ]
    return bool((torch.stack(found).diff(dim=0).nan_to_num(0.0) >= -1e-12).all())


def sees_near_ones_alone(swept: Sweep) -> bool:
    n = len(swept.base)
    near = masks.window(n, n, round(swept.at))
    return bool((swept.weights(swept.at)[~(near & seen(swept))] == 0).all())


def lies_alone(compared: Comparison) -> bool:
    return not bool((compared.in_a & compared.in_b).all())


def sees_nothing(compared: Comparison) -> bool:
    both = compared.in_a & compared.in_b
    return bool((both & ~(compared.a.any(-1) & compared.b.any(-1))).any())


def equal_rows_are_0_and_apart_ones_1(compared: Comparison) -> bool:
    for a, b, bits in zip(compared.a, compared.b, compared.divergence.tolist(), strict=True):
        if not (a.any() and b.any()):
            if not math.isnan(bits):
                return False
        elif math.isnan(bits):
            continue
        elif (torch.equal(a, b) and bits != 0) or (
            not (a * b).any() and not math.isclose(bits, 1, abs_tol=1e-5)
        ):
            return False
    return True


def means_are_over_the_others(compared: Comparison) -> bool:
    mean = compared.rows_table()[2][1]
    there = [bits for bits in compared.divergence.tolist() if not math.isnan(bits)]
    return mean == (number(math.fsum(there) / len(there)) if there else "—")


def empty_sides(about: Any) -> str:
    compared, row = about
    both = compared.in_a[row] and compared.in_b[row]
    sides = {"A": compared.a, "B": compared.b}
    return " and ".join(side for side in sides if both and not sides[side][row].any())


def diverges(about: Any, bits: str, before: str, after: str, change: str) -> bool:
    compared, row = about
    a, b = (float(side[row]) for side in compared.entropies)
    found = (float(compared.divergence[row]), a, b, b - a)
    return [number(each) for each in found] == [bits, before, after, change]


def nearest(weights: Tensor, head: str, alike: str | None, most: str) -> bool:
    """Whether the head, and so many others, put so many percent on the token before."""
    rows = weights.any(-1).sum(-1).clamp_min(1)
    shares = weights.diagonal(-1, -2, -1).sum(-1) / rows
    told = [f"{100 * share:.1f}" for share in shares.tolist()]
    first = int(head) == int(shares.argmax())
    return first and told[int(head)] == most and told.count(most) == 1 + int(alike or 0)


def sees_none(about: Any) -> bool:
    trace, row = about
    return not bool(trace.weights[row].any())


def adds_up(added: Additions) -> bool:
    return torch.allclose(added.parts.sum(0), added.output, atol=1e-4)


def compared_words(compared: Comparison, count: str) -> bool:
    return int(count) == int((compared.in_a & compared.in_b).sum())


def rows_hold(layer: Variant) -> bool:
    return all(map(is_binary, layer.parameters()))


def never(about: Any) -> bool:
    return False


WEIGHTS = "step weights|step mixed weights|stage weights"
MADE = "step (?:queries|keys|values)"
SEVERAL = r"the sums of the rows go from (\S+) to ([^\s.]+(?:\.\d+)?)"
OF_RUNS = (
    Claim("step x", "Order is not in it", same_words_are_alike),
    Claim("step x", "Order is not in it", lambda about: about[0].positions is None),
    Claim(
        "step x",
        "Its position is added",
        lambda about: (
            about[0].positions is not None
            and torch.equal(about[0].x - about[0].vectors, about[0].x - about[0].vectors)
            and torch.equal(about[0].x, about[0].vectors + sinusoidal(*about[0].x.shape))
        ),
        only=True,
    ),
    Claim("step x", "the model has added one", lambda about: not done_is_drawn(about), only=True),
    Claim(MADE, "No matrix comes before", lambda about: matrix_of(about) is None, only=True),
    Claim(MADE, "A matrix of random numbers turns", is_random, only=True),
    Claim(MADE, "A matrix of ones and zeros", ones_and_zeros, only=True),
    Claim(MADE, "copies it from the vector, number by number", is_copied),
    Claim(
        MADE,
        "Beyond the end of the vector it is 0",
        lambda about: ones_and_zeros(about) and not bool(matrix_of(about).any(0).all()),
        only=True,
    ),
    Claim(
        MADE,
        "A learned matrix turns",
        lambda about: matrix_of(about) is not None and not done_is_drawn(about),
        only=True,
    ),
    Claim("step scaled|stage scaled", "off for each step of distance", taken_off),
    Claim(
        "step scaled",
        "ALiBi",
        lambda about: about[0].trace.bias is not None,
        only=True,
    ),
    Claim("stage scaled", "taken off", lambda trace: trace.bias is not None, only=True),
    Claim("step masked", r"(\d+) cells? (?:is|are) hidden", lambda a, n: hidden_cells(a) == int(n)),
    Claim("step masked", "Nothing is hidden now", lambda a: hidden_cells(a) == 0, only=True),
    Claim("stage masked", "hatched cells", lambda a: hidden_cells(a) > 0, only=True),
    Claim("stage masked", "no cell is hidden", lambda a: hidden_cells(a) == 0, only=True),
    Claim(
        "stage masked",
        "were mixed across heads before",
        lambda trace: not torch.equal(trace.logits, trace.scaled) or trace.mixed_scores is not None,
        only=True,
    ),
    Claim(WEIGHTS, r"each row sums to 1\.(?!\d)", whole, only=True),
    Claim(WEIGHTS, "each row is 0 throughout", empty, only=True),
    Claim(WEIGHTS, "or is 0 throughout where a query may", some_empty),
    Claim(
        "step weights|stage weights",
        "or is 0 throughout where",
        lambda a: some_empty(a) and not empty(a),
        only=True,
    ),
    Claim(WEIGHTS, SEVERAL, goes_from),
    Claim(
        WEIGHTS, r"each row sums to (−?\d+\.\d{4})", lambda a, n: set(sums(weights_of(a))) == {n}
    ),
    Claim(
        "step mixed weights",
        "No weight is below 0",
        lambda a: not (weights_of(a) < 0).any(),
        only=True,
    ),
    Claim(
        "step mixed weights",
        r"Weights below 0: (\d+)",
        lambda about, count: int((weights_of(about) < 0).sum()) == int(count),
    ),
    Claim(
        "step dropout",
        "nothing is dropped either",
        lambda about: torch.equal(before_dropout(about[0]), about[0].trace.applied),
    ),
    Claim(
        "step dropout", "nothing is dropped either", lambda about: not about[0].dropout, only=True
    ),
    Claim("step dropout", r"Rows that now sum to another number: (\d+) of (\d+)\.", moved),
    Claim(
        "working dropout",
        r"the row sums to what it did, (−?[\d.]+)\.",
        lambda about, told: sums(before_dropout(about[0]))[about[1]] == told,
    ),
    Claim("step joined", "they are the output of the layer", is_left_so),
    Claim(
        "step joined",
        "a matrix of random numbers mixes",
        lambda a: done_is_drawn(a) and not rows_hold(a[0].layer),
        only=True,
    ),
    Claim(
        "step joined", "a learned matrix mixes", lambda about: not done_is_drawn(about), only=True
    ),
    Claim("sweep scale", "at 0 all keys that a query may see get the same", same_at_0, only=True),
    Claim("sweep scale", "at 0 the distance alone decides", distance_at_0, only=True),
    Claim(
        "sweep scale|sweep temperature",
        "the more of the weight goes to the greatest score",
        goes_to_the_greatest,
    ),
    Claim("sweep temperature", "the higher, the more alike the keys become", grows_alike),
    Claim("sweep window", "up to this many tokens to each side", sees_near_ones_alone),
    Claim(
        "sweep window",
        "what the other masks allow",
        lambda swept: swept.mask is not None,
        only=True,
    ),
    Claim("rows", "stands in one sentence alone", lies_alone, only=True),
    Claim("rows", "may attend to nothing", sees_nothing, only=True),
    Claim("rows", "does not sum to 1", never),
    Claim(
        "rows",
        "0 where two rows are equal, 1 where they share no key",
        equal_rows_are_0_and_apart_ones_1,
    ),
    Claim("rows", "means are over the rows that do", means_are_over_the_others),
    Claim("row", "may attend to nothing", lambda about: empty_sides(about) != "", only=True),
    Claim(
        "row",
        "may attend to nothing in ([AB](?: and B)?)",
        lambda a, sides: empty_sides(a) == sides,
    ),
    Claim(
        "row",
        r"diverge by (\S+) bits\. Entropy: (\S+) in A, (\S+) in B, a change of \+?(\S+)\.",
        diverges,
    ),
    Claim("alignment", r"(\d+) tokens? (?:is|are) compared", compared_words),
    Claim(
        "alignment",
        "same words, so nothing differs",
        lambda pair: not lies_alone(pair) and not pair.changed.any(),
        only=True,
    ),
    Claim("previous", r"is head (\d+)(?:, as near as (\d+) more)?: on average (\S+) %", nearest),
    Claim(
        "previous",
        "No head puts any weight",
        lambda w: w.shape[-1] > 1 and not w.diagonal(-1, -2, -1).any(),
        only=True,
    ),
    Claim("neurons", "may attend to nothing", sees_none, only=True),
    Claim(
        "neurons",
        "a weight is its exponential over the sum of all",
        lambda about: not sees_none(about),
        only=True,
    ),
    Claim("additions", "is the sum of what all heads add", adds_up),
    Claim("additions", "and the bias of W_o", lambda added: "bias" in added.names, only=True),
    Claim("parameters", "random", lambda layer: not rows_hold(layer), only=True),
    Claim("parameters", "ones and zeros", rows_hold),
)


@pytest.fixture(autouse=True)
def _one_thread(one_thread: None) -> None:
    """Tests that run beside each other do not wait for each other's threads."""


def test_each_sentence_about_a_run_holds_for_its_numbers() -> None:
    made: set[Claim] = set()

    def holds_for(variant: str) -> None:
        trained = variant not in VARIANTS

        @given(
            settings=chosen_settings("" if trained else variant),
            other=chosen_settings(),
            row=strategies.integers(0, 5),
            dropout=strategies.sampled_from([0.0, 0.1, 0.9]),
            dropout_seed=strategies.integers(0, 9),
        )
        @hypothesis_settings(max_examples=25)
        def holds(**chosen: Any) -> None:
            for sentence in of_runs(trained=trained, **chosen):
                check(sentence, OF_RUNS, made)

        holds()

    for variant in (*VARIANTS, "trained"):
        holds_for(variant)
    unsaid = {claim.phrase for claim in OF_RUNS} - {claim.phrase for claim in made}
    assert unsaid == {"does not sum to 1"}, "which only joined words do"
