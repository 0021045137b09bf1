"""A trained model: sentences in pieces, and one forward pass over its layers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import NamedTuple, Protocol, TypeGuard

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from attention.core.arguments import must_be, must_be_several
from attention.core.functional import Trace
from attention.core.limits import limits
from attention.core.masks import padded
from attention.core.printing import shapes
from attention.trained.layers import KVCache, Layer, LayerRun
from attention.trained.parts import Norm, through

Edit = Callable[[int, LayerRun], LayerRun]


class NoWords(ValueError):
    """There is no word in the sentence."""

    def __init__(self) -> None:
        super().__init__("the sentence has no words yet")


class UnknownLayout(ValueError):
    """Steps that only a known layout tells."""

    def __init__(self) -> None:
        super().__init__(
            "this model is run by transformers, and its layout is not known here: how its vectors "
            "become queries, keys and values, and what its norms do, cannot be shown"
        )


@dataclass(frozen=True, eq=False)
class Pieces:
    """A sentence as a model reads it.

    ids (pieces,); texts: the pieces as they are shown; words: for each piece which word of the
    sentence it belongs to, None for special tokens; left_out: how many pieces did not fit.
    """

    ids: Tensor
    texts: tuple[str, ...]
    words: tuple[int | None, ...]
    left_out: int = 0

    @property
    def special(self) -> list[bool]:
        """For each piece whether the model's reader put it in, as [CLS]."""
        return [word is None for word in self.words]

    def kept(self, aside: bool) -> list[int]:
        """The positions of the pieces that are shown: all, or all but those that can be ignored.

        These are the special ones; without such the first piece, on which most heads of a causal
        model put the weight they have no other use for, an attention sink (Xiao et al. 2024,
        section 3.1).
        """
        if not aside:
            return list(range(len(self.words)))
        if any(self.special):
            return [position for position, special in enumerate(self.special) if not special]
        return list(range(min(1, len(self.words) - 1), len(self.words)))

    def cut(self, most: int) -> Pieces:
        """As many of them as fit; special ones behind all others stay."""
        over, special = len(self.ids) - most, self.special
        if over <= 0:
            return self
        behind = len(special) if all(special) else special[::-1].index(False)
        end = len(self.ids) - behind
        kept = [*range(end - over), *range(end, len(self.ids))]
        texts, words = (tuple(part[at] for at in kept) for part in (self.texts, self.words))
        return Pieces(self.ids[kept], texts, words, self.left_out + over)


@dataclass(frozen=True, eq=False)
class Padded:
    """Sentences in pieces side by side, the shorter ones padded behind.

    ids (…, pieces); mask (…, pieces), True = a piece, None: there is no padding; output: what is
    written over each sentence, for models that translate.
    Raises ValueError where the mask does not fit, or padding stands before a piece.
    """

    ids: Tensor
    mask: Tensor | None = None
    output: Padded | None = None

    def __post_init__(self) -> None:
        if self.mask is None:
            return
        if self.mask.dtype != torch.bool or self.mask.shape != self.ids.shape:
            raise ValueError(
                f"mask must be bool (True = a piece) of shape {tuple(self.ids.shape)}, "
                f"got {self.mask.dtype} of shape {tuple(self.mask.shape)}"
            )
        if (self.mask[..., 1:] & ~self.mask[..., :-1]).any():
            raise ValueError("padding must stand behind all pieces of a sentence")

    @classmethod
    def of(cls, sentences: Sequence[Pieces], outputs: Sequence[Pieces] = ()) -> Padded:
        """Sentences of any lengths, (sentences, pieces), and what is written over each."""
        lengths = torch.tensor([len(pieces.ids) for pieces in sentences])
        ids = pad_sequence([pieces.ids for pieces in sentences], batch_first=True)
        mask = torch.arange(ids.shape[1]) < lengths[:, None]
        return cls(ids, mask, cls.of(outputs) if outputs else None)


