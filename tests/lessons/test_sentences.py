"""Sentences about numbers, against these numbers: tables of claims, over random settings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch import Tensor

from attention.analysis import additions, sweeps
from attention.analysis import heads as analysed
from attention.analysis.additions import Additions
from attention.analysis.sweeps import Sweep
from attention.core import masks
from attention.core.functional import Trace, masked_softmax
from attention.core.positions import Rotary, sinusoidal
from attention.core.scales import SCALES
from attention.core.settings import Setting, settings_of
from attention.core.variants import VARIANTS, Variant
from attention.display import compare, cross, figures, heads, toy
from attention.display.captions import parameters_words
from attention.display.compare import Comparison
from attention.display.cross import Batch, CrossSettings
from attention.display.matrix import write_matrix
from attention.display.tables import number
from attention.lessons import operations
from attention.lessons.operations import OPERATIONS, Made, OperationSettings
from attention.lessons.steps import Computation, StepSettings, step
from attention.pipeline import Settings
from attention.pipeline.computing import make_masks
from attention.pipeline.preparing import read_sentence
from attention.trained.layers import TrainedAttention
from tests.lessons.making import drawn, layer_of, matrices, no_vectors, shown
from tests.properties import given
from tests.properties import settings as given_settings
from tests.properties import strategies as st


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


def said_of_a_run(
    settings: Settings, other: Settings, trained: bool, row: int, **own: Any
) -> Iterator[Said]:
    """Sentences on a run by itself, beside another over the same words, and of two sentences."""
    done, second = computed(settings, trained, **own), computed(other)
    beside = computed(replace(other, s=settings.s))
    row, trace = row % len(done.names), done.run.head(done.head)
    both = compare.of_settings(done.names, trace, beside.trace)
    pair = compare.of_sentences(done.names, trace, second.names, second.trace)
    yield from said_of_steps(done, row)
    yield from said_of_heads(done, trace, row)
    for compared in (both, pair, with_half_a_row(both, row)):
        yield Said("rows", compared.rows_words, compared)
        yield Said("row", compared.row_words(row), (compared, row))
    yield Said("alignment", compare.alignment_words(pair), pair)


def with_half_a_row(compared: Comparison, row: int) -> Comparison:
    """As where a word is joined from two pieces of which one may look at nothing."""
    a = compared.a.clone()
    a[row] /= 2
    return replace(compared, a=a)


def said_of_steps(done: Computation, row: int) -> Iterator[Said]:
    """Sentences of the page "Step by step"."""
    for name in done.steps:
        made = step(name, done)
        yield Said(f"step {name}", made.why, (done, name))
        yield Said(f"working {name}", made.working(row, 0).words, (done, row))


def said_of_heads(done: Computation, trace: Trace, row: int) -> Iterator[Said]:
    """Sentences of other pages on the head that is shown, and on all heads."""
    for stage in trace.stages:
        yield Said(f"stage {stage}", figures.stage_words(trace, stage), trace)
    for kind in sweeps.sweeps_of(trace):
        swept = sweeps.sweep(trace, kind, 1.0, done.masks)
        yield Said(f"sweep {kind}", compare.sweep_words(swept, swept.at), swept)
    seen = analysed.overview(done.run, done.head)
    yield Said("previous", heads.previous_token_head(seen, len(done.names)), done.run.weights)
    neurons = heads.neurons(done.layer, trace, row, done.names)
    yield Said("neurons", neurons.words, (trace, row))
    added = additions.additions(done.layer, done.run, row)
    yield Said("additions", heads.sum_words(added, done.names[row]), added)
    yield Said("parameters", parameters_words(done.layer.origin), done.layer)


# What is true of it


def is_trained(at: Any) -> bool:
    return isinstance(at[0].layer, TrainedAttention)


def same_words_are_alike(at: Any) -> bool:
    done, _ = at
    first = [done.names.index(name) for name in done.names]
    return torch.equal(done.x, done.x[first])


def position_is_added(at: Any) -> bool:
    done, _ = at
    moved = done.vectors + sinusoidal(*done.x.shape)
    return done.positions is not None and torch.equal(done.x, moved)


def holds_ones_and_zeros(layer: Variant) -> bool:
    return all(map(is_binary, layer.parameters()))


def is_binary(numbers: Tensor) -> bool:
    return bool(((numbers == 0) | (numbers == 1)).all())


def matrix_of(at: Any) -> Tensor | None:
    """The part of a matrix that makes queries, keys or values for the head."""
    done, role = at
    has_one = done.layer.projection(role)[0] is not None
    return matrices(step(role, done).parts)[1].numbers if has_one else None


def is_learned(at: Any) -> bool:
    return matrix_of(at) is not None and is_trained(at)


def ones_and_zeros(at: Any) -> bool:
    W = matrix_of(at)
    return W is not None and is_binary(W)


def is_drawn(at: Any) -> bool:
    return matrix_of(at) is not None and not is_trained(at) and not ones_and_zeros(at)


def ends_before(at: Any) -> bool:
    W = matrix_of(at)
    return W is not None and not bool(W.any(0).all())


def is_copied(at: Any) -> bool:
    """True if each column of what is made of x is a column of x, or 0 throughout."""
    done, role = at
    made = getattr(done.trace, role)
    if done.trace.unrotated is not None and role != "values":
        made = done.trace.unrotated[role == "keys"]
    there = [*done.x.T, torch.zeros(len(done.x))]
    return all(any(torch.equal(column, each) for each in there) for column in made.T)


def trace_of(at: Any) -> Trace:
    found: Trace = at if isinstance(at, Trace) else at[0].trace
    return found


def share_keys_and_values(at: Any, named: str, group: str) -> bool:
    """True if these heads and no others have one head of keys and values."""
    done, _ = at
    numbers = [*map(int, re.findall(r"\d+", named))]
    named_heads = [*range(numbers[0], numbers[-1] + 1)]
    size = done.layer.heads // done.layer.groups
    alike = [
        head
        for head in range(done.layer.heads)
        if torch.equal(done.run.keys[head], done.trace.keys) and head // size == int(group)
    ]
    return done.head in named_heads and alike == named_heads


def has_a_group(at: Any) -> bool:
    return bool(at[0].layer.groups < at[0].layer.heads)


def turns_by(at: Any, position: str, frequency: str, angle: str) -> bool:
    """True if the angle is the product, and its cosine and sine make the first number."""
    done, row = at
    product = int(position) * float(frequency)
    made = [
        before[row, 0] * math.cos(product) - before[row, 1] * math.sin(product) - after[row, 0]
        for before, after in zip(
            done.trace.unrotated, (done.trace.queries, done.trace.keys), strict=True
        )
    ]
    return (
        row == int(position) and abs(product - float(angle)) < 1e-4 and max(map(abs, made)) < 1e-4
    )


def has_no_pair(at: Any) -> bool:
    return at[0].trace.queries.shape[-1] == 1


def count_by_distance(at: Any) -> bool:
    """True if the score of each query and key is the same some positions further on."""
    done, _ = at
    rotary = done.layer.rotary or Rotary()
    near, far = (
        done.layer.scores(*(rotary(made.double(), first) for made in done.trace.unrotated))
        for first in (0, 7)
    )
    return torch.allclose(near, far, atol=1e-6, rtol=1e-6)


def are_dot_products(at: Any) -> bool:
    trace = trace_of(at)
    products = trace.queries @ trace.keys.mT
    return trace.queries.shape[-1] > 1 and torch.allclose(trace.scores, products, atol=1e-5)


def has_bias(at: Any) -> bool:
    return trace_of(at).bias is not None


def taken_off(at: Any) -> bool:
    """True if each step of distance takes off the same, and more than 0."""
    trace = trace_of(at)
    off = (trace.scores * trace.scale - trace.scaled).double()
    steps = (torch.arange(len(off))[:, None] - torch.arange(len(off))).abs()
    slopes = (off / steps)[steps > 0]
    return bool((slopes > 0).all() and ((slopes - slopes[:1]).abs() < 1e-3).all())


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


def whole(at: Any) -> bool:
    return set(sums(weights_of(at))) == {"1.0000"}


def empty(at: Any) -> bool:
    return not weights_of(at).any()


def some_empty(at: Any) -> bool:
    weights = weights_of(at)
    some, told = not weights.any(-1).all(), set(sums(weights[weights.any(-1)]))
    return some and told == {"1.0000"}


def all_sum_to(at: Any, told: str) -> bool:
    return set(sums(weights_of(at))) == {told}


def go_from(at: Any, least: str, most: str) -> bool:
    found = sorted(map(shown, sums(weights_of(at))))
    return (found[0], found[-1]) == (shown(least), shown(most))


def below_0(at: Any) -> int:
    return int((weights_of(at) < 0).sum())


def before_dropout(at: Any) -> Tensor:
    done, _ = at
    found: Tensor = done.run.head(done.head).applied
    return found


def nothing_is_dropped(at: Any) -> bool:
    return torch.equal(before_dropout(at), trace_of(at).applied)


def moved(at: Any, rows: str, of: str) -> bool:
    pairs = [*zip(*map(sums, (before_dropout(at), trace_of(at).applied)), strict=True)]
    apart = [abs(shown(before) - shown(after)) > 1.5e-4 for before, after in pairs]
    near = [before != after for before, after in pairs]
    return sum(apart) <= int(rows) <= sum(near) and int(of) == len(pairs)


def sums_before(at: Any, told: str) -> bool:
    return sums(before_dropout(at))[at[1]] == told


def is_left_so(at: Any) -> bool:
    """True if the output of the layer is what its heads put out, side by side."""
    side_by_side, *_, output = matrices(step("joined", at[0]).parts)
    return torch.equal(side_by_side.numbers, output.numbers)


def mixes_at_random(at: Any) -> bool:
    return not is_trained(at) and not holds_ones_and_zeros(at[0].layer)


def seen(swept: Sweep) -> Tensor:
    """Mask of the keys that a query may see, whatever the value."""
    return torch.ones_like(swept.base) > 0 if swept.mask is None else swept.mask


def same_at_0(swept: Sweep) -> bool:
    allowed = seen(swept).double()
    even = allowed / allowed.sum(-1, keepdim=True).clamp_min(1)
    return torch.allclose(swept.weights(0.0), even)


def distance_at_0(swept: Sweep) -> bool:
    if swept.bias is None:
        return False
    return torch.equal(swept.weights(0.0), masked_softmax(swept.bias.double(), swept.mask))


def to_the_greatest(swept: Sweep) -> bool:
    """True if the greatest scores of a row get more as a scale grows, or a temperature falls."""
    scores = swept.base.masked_fill(~seen(swept), -math.inf)
    greatest = scores == scores.amax(-1, keepdim=True)
    values = swept.values[:: 60 if swept.kind == "scale" else -60]
    got = torch.stack([swept.weights(value).where(greatest, 0.0).sum(-1) for value in values])
    return bool((got.diff(dim=0) >= -1e-12).all())


def grow_alike(swept: Sweep) -> bool:
    """True if at higher temperatures the least weight of a row among those seen grows."""
    least = [swept.weights(at).where(seen(swept), 1.0).amin(-1) for at in swept.values[::60]]
    return bool((torch.stack(least).diff(dim=0) >= -1e-12).all())


def sees_near_ones_alone(swept: Sweep) -> bool:
    n = len(swept.base)
    near = masks.window(n, n, round(swept.at)) & seen(swept)
    return bool((swept.weights(swept.at)[~near] == 0).all())


def there(compared: Comparison) -> Tensor:
    """The rows that both sides have."""
    return compared.in_a & compared.in_b


def lies_alone(compared: Comparison) -> bool:
    return not bool(there(compared).all())


def sees_nothing(compared: Comparison) -> bool:
    some = compared.a.any(-1) & compared.b.any(-1)
    return bool((there(compared) & ~some).any())


def sums_to_less(compared: Comparison) -> bool:
    both = there(compared) & compared.a.any(-1) & compared.b.any(-1)
    return set(sums(compared.a[both]) + sums(compared.b[both])) > {"1.0000"}


def has_its_ends(compared: Comparison) -> bool:
    """True if each row that has a divergence has 0 for equal rows, 1 for those apart."""
    rows = zip(compared.a, compared.b, compared.divergence.tolist(), strict=True)
    told = [(a, b, bits) for a, b, bits in rows if not math.isnan(bits)]
    ends = [(torch.equal(a, b), bool((a * b).any()), bits) for a, b, bits in told]
    return all(
        bits == 0 if equal else share or math.isclose(bits, 1, abs_tol=1e-4)
        for equal, share, bits in ends
    )


def means_are_over_the_others(compared: Comparison) -> bool:
    bits = [float(bits) for bits in compared.divergence if not math.isnan(bits)]
    return compared.rows_table()[2][1] == (number(math.fsum(bits) / len(bits)) if bits else "—")


def empty_sides(at: Any) -> str:
    compared, row = at
    sides = {"A": compared.a, "B": compared.b} if there(compared)[row] else {}
    return " and ".join(side for side, weights in sides.items() if not weights[row].any())


def have_sums(at: Any, *told: str) -> bool:
    compared, row = at
    return told == (sums(compared.a)[row], sums(compared.b)[row]) != ("1.0000", "1.0000")


def diverges(at: Any, told: str) -> bool:
    compared, row = at
    return number(float(compared.divergence[row])) == told


def have_entropies(at: Any, spread: str, *told: str) -> bool:
    compared, row = at
    before, after = (float(bits[row]) for bits in compared.entropies)
    more, less = "more spread out in B", "more focused in B"
    expected = more if after > before else less
    same = told[0] == told[1]
    return told == tuple(map(number, (before, after))) and (same or spread == expected)


def are_compared(compared: Comparison, count: str) -> bool:
    return int(there(compared).sum()) == int(count)


def nothing_differs(compared: Comparison) -> bool:
    return not lies_alone(compared) and not compared.changed.any()


def is_nearest(weights: Tensor, head: str, alike: str | None, most: str) -> bool:
    """True if the head, and so many others, put so many percent on the token before."""
    rows = weights.any(-1).sum(-1).clamp_min(1)
    shares = (100 * weights.diagonal(-1, -2, -1).sum(-1) / rows).tolist()
    near = sum(abs(share - max(shares)) <= 0.1 for share in shares)
    close = abs(shares[int(head)] - max(shares)) < 1e-4 and abs(max(shares) - float(most)) < 0.051
    return close and 1 + int(alike or 0) <= near


def none_looks_back(weights: Tensor) -> bool:
    return weights.shape[-1] > 1 and not weights.diagonal(-1, -2, -1).any()


def sees_none(at: Any) -> bool:
    trace, row = at
    return not trace.weights[row].any()


def adds_up(added: Additions) -> bool:
    return torch.allclose(added.parts.sum(0), added.output, atol=1e-4)


WEIGHTS = "step weights|step mixed weights|stage weights"
MADE = "step (?:queries|keys|values)"
TURNED = "rotated (?:queries|keys)"
NUMBER = r"(−?\d\S*)"
SEVERAL = r"the sums of the rows go from (\S+) to (−?\d+\.\d{4})"
OF_A_RUN = (
    # Steps
    Claim("step x", "does not say where the word stands", same_words_are_alike),
    Claim("step x", "Its position is added", position_is_added, always=True),
    Claim("step x", "before its first layer", is_trained, always=True),
    Claim(MADE, "No matrix comes before", lambda at: matrix_of(at) is None, always=True),
    Claim(MADE, "A matrix of random numbers turns", is_drawn, always=True),
    Claim(MADE, "A learned matrix turns", is_learned, always=True),
    Claim(MADE, "A matrix of ones and zeros", ones_and_zeros, always=True),
    Claim(MADE, "copies it from the vector, number by number", is_copied),
    Claim(MADE, "Beyond the end of the vector it is 0", ends_before, always=True),
    Claim("step (?:keys|values)", r"Heads (.*) share .* of group (\d+)\.", share_keys_and_values),
    Claim("step (?:keys|values)", "share the keys and values", has_a_group, always=True),
    Claim(f"step {TURNED}", "same score wherever they stand equally far apart", count_by_distance),
    Claim(f"step {TURNED}", "can depend on both positions", lambda at: not is_trained(at)),
    Claim(f"working {TURNED}", r"position (\d+) × frequency (\S+) = (\S+)\.", turns_by),
    Claim(f"working {TURNED}", "no partner to turn with", has_no_pair, always=True),
    Claim("step scaled", "Dot products of long vectors", are_dot_products),
    Claim("step scaled|stage scaled", "off for each step of distance", taken_off),
    Claim("step scaled|stage scaled", "ALiBi|follows from the distance", has_bias, always=True),
    Claim("step masked", r"(\d+) cells? (?:is|are) hidden", lambda at, n: hides(at) == int(n)),
    Claim("step masked", "Nothing is hidden now", lambda at: hides(at) == 0, always=True),
    Claim(WEIGHTS, r"each row adds up to 1\.(?!\d)", whole, always=True),
    Claim("stage weights", "A long grey bar", lambda trace: bool(trace.weights.any()), always=True),
    Claim(WEIGHTS, "each row is 0 throughout", empty, always=True),
    Claim(WEIGHTS, "or is 0 throughout where", some_empty, always=True),
    Claim(WEIGHTS, r"each row adds up to (−?\d+\.\d{4})", all_sum_to),
    Claim(WEIGHTS, SEVERAL, go_from),
    Claim("step mixed weights", "No weight is below 0", lambda at: below_0(at) == 0, always=True),
    Claim("step mixed weights", r"below 0: (\d+)", lambda at, n: below_0(at) == int(n)),
    Claim("step dropout", "nothing is dropped either", nothing_is_dropped),
    Claim("step dropout", "nothing is dropped either", lambda at: at[0].dropout == 0, always=True),
    Claim("step dropout", r"now sum to another number: (\d+) of (\d+)\.", moved),
    Claim("working dropout", rf"the row still sums to {NUMBER}\.", sums_before),
    Claim("step joined", "they are the output of the layer", is_left_so),
    Claim("step joined", "a matrix of random numbers mixes", mixes_at_random, always=True),
    Claim("step joined", "a learned matrix mixes", is_trained, always=True),
    # Explore
    Claim("stage masked", "hatched cells", lambda trace: hides(trace) > 0, always=True),
    Claim("stage masked", "no cell is hidden", lambda trace: hides(trace) == 0, always=True),
    Claim(
        "stage masked", "were mixed across heads", lambda t: t.logits is not t.scaled, always=True
    ),
    # Compare
    Claim("sweep scale", "At scale 0 all keys that a query may see get the same", same_at_0),
    Claim("sweep scale", "At scale 0 the distance alone decides", distance_at_0, always=True),
    Claim(
        "sweep scale|sweep temperature", "more of the weight goes to the greatest", to_the_greatest
    ),
    Claim("sweep temperature", "The higher, the more evenly", grow_alike),
    Claim("sweep window", "up to this many tokens to each side", sees_near_ones_alone),
    Claim(
        "sweep window",
        "if the other masks allow them",
        lambda s: s.mask is not None,
        always=True,
    ),
    Claim("rows", "0 bits if they are equal, 1 if they share no key", has_its_ends),
    Claim("rows", "is only in one sentence", lies_alone, always=True),
    Claim("rows", "may look at nothing", sees_nothing, always=True),
    Claim("rows", "does not add up to 1", sums_to_less, always=True),
    Claim("rows", "no part in the means", means_are_over_the_others),
    Claim("row", "may look at nothing", lambda at: empty_sides(at) != "", always=True),
    Claim("row", "nothing in (A and B|A|B)", lambda at, sides: empty_sides(at) == sides),
    Claim("row", r"adds up to (\S+) in A and (\S+) in B", have_sums),
    Claim("row", rf"rows differ by {NUMBER} bits\.", diverges),
    Claim("row", rf" is (.*): its .* from {NUMBER} to {NUMBER} bits\.", have_entropies),
    Claim("alignment", r"(\d+) tokens? (?:is|are) compared", are_compared),
    Claim("alignment", "same words, so nothing differs", nothing_differs, always=True),
    # Heads
    Claim(
        "previous", r"Head (\d+) .*head(?:, as near as (\d+) more)?: on average (\S+) %", is_nearest
    ),
    Claim("previous", "No head puts any weight", none_looks_back, always=True),
    Claim("neurons", "may look at nothing", sees_none, always=True),
    Claim("neurons", "exponential over the sum of all", lambda at: not sees_none(at), always=True),
    Claim("additions", "is the sum of the parts that all heads add", adds_up),
    Claim("additions", "and of the bias of W_o", lambda added: "bias" in added.names, always=True),
    Claim("parameters", "random", lambda layer: not holds_ones_and_zeros(layer), always=True),
    Claim("parameters", "ones and zeros", holds_ones_and_zeros),
)


def test_what_is_said_of_a_run_holds_for_its_numbers() -> None:
    def drawn_for(variant: str) -> dict[str, Any]:
        return {
            "settings": settings_with(variant),
            "other": settings_with(),
            "trained": st.just(variant == ""),
            "row": st.integers(0, 5),
            "dropout": st.sampled_from([0.0, 0.1, 0.9]),
            "dropout_seed": st.integers(0, 9),
        }

    hold(OF_A_RUN, 25, [(said_of_a_run, drawn_for(variant)) for variant in (*VARIANTS, "")])


# Operations


def stacks(*shape: int) -> Any:
    """Texts of stacks of that shape, in which numbers come again."""
    cell = st.integers(-1, 2).map(float)
    return st.lists(cell, min_size=math.prod(shape), max_size=math.prod(shape)).map(
        lambda cells: " | ".join(map(write_matrix, torch.tensor(cells).reshape(shape)))
    )


def said_of_an_operation(**chosen: Any) -> Iterator[Said]:
    """Sentences of the page "Operations" on an operation and on what it gives."""
    made = operations.prepare(OperationSettings(**chosen))
    assert isinstance(made, Made)
    name, about = chosen["operation"], (made, chosen)
    yield Said(f"why {name}", OPERATIONS[name].why, about)
    yield Said(f"shapes {name}", made.shapes, about)
    yield Said(f"notes {name}", " ".join(made.notes), about)
    if made.contrast:
        yield Said(f"contrast {name}", made.contrast.words, about)


def order_stays(at: Any) -> bool:
    made, _ = at
    plain, divided = made.ours
    return bool((plain[plain.argsort()].diff() >= 0).all()) and bool(
        (divided[plain.argsort()].diff() >= 0).all()
    )


def weights_stay(at: Any) -> bool:
    made, _ = at
    return torch.equal(*made.ours)


def cold_goes_to_the_greatest(at: Any) -> bool:
    made, chosen = at
    plain, divided = made.ours.double()
    greatest = plain == plain.max()
    more, less = divided[greatest].sum() - plain[greatest].sum(), 1e-6
    return bool(more >= -less if chosen["temperature"] <= 1 else more <= less)


def slices_sum_to_one(at: Any, count: str) -> bool:
    made, chosen = at
    found = made.ours.sum(int(chosen["softmax_dim"]))
    return int(count) == found.numel() and torch.allclose(found, torch.ones(()))


def wrong_sums(at: Any) -> Tensor:
    """Sums of each query's weights along the wrong dimension that stands beside."""
    made, _ = at
    found = [matrices(row)[-1].numbers for row in made.contrast.pictures]
    return torch.cat(found)


