"""Associations between the tokens of a sentence: methods that follow attention through a model.

Each method gives (layers, queries, keys): how much each key has to do with what each query has come
to after that many layers; the last one is that of the whole model. Methods know the layers over the
sentence alone: of an encoder-decoder, its encoder's. Notation: w weights, v_j the value of key j in
a head, W_o its rows of the output matrix, x_j what enters the layer, y_i what its attention gives,
the residual path and a norm behind the sum included.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from scipy.stats import rankdata
from torch import Tensor
from torch.nn.functional import cosine_similarity
from torch.nn.utils.rnn import pad_sequence

from attention.analysis.interventions import (
    MAX_PIECES_AT_ONCE,
    Change,
    Intervention,
    Progress,
    Token,
    changed_runs,
)
from attention.core.arguments import must_be, must_be_several
from attention.core.functional import linear, merge_heads
from attention.core.papers import ARXIV
from attention.trained.layers import Layer, LayerRun
from attention.trained.models import (
    Edit,
    LayerInput,
    Model,
    Padded,
    Pieces,
    Run,
    Start,
    Transformer,
    goes_on,
)

WHOLE = 10_000_000  # capacities of a flow are whole numbers of this part
TOGETHER = 8  # tokens that are erased at once where none before them is worked out again
MASKS = ("[MASK]", "<mask>")
FEWEST = 5  # keys of a row that has a rank correlation


@dataclass(frozen=True, eq=False)
class Followed:
    """A sentence whose associations are asked for; the model runs over it once.

    words: for decoders the ids of two pieces to tell apart, the first rather than the second; None:
    the likeliest next piece at each position. progress: is told how much of how much is done by
    methods that take long; an exception that it raises stops the work. after: the layers, from 0,
    that are asked for, None: all; a method that works each out by itself leaves out the others.
    """

    model: Model
    pieces: Pieces
    words: tuple[int, int] | None = None
    progress: Progress = lambda done, of: None
    after: Collection[int] | None = None

    @functools.cached_property
    def layers(self) -> list[Layer]:
        """Layers over the sentence itself, which come first."""
        return [layer for layer in self.model.layers if not layer.decodes]

    @functools.cached_property
    def runs(self) -> list[LayerRun]:
        """A run of each of these layers."""
        with torch.no_grad():
            forward = self.model.forward(Padded(self.pieces.ids))
            return [*itertools.islice(forward, len(self.layers))]

    @functools.cached_property
    def run(self) -> Run:
        """Run of these layers, which can be changed."""
        pairs = zip(self.layers, self.runs, strict=True)
        inputs = (LayerInput(layer, self.pieces, run.entered, run.x) for layer, run in pairs)
        return Run(self.pieces, tuple(inputs), self.hidden)

    @property
    def causal(self) -> bool:
        """True if no query sees a later key."""
        return all(layer.causal for layer in self.layers)

    def seen(self, found: Tensor) -> Tensor:
        """Set to 0 what a query cannot see, whatever rounding says. (…, n, n)."""
        return found.tril() if self.causal else found

    @functools.cached_property
    def whole(self) -> bool:
        """True if these layers are all of the model, so that its last norm follows them."""
        return len(self.layers) == len(self.model.layers)

    def final(self, output: Tensor) -> Tensor:
        """Apply what follows the last of these layers. (…, pieces, d_model)."""
        return self.model.final(output) if self.whole else output

    @functools.cached_property
    def hidden(self) -> Tensor:
        """The last hidden states. (pieces, d_model)."""
        with torch.no_grad():
            return self.final(self.runs[-1].output)

    @property
    def goes_on(self) -> bool:
        """True if the model predicts the next piece."""
        return goes_on(self.model)

    @functools.cached_property
    def directions(self) -> Tensor:
        """Direction at each position whose product with the hidden state is the target.

        For decoders the column of the unembedding of the word that is likeliest next, or the
        difference of those of both words; for others the hidden state itself, of length 1.
        (pieces, d_model).
        """
        if not goes_on(self.model):
            lengths: Tensor = self.hidden.norm(dim=-1, keepdim=True)
            return self.hidden / lengths
        U = self.model.unembedding
        if self.words is None:
            return U[:, (self.hidden @ U).argmax(-1)].T
        return (U[:, self.words[0]] - U[:, self.words[1]]).expand_as(self.hidden)

    @property
    def positions(self) -> range:
        """Positions of all pieces."""
        return range(len(self.pieces.ids))

    def changed(
        self, several: Sequence[Intervention], n_layers: int, turn: int = 0, turns: int = 1
    ) -> Iterator[dict[int, Tensor]]:
        """The outputs of the first layers of changed runs, by layer, some runs after the others.

        turn, turns: which of how many such calls it is. Each (interventions, pieces, d_model).
        """
        at_once = max(1, MAX_PIECES_AT_ONCE // len(self.pieces.ids))
        for first in range(0, len(several), at_once):
            self.progress(turn * len(several) + first, turns * len(several))
            some = several[first : first + at_once]
            outputs = {}
            for layer, run in changed_runs(self.model, self.run, some):
                if layer < n_layers:
                    outputs[layer] = run.output.expand(len(some), *run.output.shape[-2:])
                if layer >= n_layers - 1:
                    break
            yield outputs

    def rest_of(self, rows: Tensor, first: int, edit: Edit | None = None) -> dict[int, Tensor]:
        """The outputs of each layer for sentences that have these of its pieces, by position.

        rows (sentences, pieces); first: the sentences begin with so many pieces of this one, which
        are not in rows; edit: see `Model.forward`. (sentences, pieces, d_model).
        """
        kept = [run.kept.truncate(first, len(rows)) for run in self.runs] if first else []
        batch, layers = Padded(self.pieces.ids[rows]), range(len(self.layers))
        forward = self.model.forward(batch, edit=edit, layers=layers, after=kept)
        runs = itertools.islice(forward, len(self.layers))
        return {layer: run.output for layer, run in enumerate(runs)}

    def ends_of(self, sentences: Sequence[Tensor]) -> Iterator[Tensor]:
        """The last hidden states of other sentences of any lengths. ids (pieces,) each.

        (pieces, d_model) each.
        """
        n_layers, longest = len(self.layers), max(map(len, sentences))
        at_once = max(1, MAX_PIECES_AT_ONCE // longest)
        for first in range(0, len(sentences), at_once):
            self.progress(first, len(sentences))
            some = sentences[first : first + at_once]
            lengths = torch.tensor([len(ids) for ids in some])
            ids = pad_sequence([*some], batch_first=True)
            mask = torch.arange(ids.shape[1]) < lengths[:, None]
            batch = Padded(ids, None if bool(mask.all()) else mask)
            *_, last = itertools.islice(self.model.forward(batch), n_layers)
            states = self.final(last.output)
            yield from (state[:length] for state, length in zip(states, lengths, strict=True))

    def target(self, hidden: Tensor) -> Tensor:
        """The number that a gradient or an erasure is asked about, at each position.

        hidden (…, pieces, d_model) -> (…, pieces), see `directions`.
        """
        return (hidden * self.directions).sum(-1)


def vectors(followed: Followed, layer: int) -> Tensor:
    """Σ_h w^h_ij v^h_j W_o^h, through the norm of what attention adds, where there is one.

    Their sum over the keys, and the bias of W_o, is what attention adds. (queries, keys, d_model).
    """
    around, run = followed.layers[layer], followed.runs[layer]
    W, bias = around.attention.projection("output")
    assert W is not None
    values = run.trace.values @ W.unflatten(0, (around.attention.heads, -1))
    found = torch.einsum("hqk,hkd->qkd", run.trace.applied, values)
    norm = around.attention_norms.added
    if norm is not None:
        attended = linear(merge_heads(run.trace.output), W, bias)
        found = norm.split(found, attended[:, None])
    return found


def with_residual(followed: Followed, layer: int) -> Tensor:
    """Add x_i to `vectors` where the key is the query itself. (queries, keys, d_model)."""
    found = vectors(followed, layer)
    found.diagonal(0, 0, 1).add_(followed.runs[layer].x.T)
    return found


def through_norm(followed: Followed, layer: int) -> Tensor:
    """T_ij: the same through the norm behind the sum, taken apart. (queries, keys, d_model).

    (v - mean(v)) / σ(full sum) · γ, without β. Layers that norm first have no norm there.
    """
    found = with_residual(followed, layer)
    norm = followed.layers[layer].attention_norms.after
    return found if norm is None else norm.split(found, followed.runs[layer].middle[:, None])


def mean_weights(followed: Followed, layer: int) -> Tensor:
    """The weights of a layer, mean over its heads, as vectors of one number. (queries, keys, 1)."""
    return followed.runs[layer].trace.weights.mean(0)[..., None]


def mixing_ratio(
    followed: Followed, parts: Callable[[Followed, int], Tensor] = through_norm
) -> Tensor:
    """Share of each vector that comes from other tokens, of each layer. (layers, queries).

    ‖Σ_{j≠i} T_ij‖ / (‖Σ_{j≠i} T_ij‖ + ‖T_ii‖), in [0, 1] (Kobayashi et al. 2021, section 3.3).
    parts: a function of a layer -> T (queries, keys, d): `through_norm`, `with_residual`,
    `vectors`, or `mean_weights`.
    """
    rows = []
    for layer in range(len(followed.layers)):
        found = parts(followed, layer)
        own = found.diagonal(0, 0, 1).T
        others = (found.sum(1) - own).norm(dim=-1)
        rows.append(others / (others + own.norm(dim=-1)))
    return torch.stack(rows)


def raw(followed: Followed) -> Tensor:
    return torch.stack([run.trace.weights.mean(0) for run in followed.runs])


def raw_mean(followed: Followed) -> Tensor:
    weights = raw(followed)
    return torch.stack(
        [weights[(last + 1) // 2 : last + 1].mean(0) for last in range(len(weights))]
    )


def norms(followed: Followed) -> Tensor:
    layers = range(len(followed.layers))
    return torch.stack([vectors(followed, layer).norm(dim=-1) for layer in layers])


def norms_with_residual(followed: Followed) -> Tensor:
    layers = range(len(followed.layers))
    return torch.stack([with_residual(followed, layer).norm(dim=-1) for layer in layers])


def norms_through_norm(followed: Followed) -> Tensor:
    layers = range(len(followed.layers))
    return torch.stack([through_norm(followed, layer).norm(dim=-1) for layer in layers])


def rolled(steps: Tensor) -> Tensor:
    """A_l ··· A_1 for each l, later layers on the left. steps (layers, tokens, tokens)."""
    products = [steps[0]]
    for step in steps[1:]:
        products.append(step @ products[-1])
    return torch.stack(products)


def row_normalised(matrix: Tensor) -> Tensor:
    """Each row divided by its sum; a row of zeros stays. (…, queries, keys)."""
    sums = matrix.sum(-1, keepdim=True)
    return matrix / sums.where(sums > 0, 1.0)


def with_identity(weights: Tensor) -> Tensor:
    """Rows of weights + I, to 1: the residual path counts for as much as all heads. (…, n, n)."""
    return row_normalised(weights + torch.eye(weights.shape[-1]))


def rollout(followed: Followed) -> Tensor:
    return rolled(with_identity(raw(followed)))


def flow(followed: Followed) -> Tensor:
    return flow_of(with_identity(raw(followed)), followed.progress, followed.after)


def flow_of(
    steps: Tensor,
    progress: Progress = lambda done, of: None,
    after: Collection[int] | None = None,
) -> Tensor:
    """The maximum flow from each token after each layer to each token before the first, rows to 1.

    steps (layers, queries, keys): the capacities of the edges from a layer's queries to its keys.
    progress: see `Followed`; after: the layers that are asked for, None: all; others are nan.
    """
    n_layers, n_tokens, _ = steps.shape
    layers = range(n_layers) if after is None else after
    capacities = (steps.double() * WHOLE).round().to(torch.int32)
    places = capacities.nonzero()
    layer, query, key = places.T.numpy()
    numbers = capacities[capacities > 0].numpy()
    ends = (layer + 1) * n_tokens + query, layer * n_tokens + key
    found, reached, rows = np.full(steps.shape, np.nan), torch.eye(n_tokens), itertools.count()
    for above, step in enumerate(capacities):
        reached = ((step > 0).float() @ reached > 0).float()
        if above not in layers:
            continue
        below, size = layer <= above, (above + 2) * n_tokens
        edges = (numbers[below], (ends[0][below], ends[1][below]))
        graph = csr_array(edges, shape=(size, size), dtype=np.int32)
        found[above] = 0  # between those that no path joins
        for row, columns in enumerate(reached):
            progress(next(rows), len(layers) * n_tokens)
            source = (above + 1) * n_tokens + row
            for column in columns.nonzero()[:, 0].tolist():
                found[above, row, column] = maximum_flow(graph, source, column).flow_value
    return row_normalised(torch.from_numpy(found)).float()


def alti_steps(followed: Followed) -> Tensor:
    """Of each layer relu(‖y_i‖₁ - ‖y_i - T_ij‖₁), rows to 1. (layers, queries, keys).

    A row of which no part comes near y_i stays 0.
    """
    steps = []
    for layer, run in enumerate(followed.runs):
        norm = followed.layers[layer].attention_norms.after
        y = (run.middle if norm is None else norm(run.middle))[:, None]
        parts = through_norm(followed, layer)
        near = y.norm(p=1, dim=-1) - (y - parts).norm(p=1, dim=-1)
        steps.append(row_normalised(near.relu()))
    return torch.stack(steps)


def alti(followed: Followed) -> Tensor:
    return rolled(alti_steps(followed))


def alti_logit(followed: Followed) -> Tensor:
    model = followed.model
    assert isinstance(model, Transformer)
    total, direction = followed.runs[-1].output[:, None], followed.directions[:, None]
    before = rolled(alti_steps(followed))

    def votes(parts: Tensor) -> Tensor:
        norm = model.parts.final_norm
        normed = parts if norm is None else norm.split(parts, total)
        return (normed * direction).sum(-1)

    found = votes(followed.runs[0].entered[:, None])[:, 0].diag()
    layers = []
    for layer in range(len(followed.layers)):
        voted = votes(vectors(followed, layer))
        found = found + (voted @ before[layer - 1] if layer else voted)
        layers.append(found)
    return torch.stack(layers)


def gradient(followed: Followed) -> Tensor:
    n_tokens = len(followed.pieces.ids)
    at_once = max(1, MAX_PIECES_AT_ONCE // n_tokens)
    rows = []
    for some in torch.arange(n_tokens).split(at_once):
        followed.progress(int(some[0]), n_tokens)
        rows.append(_gradient(followed, some))
    return torch.cat(rows, 1)


def gradients(followed: Followed, positions: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Weights of each layer, and the gradients of the target at some positions by them.

    Lists of (positions, heads, queries, keys), one for each layer.
    """
    ids = followed.pieces.ids.expand(len(positions), -1)
    batch = Padded(ids)
    with torch.enable_grad():
        start = Start(0, followed.model.embed(ids).detach().requires_grad_())
        forward = followed.model.forward(batch, start=start)
        runs = [*itertools.islice(forward, len(followed.layers))]
        targets = followed.target(followed.final(runs[-1].output))
        weights = [run.trace.weights for run in runs]
        slopes = torch.autograd.grad(targets[range(len(positions)), positions].sum(), weights)
    return [each.detach() for each in weights], [*slopes]