@dataclass(frozen=True, eq=False)
class Start:
    """Beginning of a forward pass.

    layer: its position; x (…, tokens, d_model): what enters it; memory (…, keys, d_model): where
    keys and values come from in layers that cross, None: from what the encoder's layers give.
    """

    layer: int
    x: Tensor
    memory: Tensor | None = None


@dataclass(frozen=True, eq=False)
class LayerInput:
    """Input of one layer.

    entered (queries, d_model): the layer's input; x (queries, d_model): what its attention gets,
    the same but for a recurrence between; memory (keys, d_model) and its pieces: where keys and
    values come from, None where they come from x.
    """

    layer: Layer
    pieces: Pieces
    entered: Tensor
    x: Tensor
    memory: Tensor | None = None
    memory_pieces: Pieces | None = None

    __repr__ = shapes

    def trace(self) -> Trace:
        """Every step of the layer's attention."""
        return self.layer.trace(self.x, self.memory)


@dataclass(frozen=True, eq=False)
class Run:
    """A sentence through a model; small, so that it can be kept: a layer's Trace is made anew.

    pieces: of the sentence; inputs: what goes into each layer; hidden (pieces, d_model): what
    comes out of the model.
    """

    pieces: Pieces
    inputs: tuple[LayerInput, ...]
    hidden: Tensor

    __repr__ = shapes

    @property
    def batch(self) -> Padded:
        """The ids it ran over, and those of what was written, where there is any."""
        last = self.inputs[-1]
        written = Padded(last.pieces.ids) if last.layer.crosses else None
        return Padded(self.pieces.ids, output=written)

    def start(self, layer: int) -> Start:
        """Start of this run at one of its layers."""
        layer_input = self.inputs[layer]
        return Start(layer, layer_input.entered, layer_input.memory)

    @property
    def nbytes(self) -> int:
        """The memory its tensors take."""
        parts = [
            part
            for layer_input in self.inputs
            for part in (layer_input.entered, layer_input.x, layer_input.memory)
        ]
        kept = {id(part): part.nbytes for part in (self.hidden, *parts) if part is not None}
        return sum(kept.values())


class Sample(NamedTuple):
    """A sentence for a model, its title in a word or two, and the head to begin with."""

    title: str
    text: str
    layer: int
    head: int


@dataclass(frozen=True)
class About:
    """Description of a model for visitors.

    name: as links and the menu have it; title; source: who made it, and where it is described;
    words: what else there is to know, in a sentence or two; checkpoint: its name at Hugging Face
    or its folder; language: which it has learned, "" where nobody says; samples: sentences to try,
    of its own few words or its own language; the first stands where nobody has given one; base: the
    name of the model it was tuned from, "" where it was not.
    """

    name: str
    title: str
    source: str
    words: str = ""
    checkpoint: str = ""
    language: str = ""
    samples: tuple[Sample, ...] = ()
    base: str = ""