def come_to(at: Any, least: str, most: str | None) -> bool:
    found = wrong_sums(at)
    low, high = float(found.min()), float(found.max())
    return abs(low - shown(least)) < 1e-4 and abs(high - shown(most or least)) < 1e-4


def are_all_1(at: Any) -> bool:
    return bool(((wrong_sums(at) - 1).abs() < 1e-5).all())


def leaves_nothing(at: Any) -> bool:
    made, _ = at
    return not bool(made.ours.any(-1).all())


def is_beyond(at: Any) -> bool:
    _, chosen = at
    lens = chosen["valid_lens"].replace("|", " ").replace(";", " ").split()
    return any(float(length) > chosen["mask_keys"] for length in lens)


OF_AN_OPERATION = (
    Claim("why softmax", "into shares of one", lambda at: bool((at[0].ours >= 0).all())),
    Claim("why temperature", "the more of the weight goes", cold_goes_to_the_greatest),
    Claim("shapes temperature", "the order stays", order_stays),
    Claim("shapes temperature", "so do the weights", weights_stay, always=True),
    Claim(
        "shapes temperature", "the contrast changes", lambda at: not weights_stay(at), always=True
    ),
    Claim("shapes softmax", r"(\d+) slices? that (?:each )?sums? to one", slices_sum_to_one),
    Claim("contrast softmax", r"need not sum to 1, here (\S+)(?: to (\S+))?, and", come_to),
    Claim("contrast softmax", "these numbers sum to 1", are_all_1, always=True),
    Claim("notes sequence_mask", "A length of 0 leaves nothing", leaves_nothing, always=True),
    Claim("notes sequence_mask", "hides nothing", is_beyond, always=True),
    Claim("notes masked_softmax", "Nothing to attend to for", leaves_nothing, always=True),
)