def _gradient(followed: Followed, positions: Tensor) -> Tensor:
    """The rows of some positions. (layers, positions, keys)."""
    together = torch.eye(len(followed.pieces.ids)).expand(len(positions), -1, -1)
    found = []
    for weights, slopes in zip(*gradients(followed, positions), strict=True):
        together = together + (slopes * weights).relu().mean(1) @ together
        found.append(together[range(len(positions)), positions])
    return torch.stack(found)


def value_zeroing_steps(followed: Followed) -> Tensor:
    """Of each layer the cosine distance of each output of the block with and without the values of
    a key in all heads, rows to 1. (layers, queries, keys)."""
    steps, n_layers = [], len(followed.layers)
    for layer, run in enumerate(followed.runs):
        several = [[Change(layer, "values", 0.0, positions=[key])] for key in followed.positions]
        changed = followed.changed(several, layer + 1, layer, n_layers)
        outputs = torch.cat([runs[layer] for runs in changed])
        distances = 1 - cosine_similarity(outputs.double(), run.output.double(), dim=-1)
        steps.append(row_normalised(followed.seen(distances.T.clamp_min(0).float())))
    return torch.stack(steps)


def value_zeroing(followed: Followed) -> Tensor:
    return rolled(value_zeroing_steps(followed))


def erasure(followed: Followed) -> Tensor:
    found = erased(followed, ways_of(followed.model)[0])
    if followed.words is not None:
        found.states[-1] = found.drops.abs()
    return found.states


