"""Every method of association on two words and two layers, small enough to work out by hand.

The numbers come from the methods themselves, over a model of two dimensions made here.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.analysis import associations
from attention.analysis.associations import METHODS, Followed, associate
from attention.analysis.interventions import Change, Token, changed_runs
from attention.figures.matrix import Matrix
from attention.figures.tables import number
from attention.trained.layers import Layer, TrainedAttention
from attention.trained.models import About, Embedding, Parts, Pieces, Transformer
from attention.trained.parts import FeedForward, LayerNorm, Norms

WORDS = ("the", "cat")
MASK = "[MASK]"
Row = list[Matrix | str]
ROW = 1  # that of "cat", which the words tell
INTRODUCTION = (
    "Two words, “the” and “cat”, two layers, two heads of one dimension. Layer 1 looks as shown; "
    "the value of “the” is 1, that of “cat” 4, so one is four times as long. Layer 2 gives both "
    "words the same weight."
)


@dataclass(frozen=True)
class Step:
    """A step of a small case: what is done, and the matrices it is done with, joined by signs."""

    words: str
    parts: Row


class _Words:
    """Reads texts of the words there are, one piece each."""

    texts = (*WORDS, MASK)

    def __call__(self, text: str) -> Pieces:
        known = [self.texts.index(word) for word in text.split() if word in self.texts]
        return Pieces(torch.tensor(known), self.shown(known), tuple(range(len(known))))

    def shown(self, ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.texts[piece] for piece in ids)

    def text_of(self, ids: Sequence[int], after: Sequence[int] = ()) -> str | None:
        return " ".join(self.shown(ids))


def small_model(normed: bool = False, goes_on: bool = False) -> Transformer:
    """Two layers of two heads over two dimensions, without a feed-forward.

    normed: with a layer norm behind each sum; goes_on: causal, and the score of a word to come next
    is the number in its own dimension.
    """
    nothing = FeedForward(torch.zeros(2, 1), None, torch.zeros(1, 2), None, torch.relu)
    norm = LayerNorm(torch.ones(2), None, 0.0) if normed else None
    # the first head: "cat" scores "the" by ln 3, so that weights are 3/4 and 1/4
    first = {
        "W_q": torch.tensor([[0.0, 0.0], [math.log(3), 0.0]]),
        "W_k": torch.tensor([[1.0, 0.0], [0.0, 0.0]]),
        "W_v": torch.tensor([[1.0, 0.0], [0.0, 4.0]]),
        "W_o": torch.eye(2),
    }
    second = first | {"W_q": torch.zeros(2, 2), "W_v": torch.eye(2)}
    layers = [
        Layer(TrainedAttention(2, parameters), Norms(after=norm), nothing, Norms(), causal=goes_on)
        for parameters in (first, second)
    ]
    embedding = Embedding(torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    unembedding = torch.eye(2) if goes_on else None
    parts = Parts(embedding, layers, 2, unembedding=unembedding)
    return Transformer(About("small", "Two words", ""), _Words(), parts)


def followed(method: str) -> Followed:
    """The two words through the model that a method is shown on."""
    normed, goes_on = method == "norm-layer-norm", METHODS[method].decoder
    model = small_model(normed, goes_on)
    return Followed(model, model.pieces(" ".join(WORDS)))


@functools.cache
def small_case(method: str) -> tuple[Step, ...]:
    """Steps by which a method comes to its numbers."""
    with torch.no_grad():
        return tuple(_CASES[method](followed(method)))


def numbers_of(method: str) -> Tensor:
    """Numbers of the last step of a small case."""
    last = small_case(method)[-1].parts[-1]
    assert isinstance(last, Matrix)
    return last.numbers


def _square(name: str, numbers: Tensor) -> Matrix:
    return Matrix(name, numbers, WORDS, WORDS, "share")


def _found(method: str, case: Followed, layer: int) -> Tensor:
    return associate(case.model, case.pieces, method)[layer]


def _raw(case: Followed) -> list[Step]:
    cells = "Layer 1: each cell is the mean of that cell in both heads."
    return [Step(cells, _over_heads(case, 0))]


def _raw_mean(case: Followed) -> list[Step]:
    cells = "Layer 2: each cell is the mean of that cell in both heads."
    half = "Of two layers the later half is the second alone, so that its cells stay as they are."
    mean = _square("mean over layers", _found("raw-mean", case, 1))
    return [Step(cells, _over_heads(case, 1)), Step(half, [mean])]


def _over_heads(case: Followed, layer: int) -> Row:
    first, second = case.runs[layer].trace.weights
    mean = _square("mean", _found("raw", case, layer))
    return [_square("head 0", first), "", _square("head 1", second), "mean →", mean]


def _vectors(name: str, numbers: Tensor) -> Matrix:
    """The vectors that each word gives to "cat"."""
    return Matrix(name, numbers[ROW], [f"from {word}" for word in WORDS], ["0", "1"])


def _lengths(name: str, numbers: Tensor) -> Matrix:
    names = [f"from {word}" for word in WORDS]
    return Matrix(name, numbers[ROW][:, None], names, ["length"], "share")


def _norm(case: Followed) -> list[Step]:
    weights = case.runs[0].trace.weights[:, ROW].T
    values = case.runs[0].trace.values[:, :, 0].T
    names = [f"from {word}" for word in WORDS]
    heads = ["head 0", "head 1"]
    found = associations.vectors(case, 0)
    parts: Row = [
        Matrix("weights of “cat”", weights, names, heads, lights="cell"),
        "×",
        Matrix("values", values, names, heads, lights="cell"),
        "=",
        _vectors("Σ w v W_o", found),
    ]
    length: Row = [_vectors("Σ w v W_o", found), "length →", _lengths("norm", _norms("norm", case))]
    return [
        Step(
            "Layer 1, row “cat”: weight times value. Here head 0 writes dimension 0 and head 1 "
            "dimension 1.",
            parts,
        ),
        Step("The length of each vector: the root of its squares, added up.", length),
    ]


def _norms(method: str, case: Followed) -> Tensor:
    return _found(method, case, 0)


def _norm_residual(case: Followed) -> list[Step]:
    plain, whole = associations.vectors(case, 0), associations.with_residual(case, 0)
    parts: Row = [
        _vectors("Σ w v W_o", plain),
        "+",
        _vectors("x of “cat” itself", whole - plain),
        "=",
        _vectors("with residual", whole),
    ]
    lengths = _lengths("norm", _norms("norm-residual", case))
    return [
        Step("Layer 1, row “cat”: what “cat” was stays, and counts for itself.", parts),
        Step("The length of each.", [_vectors("with residual", whole), "length →", lengths]),
    ]


def _norm_layer_norm(case: Followed) -> list[Step]:
    whole, through = associations.with_residual(case, 0), associations.through_norm(case, 0)
    total = whole[ROW].sum(0)
    mean, spread = float(total.mean()), float(total.var(correction=0).sqrt())
    parts: Row = [_vectors("with residual", whole), "norm →", _vectors("T", through)]
    lengths = _lengths("norm", _norms("norm-layer-norm", case))
    return [
        Step(
            f"Layer 1, row “cat”: both vectors add up to numbers of mean {number(mean)} and "
            f"spread {number(spread)}. From each vector its own mean is taken off, then it is "
            "divided by that spread.",
            parts,
        ),
        Step("The length of each.", [_vectors("T", through), "length →", lengths]),
    ]


def _product(steps: Tensor, found: Tensor, name: str) -> Step:
    second, first = (_square(f"layer {at}", steps[at - 1]) for at in (2, 1))
    left, right = replace(second, lights="row"), replace(first, lights="column")
    return Step(
        "The later layer on the left: a row times a column, product by product, added up.",
        [left, "×", right, "=", _square(name, found)],
    )


def _with_identity(case: Followed) -> tuple[Tensor, Step]:
    raw = associate(case.model, case.pieces, "raw")
    steps = associations.with_identity(raw)
    parts: Row = [
        _square("raw weights", raw[0]),
        "+",
        _square("I", torch.eye(2)),
        "÷ 2 =",
        _square("layer 1", steps[0]),
    ]
    return steps, Step("Half the weights, half the word itself, in each layer.", parts)


def _rollout(case: Followed) -> list[Step]:
    steps, halved = _with_identity(case)
    return [halved, _product(steps, _found("rollout", case, 1), "rollout")]


def _flow(case: Followed) -> list[Step]:
    steps, halved = _with_identity(case)
    second, first = steps[1], steps[0]
    told, sums = [], []
    for key, word in enumerate(WORDS):
        over = [min(float(second[ROW, via]), float(first[via, key])) for via in range(2)]
        sums.append(sum(over))
        told.append(
            f"to “{word}”: {number(over[0])} over “the” and {number(over[1])} over “cat”, "
            f"together {number(sums[-1])}"
        )
    words = (
        "Water from “cat” after layer 2 to each word before layer 1; the narrower pipe of a way "
        f"decides. {'; '.join(told)}. Divided by {number(sum(sums))}, so that the row sums to 1."
    )
    parts: Row = [
        _square("layer 2", second),
        "",
        _square("layer 1", first),
        "→",
        _square("flow", _found("flow", case, 1)),
    ]
    return [halved, Step(words, parts)]


def _alti(case: Followed) -> list[Step]:
    steps, T = associations.alti_steps(case), associations.through_norm(case, 0)
    y, names = case.runs[0].middle[ROW], [f"from {word}" for word in WORDS]
    sizes = [float(part.abs().sum()) for part in (y, y - T[ROW, 0], y - T[ROW, 1])]
    near = torch.tensor([[sizes[0] - sizes[1]], [sizes[0] - sizes[2]]])
    parts: Row = [
        _vectors("T", T),
        "→",
        Matrix("‖y‖ − ‖y − T‖", near, names, ["near y"], "share"),
        "to 1 →",
        Matrix("share", steps[0][ROW][:, None], names, ["share"], "share"),
    ]
    words = (
        f"Layer 1, row “cat”: both vectors add up to y, whose sizes add up to {number(sizes[0])}. "
        f"Without that of “the” {number(sizes[1])} of them is left, without that of “cat” "
        f"{number(sizes[2])}."
    )
    return [Step(words, parts), _product(steps, _found("alti", case, 1), "ALTI")]


def _alti_logit(case: Followed) -> list[Step]:
    before = associations.alti_steps(case)[0]
    votes = (associations.vectors(case, 1) * case.directions[:, None]).sum(-1)
    own = (case.runs[0].entered * case.directions).sum(-1).diag()
    first, last = (_found("alti-logit", case, layer) for layer in range(2))
    signed = functools.partial(Matrix, row_names=WORDS, column_names=WORDS)
    vote: Row = [
        signed("word itself", own),
        "+",
        signed("votes of layer 1", first - own),
        "=",
        signed("after layer 1", first),
    ]
    product: Row = [
        signed("after layer 1", first),
        "+",
        signed("votes of layer 2", votes, lights="row"),
        "×",
        signed("ALTI of layer 1", before, lights="column"),
        "=",
        signed("ALTI-Logit", last),
    ]
    chosen = case.model.shown([int(case.hidden[ROW].argmax())])[0]
    return [
        Step(
            "Here no word sees a later one, and the score of a word to come next is the number in "
            f"its dimension. After “cat” the likeliest is “{chosen}”: a vote is the number that "
            "each word adds there.",
            vote,
        ),
        Step("The votes of layer 2 belong to the words from which layer 1 brought them.", product),
    ]


def _gradient(case: Followed) -> list[Step]:
    found = associate(case.model, case.pieces, "gradient")
    weights, slopes = associations.gradients(case, torch.tensor([ROW]))
    steps = [
        (slope * weight)[0].relu().mean(0) for weight, slope in zip(weights, slopes, strict=True)
    ]
    before = torch.eye(2) + steps[0]
    first, second = (weights[1] * slopes[1])[0]
    head: Row = [
        _square("A of layer 2, head 0", weights[1][0, 0]),
        "⊙",
        Matrix("∇A", slopes[1][0, 0], WORDS, WORDS, lights="cell"),
        "=",
        Matrix("∇A ⊙ A, head 0", first, WORDS, WORDS),
    ]
    both: Row = [
        Matrix("∇A ⊙ A, head 0", first, WORDS, WORDS, lights="cell"),
        "",
        Matrix("∇A ⊙ A, head 1", second, WORDS, WORDS, lights="cell"),
        "mean →",
        Matrix("mean", steps[1], WORDS, WORDS, "share"),
    ]
    product: Row = [
        _square("R before", before),
        "+",
        Matrix("mean", steps[1], WORDS, WORDS, "share", lights="row"),
        "×",
        Matrix("R before", before, WORDS, WORDS, "share", lights="column"),
        "=",
        _square("R", before + steps[1] @ before),
    ]
    words = (
        "The target is how far the last vector of “cat” reaches in its own direction. ∇A: by how "
        "much that grows with each weight."
    )
    row = ", ".join(number(float(cell)) for cell in found[1][ROW])
    return [
        Step(words, head),
        Step("The mean of both heads; of what is below 0, 0 counts.", both),
        Step(
            f"R begins as I, and each layer adds its part. Row “cat” of the last R: {row}.", product
        ),
    ]


def _distances(name: str, vectors: Sequence[Tensor], words: Sequence[str]) -> list[Matrix | str]:
    """Vectors of "cat" as it is and changed, and how far these are from it."""
    whole = torch.stack([*vectors])
    changed = whole[1:].double()
    distances = 1 - cosine_similarity(changed, whole[:1].double(), dim=-1)
    return [
        Matrix(name, whole, words, ["0", "1"]),
        "1 − cosine →",
        Matrix("distance", distances[:, None], words[1:], ["distance"], "share"),
    ]


def _value_zeroing(case: Followed) -> list[Step]:
    steps = associations.value_zeroing_steps(case)
    changed = [
        next(
            iter(changed_runs(case.model, case.run, [[Change(0, "values", 0.0, positions=[key])]]))
        )
        for key in range(2)
    ]
    vectors = [case.runs[0].output[ROW], *(run.output[ROW] for _, run in changed)]
    names = ["as it is", *(f"value of {word} is 0" for word in WORDS)]
    parts: Row = [
        *_distances("output of “cat”", vectors, names),
        "to 1 →",
        Matrix("row “cat”", steps[0][ROW][None], ["cat"], WORDS, "share"),
    ]
    words = "Layer 1, row “cat”: the value of one word is set to 0, the weights stay."
    return [Step(words, parts), _product(steps, _found("value-zeroing", case, 1), "value zeroing")]


def _erasure(case: Followed) -> list[Step]:
    mask = associations.mask_of(case.model)
    assert mask is not None
    changed = [
        [*changed_runs(case.model, case.run, [[Token(key, mask)]])][-1][1].output[ROW]
        for key in range(2)
    ]
    names = ["as it is", *(f"{word} hidden" for word in WORDS)]
    parts: Row = [
        *_distances("“cat” after layer 2", [case.hidden[ROW], *changed], names),
        "row “cat” →",
        Matrix("erasure", _found("erasure", case, 1)[ROW][None], ["cat"], WORDS, "share"),
    ]
    words = (
        "The model runs again with a word hidden: here all numbers of the mask token are 0. The "
        "distance of “cat” from what it was is the number itself."
    )
    return [Step(words, parts)]


_CASES = {
    "raw": _raw,
    "raw-mean": _raw_mean,
    "norm": _norm,
    "norm-residual": _norm_residual,
    "norm-layer-norm": _norm_layer_norm,
    "rollout": _rollout,
    "flow": _flow,
    "alti": _alti,
    "alti-logit": _alti_logit,
    "gradient": _gradient,
    "value-zeroing": _value_zeroing,
    "erasure": _erasure,
}