def test_what_is_said_of_an_operation_holds_for_its_numbers() -> None:
    lens = st.lists(st.integers(0, 5), min_size=2, max_size=2).map(lambda two: f"{two[0]} {two[1]}")
    temperatures = st.sampled_from([0.05, 0.5, 1.0, 10.0])
    shapes = st.sampled_from([(1, 1, 1), (1, 2, 3), (2, 1, 3), (2, 3, 1), (2, 2, 2)])
    drawn_for = {
        "temperature": {
            "temperature_x": st.integers(1, 3).flatmap(lambda count: stacks(1, 1, count)),
            "temperature": temperatures,
        },
        "softmax": {
            "softmax_x": shapes.flatmap(lambda shape: stacks(*shape)),
            "softmax_dim": st.sampled_from("012"),
        },
        "sequence_mask": {"valid_lens": lens, "mask_keys": st.integers(1, 5)},
        "masked_softmax": {"valid_lens": lens, "masked_scores": stacks(2, 2, 3)},
    }
    hold(
        OF_AN_OPERATION,
        40,
        [
            (said_of_an_operation, {"operation": st.just(name), **settings})
            for name, settings in drawn_for.items()
        ],
    )


# Two sequences


def said_of_a_batch(settings: Settings, row: int, dimension: int, **chosen: Any) -> Iterator[Said]:
    """Sentences of the page "Two sequences" on a batch."""
    batch = cross.compute_batch(settings, CrossSettings(cross="batch", **chosen), no_vectors)
    sequence, n_queries = row % len(batch.titles), len(batch.queries)
    cell = sequence, row % n_queries, dimension % batch.trace.output.shape[-1]
    yield Said("hatching", cross.hatching_words(batch), batch)
    yield Said("working", cross.working(batch, *cell).words, (batch, cell))
    yield Said("notes", " ".join(batch.notes), batch)