@dataclass(frozen=True, eq=False)
class Erasure:
    """Effects on each token when another is erased.

    states (layers, tokens, erased tokens): the cosine distance of a token's output after each layer
    from what it was; drops (tokens, erased tokens): by how much its target falls, see
    `Followed.directions`. Where a token is gone itself there is no number.
    """

    states: Tensor
    drops: Tensor


def erased(followed: Followed, way: str) -> Erasure:
    """Erase each token of a sentence, in one of `WAYS`.

    Raises ValueError where there is no such way, or the model has no mask token to put in.
    """
    if way not in WAYS or (way == MASKED and mask_of(followed.model) is None):
        offered = ", ".join(ways_of(followed.model))
        raise ValueError(f"tokens are erased in one of these ways: {offered}; got {way!r}")
    n_tokens, n_layers = len(followed.positions), len(followed.layers)
    states = torch.full((n_layers, n_tokens, n_tokens), torch.nan)
    drops = torch.full((n_tokens, n_tokens), torch.nan)
    for part in WAYS[way](followed):
        columns, rows = torch.tensor(part.positions)[:, None], part.rows
        states[:, : part.first, part.positions] = 0.0  # who sees nothing of it
        drops[: part.first, part.positions] = 0.0
        for layer, outputs in part.outputs.items():
            was, now = followed.runs[layer].output, outputs
            if layer == n_layers - 1:
                was, now = followed.final(was), followed.final(now)
            was, now = was[rows].double(), now.double()
            moved = 1 - cosine_similarity(now, was, dim=-1)
            states[layer, rows, columns] = moved.clamp_min(0).float()
        fell = ((was - now) * followed.directions[rows].double()).sum(-1)
        drops[rows, columns] = fell.float()
    if way == HIDDEN:
        states.diagonal(0, 1, 2).fill_(torch.nan)
        drops.fill_diagonal_(torch.nan)
    return Erasure(followed.seen(states), followed.seen(drops))


