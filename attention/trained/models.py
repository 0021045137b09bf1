"""A trained model as pages use it: a sentence in pieces, and what goes into each of its layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from attention.core.limits import limits
from attention.trained.layers import Layer, Norm


class NoWords(ValueError):
    """There is no word in the sentence."""

    def __init__(self) -> None:
        super().__init__("the sentence has no words yet")


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


@dataclass(frozen=True, eq=False)
class Entering:
    """What goes into one layer.

    x (queries, d_model): the layer's input; memory (keys, d_model) and its pieces: where keys and
    values come from, None where they come from x.
    """

    layer: Layer
    pieces: Pieces
    x: Tensor
    memory: Tensor | None = None
    memory_pieces: Pieces | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """A sentence through a model; small, so that it can be kept: a layer's Trace is made anew.

    pieces: of the sentence; entering: what goes into each layer; hidden (pieces, d_model): what
    comes out of the model.
    """

    pieces: Pieces
    entering: tuple[Entering, ...]
    hidden: Tensor

    @property
    def nbytes(self) -> int:
        """The memory its tensors take."""
        inputs = [place.x for place in self.entering]
        memories = {id(place.memory): place.memory for place in self.entering}
        kept = [self.hidden, *inputs, *memories.values()]
        return sum(tensor.nbytes for tensor in kept if tensor is not None)


@dataclass(frozen=True)
class About:
    """What a visitor is told of a model.

    name: as links and the menu have it; title; source: who made it, and where it is described;
    words: what else there is to know, in a sentence or two; checkpoint: its name at Hugging Face
    or its folder.
    """

    name: str
    title: str
    source: str
    words: str = ""
    checkpoint: str = ""


class Model:
    """What every trained model is.

    about: see `About`; layers: in the order in which they run; limit: how many pieces it takes.
    """

    about: About
    layers: Sequence[Layer]
    limit: int

    def pieces(self, text: str) -> Pieces:
        """A sentence in pieces, as many as fit."""
        raise NotImplementedError

    def run(self, text: str) -> Run:
        """A sentence through all layers. Raises NoWords when there is no word in it."""
        raise NotImplementedError

    def rerun(self, run: Run, position: int, attended: Tensor) -> Tensor:
        """What would come out of the model if the attention of one layer added something else.

        attended (…, queries, d_model): what it adds, also several at once; all else stays as it
        was trained. Returns hidden states (…, pieces, d_model).
        """
        raise NotImplementedError

    def title_of(self, layer: int) -> str:
        """What a layer is called."""
        return f"layer {layer}"


@dataclass(frozen=True, eq=False)
class Embedding:
    """Pieces -> vectors: each piece's own, plus that of its position, normed where the model does.

    pieces (vocabulary, d_model); positions (limit, d_model), the first one for the first piece.
    """

    pieces: Tensor
    positions: Tensor
    norm: Norm | None = None

    def __call__(self, ids: Tensor) -> Tensor:
        """(tokens,) -> (tokens, d_model)."""
        x = self.pieces[ids] + self.positions[: len(ids)]
        return x if self.norm is None else self.norm(x)


class Reads(Protocol):
    """Text -> its pieces, and back, see `pieces.Reader`."""

    def __call__(self, text: str) -> Pieces: ...

    def shown(self, ids: Sequence[int]) -> tuple[str, ...]: ...

    def text_of(self, ids: Sequence[int], after: Sequence[int] = ()) -> str | None: ...


class Transformer(Model):
    """A stack of layers of self-attention over embedded pieces.

    read: text -> its pieces, and back; final_norm: what the last layer's output goes through, if
    anything; unembedding (d_model, vocabulary): what turns hidden states into scores of the next
    piece, for models that were trained to predict it.
    """

    def __init__(
        self,
        about: About,
        read: Reads,
        embedding: Embedding,
        layers: Sequence[Layer],
        final_norm: Norm | None = None,
        unembedding: Tensor | None = None,
    ) -> None:
        self.about, self._read, self.embedding = about, read, embedding
        self.layers, self.final_norm, self.unembedding = layers, final_norm, unembedding
        self.limit = min(limits().tokens, len(embedding.positions))

    def pieces(self, text: str) -> Pieces:
        return self._read(text)

    def shown(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Pieces of the vocabulary by their ids, as `Pieces.texts` has them."""
        return self._read.shown(ids)

    def text_of(self, ids: Sequence[int], after: Sequence[int] = ()) -> str | None:
        """What is appended to a sentence of the pieces `after` when these pieces are chosen.

        The longer sentence has these very pieces again where the tokenizer allows it; it does not
        where it joins pieces, as "c" and "at". None where no text says what they are: parts of a
        character, or ids without a piece.
        """
        return self._read.text_of(ids, after)

    def run(self, text: str) -> Run:
        pieces = self.pieces(text)
        if all(pieces.special):
            raise NoWords
        return self.run_pieces(pieces)

    @torch.no_grad()
    def run_pieces(self, pieces: Pieces) -> Run:
        """The same for a sentence that is in pieces already."""
        x = self.embedding(pieces.ids)
        entering = []
        for layer in self.layers:
            entering.append(Entering(layer, pieces, x))
            x = layer.run(x, layer.attended(x)).output
        return Run(pieces, tuple(entering), self._hidden(x))

    @torch.no_grad()
    def rerun(self, run: Run, position: int, attended: Tensor) -> Tensor:
        x = self.layers[position].run(run.entering[position].x, attended).output
        for layer in self.layers[position + 1 :]:
            x = layer.run(x, layer.attended(x)).output
        return self._hidden(x)

    def _hidden(self, x: Tensor) -> Tensor:
        return x if self.final_norm is None else self.final_norm(x)