def row_of(at: Any, name: str) -> Tensor:
    batch, (sequence, row, _) = at
    found: Tensor = getattr(batch.trace.sequence(sequence), name)[row]
    return found


def summed_before_dropout(at: Any, told: str) -> bool:
    batch, (sequence, row, _) = at
    trace = batch.trace.sequence(sequence)
    before = trace.weights if trace.mixed_weights is None else trace.mixed_weights
    return sums(before)[row] == told


def share_equally(batch: Batch) -> bool:
    assert batch.trace.mask is not None
    allowed = batch.trace.mask.double()
    even = allowed / allowed.sum(-1, keepdim=True).clamp_min(1)
    return torch.allclose(batch.trace.weights.double(), even, atol=1e-6)


def is_padding(batch: Batch) -> bool:
    assert batch.trace.mask is not None
    return not bool(batch.trace.mask.all())


def lets_padding_in(batch: Batch, sequence: str, most: str) -> bool:
    weights, size = batch.trace.weights[int(sequence)], int(batch.own[int(sequence)])
    return number(float(weights[:, size:].sum(-1).max())) == most


OF_A_BATCH = (
    Claim("hatching", "Nothing is hidden", lambda batch: not is_padding(batch), always=True),
    Claim("hatching", "Hatched cells are padding", is_padding, always=True),
    Claim("hatching", "the valid ones share the weight equally", share_equally),
    Claim("working", "No key is valid", lambda at: not row_of(at, "weights").any(), always=True),
    Claim("working", rf"the row still sums to {NUMBER}\.", summed_before_dropout),
    Claim("working", "Dropout", lambda at: at[0].trace.dropped is not None, always=True),
    Claim("notes", r"sequence (\d+) lets padding in: up to (\S+) of", lets_padding_in),
)