@dataclass(frozen=True, eq=False)
class Erased:
    """Runs of a sentence, each with the token at one of `positions` erased.

    rows (positions, tokens): where the tokens of the outputs stand in the whole sentence; first:
    before which position no token sees any of them; outputs: of each layer (positions, tokens,
    d_model).
    """

    positions: list[int]
    rows: Tensor
    first: int
    outputs: dict[int, Tensor]


def _masked(followed: Followed) -> Iterator[Erased]:
    """The mask token in the place of each token."""
    mask, first = mask_of(followed.model), 0
    assert mask is not None
    several = [[Token(position, mask)] for position in followed.positions]
    everything = torch.arange(len(several))
    for outputs in followed.changed(several, len(followed.layers)):
        count = len(outputs[0])
        positions = [*range(first, first + count)]
        yield Erased(positions, everything.expand(count, -1), 0, outputs)
        first += count


def _some(followed: Followed) -> Iterator[tuple[list[int], int]]:
    """Positions that are erased together, and from which one on the model runs again."""
    n_tokens = len(followed.positions)
    at_once = max(1, MAX_PIECES_AT_ONCE // n_tokens)
    if followed.causal:
        at_once = min(at_once, TOGETHER)
    for first in range(0, n_tokens, at_once):
        followed.progress(first, n_tokens)
        positions = [*range(first, min(first + at_once, n_tokens))]
        yield positions, first if followed.causal else 0


def _left_out(followed: Followed) -> Iterator[Erased]:
    """The sentence without each token: those behind it move up."""
    everything = torch.arange(len(followed.positions))
    for positions, begin in _some(followed):
        rest = everything[begin:].expand(len(positions), -1)
        rows = rest[rest != torch.tensor(positions)[:, None]].view(len(positions), -1)
        if rows.numel():
            yield Erased(positions, rows, begin, followed.rest_of(rows, begin))


def _hidden(followed: Followed) -> Iterator[Erased]:
    """No other token sees the erased one as a key, in any layer: all positions stay."""
    everything = torch.arange(len(followed.positions))
    for positions, begin in _some(followed):
        rows = everything[begin:].expand(len(positions), -1)
        shown = torch.ones(len(positions), 1, rows.shape[1], len(everything), dtype=torch.bool)
        for index, position in enumerate(positions):
            shown[index, :, :, position] = False
            shown[index, :, position - begin, position] = True

        def hide(_: int, run: LayerRun, shown: Tensor = shown) -> LayerRun:
            mask = run.trace.mask
            return run.edited(
                trace=replace(run.trace, mask=shown if mask is None else mask & shown)
            )

        yield Erased(positions, rows, begin, followed.rest_of(rows, begin, hide))


MASKED, HIDDEN, LEFT_OUT = "masked", "hidden", "left out"
# how a token can be erased; the last way alone moves positions
WAYS = {MASKED: _masked, HIDDEN: _hidden, LEFT_OUT: _left_out}


def ways_of(model: Model) -> list[str]:
    """Select the `WAYS` that a model has what they need for; the first one is `erasure`'s."""
    return [way for way in WAYS if way != MASKED or mask_of(model) is not None]


@functools.lru_cache(maxsize=16)
def mask_of(model: Model) -> int | None:
    """The id of the piece that stands for a hidden one, where the model was trained with it."""
    for text in MASKS:
        pieces = model.pieces(text)
        at = [position for position, shown in enumerate(pieces.texts) if shown == text]
        if len(at) == 1 and sum(not special for special in pieces.special) <= 1:
            return int(pieces.ids[at[0]])
    return None


@dataclass(frozen=True)
class Method:
    """A way to get associations.

    name: as links and tables have it; title; source: who described it; definition: exactly;
    number: a `Followed` -> (layers, queries, keys); decoder: whether it needs a model that goes on;
    alone: whether each layer counts by itself, without those before it; apart: whether what is
    found after each layer takes work of its own, so that `Followed.after` saves it.
    """

    name: str
    title: str
    source: str
    definition: str
    number: Callable[[Followed], Tensor]
    decoder: bool = False
    alone: bool = False
    apart: bool = False

    def __call__(self, followed: Followed) -> Tensor:
        """See `associate`."""
        model = followed.model
        if not followed.layers:
            raise ValueError(f"{model.about.title} has no layers of self-attention")
        if self.decoder and not followed.goes_on:
            raise ValueError(
                f"{self.title} needs a model that goes on, {model.about.title} is none"
            )
        with torch.no_grad():
            return self.number(followed)


KOBAYASHI_2020 = f"[Kobayashi et al. 2020]({ARXIV}2004.10102)"
KOBAYASHI_2021 = f"[Kobayashi et al. 2021]({ARXIV}2109.07152)"
ABNAR = f"[Abnar & Zuidema 2020]({ARXIV}2005.00928)"
CHEFER = f"[Chefer et al. 2021]({ARXIV}2103.15679)"

# All methods: tables, the command and its choices follow from this.
METHODS = {
    method.name: method
    for method in (
        Method(
            "raw",
            "Raw weights",
            ABNAR,
            "The weights of a layer, mean over its heads.",
            raw,
            alone=True,
        ),
        Method(
            "raw-mean",
            "Raw weights, mean over layers",
            ABNAR,
            "The weights, mean over heads and over the later half of the layers so far: "
            "l/2 rounded up to l, counted from 0.",
            raw_mean,
        ),
        Method(
            "norm",
            "Norm-based",
            KOBAYASHI_2020,
            "‖Σ_h w^h_ij v^h_j W_o^h‖₂ of a layer; the bias of W_o is left out.",
            norms,
            alone=True,
        ),
        Method(
            "norm-residual",
            "Norm-based with residual",
            KOBAYASHI_2021,
            "The same with x_i added where j = i.",
            norms_with_residual,
            alone=True,
        ),
        Method(
            "norm-layer-norm",
            "Norm-based with residual and layer norm",
            KOBAYASHI_2021,
            "The same, each vector v as (v - mean(v)) / σ(full sum) · γ. Layers that norm first "
            "have no norm there.",
            norms_through_norm,
            alone=True,
        ),
        Method(
            "rollout",
            "Rollout",
            ABNAR,
            "A_l ··· A_1, with A = the mean of the heads' weights + I, rows to 1.",
            rollout,
        ),
        Method(
            "flow",
            "Flow",
            ABNAR,
            "The maximum flow through a graph whose edges have the A of rollout for capacities, "
            "rows to 1.",
            flow,
            apart=True,
        ),
        Method(
            "alti",
            "ALTI",
            f"[Ferrando et al. 2022]({ARXIV}2203.04212)",
            "relu(‖y_i‖₁ - ‖y_i - T_ij‖₁), rows to 1, multiplied over the layers without I; T_ij: "
            "what x_j adds to y_i through attention, residual path and layer norm taken apart.",
            alti,
        ),
        Method(
            "alti-logit",
            "ALTI-Logit",
            f"[Ferrando et al. 2023]({ARXIV}2305.12535)",
            "x_i of the first layer through the unembedding where j = i, and the sum over the "
            "layers of (Σ_h w^h_ik v^h_k W_o^h through the unembedding) times the ALTI of the "
            "layers before from k to j. The last norm is taken apart; biases of W_o and "
            "feed-forwards count for nothing.",
            alti_logit,
            decoder=True,
        ),
        Method(
            "gradient",
            "Gradient × attention",
            CHEFER,
            "R = I, then R += mean_h relu(∇A ⊙ A) R for each layer; row i with the gradients of "
            "the target at i: the score of the likeliest next piece, or the difference of two; for "
            "encoders the hidden state along its own direction.",
            gradient,
        ),
        Method(
            "value-zeroing",
            "Value zeroing",
            f"[Mohebbi et al. 2023]({ARXIV}2301.12971)",
            "v_j = 0 in all heads of a layer, weights kept: the cosine distance of each output of "
            "the block from what it was, rows to 1, multiplied over the layers without I.",
            value_zeroing,
        ),
        Method(
            "erasure",
            "Erasure",
            ABNAR,
            "Token j replaced by the mask token, or, where the model has none, hidden from all "
            "other tokens as a key of every layer: the cosine distance of output i from what it "
            "was; with two words, how far the difference of their scores moves. What a token that "
            "is hidden does to itself is not a number.",
            erasure,
        ),
    )
}


def recency(followed: Followed) -> Tensor:
    """The position of the key, whatever the query: a later one counts for more. (n, n)."""
    positions = torch.arange(1.0, 1 + len(followed.positions))
    return followed.seen(positions.expand(len(positions), -1))


def nearness(followed: Followed) -> Tensor:
    """The number of tokens less the distance of the key from the query. (n, n)."""
    positions = torch.arange(float(len(followed.positions)))
    return followed.seen(len(positions) - (positions - positions[:, None]).abs())


def embedding_length(followed: Followed) -> Tensor:
    """The length of what enters the first layer at the key, whatever the query. (n, n)."""
    lengths = followed.runs[0].entered.norm(dim=-1)
    return followed.seen(lengths.expand(len(lengths), -1))


def rarity(followed: Followed) -> Tensor:
    """The number of the key's piece in the vocabulary, whatever the query. (n, n)."""
    ids = followed.pieces.ids.float()
    return followed.seen(ids.expand(len(ids), -1))


def rarity_and_nearness(followed: Followed) -> Tensor:
    """The sum of the ranks of both among the keys that a query sees. (n, n)."""
    found = torch.zeros(len(followed.positions), len(followed.positions))
    for query, both in enumerate(zip(rarity(followed), nearness(followed), strict=True)):
        seen = slice(query + 1 if followed.causal else None)
        ranks = (torch.from_numpy(rankdata(numbers[seen])).float() for numbers in both)
        found[query, seen] = sum(ranks)
    return found


def _baseline(
    name: str, title: str, definition: str, number: Callable[[Followed], Tensor]
) -> Method:
    return Method(name, title, "", definition, lambda followed: number(followed)[None])


# Orders of the keys that ask no layer: a method that agrees with erasure no better than these says
# nothing of the model.
BASELINES = {
    method.name: method
    for method in (
        _baseline(
            "recency", "Recency", "The position of the key: a later one counts more.", recency
        ),
        _baseline("nearness", "Nearness", "A key nearer to the query counts more.", nearness),
        _baseline(
            "embedding",
            "Length of the embedding",
            "The length of what enters the first layer at the key.",
            embedding_length,
        ),
        _baseline(
            "rarity",
            "Number in the vocabulary",
            "The number of the key's piece in the vocabulary, where rarer pieces stand later.",
            rarity,
        ),
        _baseline(
            "rarity-nearness",
            "Number in the vocabulary and nearness",
            "The sum of the ranks of both among the keys that a query sees.",
            rarity_and_nearness,
        ),
    )
}


def associate(
    model: Model,
    pieces: Pieces,
    method: str,
    words: tuple[int, int] | None = None,
    progress: Progress = lambda done, of: None,
    after: Collection[int] | None = None,
) -> Tensor:
    """The associations of a sentence by one of `METHODS`. (layers, queries, keys).

    words: ids of two pieces whose scores are told apart, for decoders; progress, after: see
    `Followed`.
    Raises ValueError where there is no such method, or the model has not what it needs.
    """
    must_be("model", model, Model, how="trained.sources.load gives one")
    must_be("pieces", pieces, Pieces, how="model.pieces(text) gives them")
    if words is not None:
        must_be_several("words", words, int, example="the ids of two pieces, (5, 8)")
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"the method must be one of {', '.join(METHODS)}, got {method!r}")
    return METHODS[method](Followed(model, pieces, words, progress, after))