class Model:
    """Base of every trained model.

    about: see `About`; read: text -> its pieces, and back; layers: in the order in which they run;
    takes: how many pieces it takes; limit: how many of a sentence, whose weights are all seen.
    laid_out: if its projections, norms and feed-forwards are known, so that each step can be shown;
    adds_up: if its residual path is a sum of known parts.
    """

    laid_out = True

    @property
    def adds_up(self) -> bool:
        return True

    def __init__(self, about: About, read: Tokenizer, parts: Parts) -> None:
        self.about, self._read, self.parts = about, read, parts
        self.layers = parts.layers
        self.takes = min(limits().tokens, parts.limit)
        self.limit = min(limits().seen, parts.limit)

    def __repr__(self) -> str:
        sizes = f"layers={len(self.layers)}, heads={self.layers[0].attention.heads}"
        return f"{type(self).__name__}({self.about.name!r}, {sizes}, limit={self.limit})"

    @property
    def storages(self) -> dict[int, int]:
        """Bytes of each storage of its weights, by its address: models may share some."""
        storages = [tensor.untyped_storage() for tensor in tensors_of([*vars(self).values()])]
        return {storage.data_ptr(): storage.nbytes() for storage in storages}

    @property
    def nbytes(self) -> int:
        """The memory that its weights take, each part counted once where parts share one."""
        return sum(self.storages.values())

    def pieces(self, text: str) -> Pieces:
        """A sentence in pieces, as many as fit."""
        return self.all_pieces(text).cut(self.limit)

    def all_pieces(self, text: str) -> Pieces:
        """A text in as many pieces as the model takes. Raises ValueError where it is none."""
        must_be("text", text, str)
        return self._read(text)

    def shown(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Pieces of the vocabulary by their ids, as `Pieces.texts` has them."""
        must_be_several("ids", ids, int, example="[0]")
        return self._read.shown(ids)

    def embed(self, ids: Tensor, first: int = 0) -> Tensor:
        """Embed pieces for the first layer. ids (…, pieces); first: position of the first one."""
        return self.parts.embedding(ids, first)

    def embed_output(self, output: Padded) -> Tensor:
        """Embed the output for the first layer of a decoder, where there is one."""
        raise NotImplementedError

    def final(self, x: Tensor) -> Tensor:
        """Output of the model, given the output of its last layer."""
        return through(self.parts.final_norm, x)

    def forward(
        self,
        batch: Padded,
        *,
        edit: Edit | None = None,
        layers: Collection[int] | None = None,
        start: Start | None = None,
        after: Sequence[LayerRun | KVCache] = (),
    ) -> Iterator[LayerRun]:
        """All layers over sentences, one after the other, as far as the caller goes on.

        edit: (position of a layer, its run) -> the run that it goes on with, see
        `LayerRun.edited`; layers: those that it is called for, None: all of them. start: where to
        begin, None: at the ids. after: the runs of these layers over the pieces before, or what is
        kept of them, for layers that see none behind. There are gradients unless the caller
        switches them off.
        Raises ValueError where sentences do not fit.
        """
        must_be("batch", batch, Padded, how="as Padded(pieces.ids)")
        if start is None:
            start = Start(0, self.embed(batch.ids, after[0].projected.end if after else 0))
        positions = range(start.layer, len(self.layers))
        self._check(batch, layers, after, positions)
        x, memory = start.x, start.memory
        for position, before in zip(positions, after or itertools.repeat(None), strict=False):
            layer = self.layers[position]
            if layer.crosses and memory is None:
                if batch.output is None:
                    raise ValueError(f"{self.title_of(position)} needs an output, see Padded")
                memory, x = x, self.embed_output(batch.output)
            called = edit if layers is None or position in layers else None
            run = layer.run(
                x,
                memory if layer.crosses else None,
                padding=_padding(batch, layer, x, memory),
                edit=None if called is None else functools.partial(called, position),
                before=before,
            )
            yield run
            x = run.output

    def _check(
        self,
        batch: Padded,
        layers: Collection[int] | None,
        after: Sequence[LayerRun | KVCache],
        positions: range,
    ) -> None:
        """Raise ValueError where an edit would not be called, or nothing can go on."""
        if layers is not None:
            must_be_several("layers", layers, int, example="[0]")
        for position in layers or ():
            if position not in positions:
                raise ValueError(f"an edit must be of layers {positions}, got {position}")
        if not after:
            return
        if len(after) != len(positions):
            raise ValueError(f"runs of {len(positions)} layers go on, got {len(after)}")
        if batch.mask is not None and not self.layers[positions.start].crosses:
            raise ValueError("sentences that go on must have no padding")
        for position in positions:
            if not (self.layers[position].causal or self.layers[position].crosses):
                raise ValueError(f"{self.title_of(position)} sees what comes behind: none may come")

    def hidden(
        self,
        batch: Padded,
        *,
        edit: Edit | None = None,
        layers: Collection[int] | None = None,
        start: Start | None = None,
    ) -> Tensor:
        """Output of the model, see `forward`. (…, pieces, d_model)."""
        x = None if start is None else start.x
        for run in self.forward(batch, edit=edit, layers=layers, start=start):
            x = run.output
        assert x is not None
        return self.final(x)

    def run(self, text: str) -> Run:
        """A sentence through all layers. Raises NoWords when there is no word in it."""
        raise NotImplementedError

    @torch.no_grad()
    def run_pieces(self, pieces: Pieces, output: Pieces | None = None) -> Run:
        """Run a sentence that is in pieces already, and what is written over it.

        Pieces of layers that cross are those that each query produces.
        """
        must_be("pieces", pieces, Pieces, how="model.pieces(text) gives them")
        batch = Padded(pieces.ids, output=None if output is None else Padded(output.ids))
        inputs = []
        for layer, run in zip(self.layers, self.forward(batch), strict=True):
            if output is None or not layer.crosses:
                inputs.append(LayerInput(layer, pieces, run.entered, run.x))
            else:
                inputs.append(LayerInput(layer, output, run.entered, run.x, run.memory, pieces))
        return Run(pieces, tuple(inputs), self.final(run.output))

    def title_of(self, layer: int) -> str:
        """Title of a layer."""
        return f"layer {layer}"


def goes_on(model: Model) -> TypeGuard[Transformer]:
    """True if a model was trained to predict the next piece."""
    return isinstance(model, Transformer) and model.parts.unembedding is not None


def tensors_of(part: object) -> Iterator[Tensor]:
    """All tensors that a part of a model is made of."""
    if isinstance(part, Tensor):
        yield part
    elif isinstance(part, nn.Module):
        yield from part.buffers()
    elif isinstance(part, list | tuple):
        for each in part:
            yield from tensors_of(each)
    elif is_dataclass(part):
        yield from tensors_of([*vars(part).values()])


def _padding(batch: Padded, layer: Layer, x: Tensor, memory: Tensor | None) -> Tensor | None:
    """The mask that padding makes, (…, queries, keys), None where there is none."""
    queries = batch.output if layer.crosses else batch
    tokens = x, memory if layer.crosses and memory is not None else x
    found = [None if part is None else part.mask for part in (queries, batch)]
    if all(mask is None for mask in found):
        return None
    whole = (torch.ones(part.shape[-2], dtype=torch.bool) for part in tokens)
    return padded(*(one if mask is None else mask for one, mask in zip(whole, found, strict=True)))


class Table(Protocol):
    """A vector for each piece of the vocabulary, (vocabulary, d_model), as a tensor has them."""

    def __getitem__(self, ids: Tensor) -> Tensor: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Embedding:
    """Pieces -> vectors: each piece's own, `scale` times, plus that of its position where positions
    are learned; normed where the model does.

    pieces (vocabulary, d_model); positions (limit, d_model), the first one for the first piece.
    """

    pieces: Table
    positions: Tensor | None = None
    norm: Norm | None = None
    scale: float | None = None

    def __call__(self, ids: Tensor, first: int = 0) -> Tensor:
        """ids (…, tokens), the first one at position `first` -> (…, tokens, d_model).

        Raises ValueError where there are more than positions.
        """
        x = self.pieces[ids]
        return self.placed(x if self.scale is None else x * self.scale, first)

    def placed(self, x: Tensor, first: int = 0) -> Tensor:
        """Vectors of pieces (…, tokens, d_model) with those of their positions, normed."""
        if self.positions is not None:
            end = first + x.shape[-2]
            if end > len(self.positions):
                raise ValueError(f"a sentence may have {len(self.positions)} pieces, got {end}")
            x = x + self.positions[first:end]
        return through(self.norm, x)


@dataclass(frozen=True, eq=False)
class Stored:
    """Tensors that the parts of a model were read from.

    tensors: by their names in a checkpoint, without the `prefix` of a larger model; read: these,
    some of which may be others, -> the parts; across: if matrices are stored as (d_in, d_out).
    """

    tensors: Mapping[str, Tensor]
    prefix: str
    read: Callable[[Mapping[str, Tensor]], Parts]
    across: bool = False


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of a stack of layers.

    limit: how many pieces it takes; final_norm: what the last layer's output goes through, if
    anything; unembedding (d_model, vocabulary): what turns hidden states into scores of the next
    piece, for models that were trained to predict it; ends: the pieces that say that a text is
    over; decoder: where the last layers decode; stored: where a known layout has read them.
    """

    embedding: Embedding
    layers: Sequence[Layer]
    limit: int
    final_norm: Norm | None = None
    unembedding: Tensor | None = None
    ends: Collection[int] = ()
    decoder: Decoder | None = None
    stored: Stored | None = None


@dataclass(frozen=True, eq=False)
class Decoder:
    """Parts of a decoder besides its layers.

    embedding: of what it reads; table (vocabulary, d_model), bias (vocabulary,): the score of a
    piece is hidden · its row of the table + its bias; candidates: a function of the pieces of a
    source -> those that its output may be made of, in order; aligns: the head of the last layer
    that training guided to align both (Chen et al. 2016).
    """

    embedding: Embedding
    table: Table
    bias: Tensor
    candidates: Callable[[Tensor], Tensor]
    aligns: int = 0


class Tokenizer(Protocol):
    """Text -> its pieces, and back, see `pieces.Reader`."""

    def __call__(self, text: str) -> Pieces: ...

    def shown(self, ids: Sequence[int]) -> tuple[str, ...]: ...

    def text_of(self, ids: Sequence[int], after: Sequence[int] = ()) -> str | None: ...


class Transformer(Model):
    """A stack of layers of self-attention over embedded pieces."""

    def text_of(self, ids: Sequence[int], after: Sequence[int] = ()) -> str | None:
        """Text that is appended to a sentence of the pieces `after` when these pieces are chosen.

        The longer sentence has these very pieces again where the tokenizer allows it; it does not
        where it joins pieces, as "c" and "at". None where no text says what they are: parts of a
        character, or ids without a piece.
        """
        must_be_several("ids", ids, int, example="[0]")
        return self._read.text_of(ids, after)

    @property
    def unembedding(self) -> Tensor:
        """Turns hidden states into scores of the next piece. (d_model, vocabulary).

        Raises ValueError for models that were not trained to go on, see `goes_on`.
        """
        if self.parts.unembedding is None:
            raise ValueError(f"{self.about.title} was not trained to say which piece comes next")
        return self.parts.unembedding

    @property
    def stored(self) -> Stored:
        """Tensors that it was read from. Raises ValueError where no known layout has read it."""
        if self.parts.stored is None:
            raise ValueError(f"{self.about.title} must have a layout that is known here")
        return self.parts.stored

    def with_tensors(
        self, changed: Mapping[str, Tensor], about: About | None = None
    ) -> Transformer:
        """The model with other tensors at some names of `stored`; all others are shared.

        Raises ValueError where no known layout has read it.
        """
        parts = self.stored.read({**self.stored.tensors, **changed})
        return Transformer(about or self.about, self._read, replace(parts, ends=self.parts.ends))

    def run(self, text: str) -> Run:
        pieces = self.pieces(text)
        if all(pieces.special):
            raise NoWords
        return self.run_pieces(pieces)

    def scores(self, hidden: Tensor) -> Tensor:
        """Hidden states (…, d_model) -> the score of each piece to come next (…, vocabulary).

        Raises ValueError for models that were not trained to go on, see `goes_on`.
        """
        return hidden @ self.unembedding