def test_what_is_said_of_a_batch_holds_for_its_numbers() -> None:
    shared = {
        "settings": settings_with(),
        "row": st.integers(0, 5),
        "dimension": st.integers(0, 11),
        "dropout": st.sampled_from([0.0, 0.5]),
    }
    apart = " | ".join(["; ".join(f"{key} 1" for key in range(10))] * 2)
    by_hand = {
        "batch_example": st.just("toy"),
        "toy_keys": st.sampled_from([toy.KEYS, apart]),
        "toy_lens": st.sampled_from([toy.LENS, "0 3", "10 10", "1; 2"]),
        "toy_scores": st.sampled_from([toy.DOT, toy.ADDITIVE]),
    }
    sentences = {
        "batch_example": st.just("sentences"),
        "target": st.sampled_from(["a", "b a b"]),
        "batch": st.sampled_from(["a b | c", "a | b a c | "]),
        "batch_lens": st.sampled_from(["", "0 2", "2 3 1", "1; 1 2"]),
    }
    hold(OF_A_BATCH, 60, [(said_of_a_batch, shared | own) for own in (by_hand, sentences)])


# Settings


@pytest.mark.parametrize("name", VARIANTS)
def test_identity_parameters_are_as_their_hint_says(name: str) -> None:
    declared = settings_of(VARIANTS[name].Config)
    if "parameters" not in declared:
        return
    said = declared["parameters"].help
    assert "of which a square one gives back each vector as it is" in said
    assert "1 on the diagonal and 0 elsewhere" in said
    assert "a vector is 1 throughout" in said
    layer = VARIANTS[name](VARIANTS[name].Config(d_model=15, parameters="identity"))
    for parameter in layer.parameters():
        if parameter.dim() == 1:
            assert torch.equal(parameter, torch.ones(len(parameter)))
            continue
        rows, columns = parameter.shape
        assert torch.equal(parameter, torch.eye(rows, columns))
        x = drawn(5, rows)
        assert torch.equal(x @ parameter, x) == (rows == columns)