def methods_for(model: Model) -> list[str]:
    """The methods that a model has what they need for."""
    return [name for name, method in METHODS.items() if goes_on(model) or not method.decoder]


def row_agreements(
    found: np.ndarray, yardstick: np.ndarray, kept: Sequence[int], causal: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Spearman's rank correlation of each row that has one, and of how many keys; ties are ties.

    found (…, queries, keys); yardstick (queries, keys). Of each row count the keys that are kept,
    but the token itself, those behind it where causal, and what is no number in the yardstick. A
    row needs `FEWEST` keys and two numbers in the yardstick; one of a single number in `found` is
    nan. (…, rows), (rows,).
    """
    rows, counts = [np.empty((*found.shape[:-2], 0))], []
    for query in kept:
        keys = [key for key in kept if key != query and not (causal and key > query)]
        keys = [key for key in keys if np.isfinite(yardstick[query, key])]
        if len(keys) < FEWEST or np.ptp(yardstick[query, keys]) == 0:
            continue
        ours = _centred_ranks(found[..., query, :][..., keys])
        theirs = _centred_ranks(yardstick[query, keys])
        lengths = np.linalg.norm(ours, axis=-1) * np.linalg.norm(theirs)
        with np.errstate(invalid="ignore"):
            rows.append((ours @ theirs / lengths)[..., None])
        counts.append(len(keys))
    return np.concatenate(rows, -1), np.array(counts)


def _centred_ranks(numbers: np.ndarray) -> np.ndarray:
    ranks = rankdata(numbers, axis=-1)
    centred: np.ndarray = ranks - ranks.mean(-1, keepdims=True)
    return centred


def agreement(found: Tensor, yardstick: Tensor, kept: Sequence[int], causal: bool = False) -> float:
    """The rank agreement of two associations (queries, keys): see `row_agreements`.

    The mean over the rows, each weighted by how many keys it has. kept: the positions that count,
    without those of attention sinks, see `Pieces.kept`. nan where no row has a correlation.
    """
    rows, counts = row_agreements(found.numpy(), yardstick.numpy(), kept, causal)
    known = np.isfinite(rows)
    return float(np.average(rows[known], weights=counts[known])) if known.any() else math.nan


@dataclass(frozen=True, eq=False)
class Curves:
    """Faithfulness of an order of tokens, by how many of the first ones are taken (DeYoung et al.
    2020, section 4.2): 0, 1, … all of them.

    comprehensiveness: how far the target drops when these are removed; sufficiency: how far it
    drops when these alone are kept.
    """

    comprehensiveness: Tensor
    sufficiency: Tensor


@torch.no_grad()
def curves(followed: Followed, importance: Tensor) -> Curves:
    """Fall of the target as tokens go, the most important first.

    importance (pieces,). Special tokens stay, and for decoders the last one, at which the target
    is. For decoders the target is that of `Followed.directions` there; for others it is the cosine
    between the mean hidden state and that of the whole sentence. Removed tokens become the mask
    token, or are left out where the model has none.
    """
    pieces, mask = followed.pieces, mask_of(followed.model)
    free = [at for at in range(len(pieces.ids)) if not pieces.special[at]]
    if followed.goes_on:
        free = [at for at in free if at != len(pieces.ids) - 1]
    order = sorted(free, key=lambda at: -float(importance[at]))

    def target(states: Tensor) -> float:
        if followed.goes_on:
            return float(states[-1] @ followed.directions[-1])
        return float(cosine_similarity(states.mean(0), followed.hidden.mean(0), dim=-1))

    def without(removed: Sequence[int]) -> Tensor:
        ids = pieces.ids.clone()
        if mask is None:
            return ids[[at for at in range(len(ids)) if at not in removed]]
        ids[[*removed]] = mask
        return ids

    whole, counts = target(followed.hidden), range(len(order) + 1)
    left = [without(part) for count in counts for part in (order[:count], order[count:])]
    there = [ids for ids in left if len(ids)]
    states = followed.ends_of(there) if there else iter(())
    drops = [whole - (target(next(states)) if len(ids) else 0.0) for ids in left]
    return Curves(torch.tensor(drops[::2]), torch.tensor(drops[1::2]))
