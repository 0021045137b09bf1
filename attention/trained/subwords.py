"""Text -> pieces and back, as SentencePiece cuts it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import torch
from sentencepiece import SentencePieceProcessor

from attention.trained.models import Pieces
from attention.trained.pieces import SPACE, readable

WORD = "▁"  # what a piece begins with that begins a word


class Vocabulary:
    """Text -> pieces and back, as a model of SentencePiece has them (Kudo & Richardson 2018).

    limit: how many pieces a text may have; end: the piece that ends it. Raises ValueError where the
    file is no such model.
    """

    def __init__(self, file: Path, limit: int) -> None:
        self.limit = limit
        self._model: Any
        try:
            self._model = SentencePieceProcessor(model_proto=file.read_bytes())
        except (OSError, RuntimeError) as error:
            raise ValueError(f"{file.name} must be a model of SentencePiece: {error}") from error
        self.end: int = self._model.eos_id()
        if self.end < 0:
            raise ValueError(f"{file.name} must have a piece that ends a sentence, it has none")

    def __len__(self) -> int:
        return int(self._model.get_piece_size())

    def __call__(self, text: str) -> Pieces:
        """A sentence in pieces, as many as fit, the last one its end.

        What cannot be written as UTF-8 becomes a question mark.
        """
        text = text.encode("utf-8", "replace").decode("utf-8")
        texts = self._model.encode(text, out_type=str)
        kept = texts[: self.limit - 1]
        ids = [*self._model.piece_to_id(kept), self.end]
        shown = [*kept, self._model.id_to_piece(self.end)]
        return self._pieces(ids, shown, [self.end], len(texts[len(kept) :]))

    def shown(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Each piece by itself, as a person reads it."""
        return self.pieces(ids).texts

    def pieces(self, ids: Sequence[int], special: Collection[int] = ()) -> Pieces:
        """Pieces of these numbers; special: those that belong to no word."""
        return self._pieces(ids, [self._model.id_to_piece(piece) for piece in ids], special)

    def text_of(self, ids: Sequence[int], after: Sequence[int] = ()) -> str:
        """Join pieces to a text."""
        return str(self._model.decode([*ids]))

    def _pieces(
        self, ids: Sequence[int], texts: Sequence[str], special: Collection[int], left_out: int = 0
    ) -> Pieces:
        return Pieces(
            ids=torch.tensor(ids, dtype=torch.int64),
            texts=tuple(readable(text.replace(WORD, SPACE)) for text in texts),
            words=_words_of(ids, [text.startswith(WORD) for text in texts], special),
            left_out=left_out,
        )


def _words_of(
    ids: Sequence[int], begins: Sequence[bool], special: Collection[int]
) -> tuple[int | None, ...]:
    """For each piece which word it belongs to, None for special ones; begins: whether a word begins
    with it."""
    words: list[int | None] = []
    word = -1
    for piece, new in zip(ids, begins, strict=True):
        if piece in special:
            words.append(None)
            continue
        word += new or word < 0
        words.append(word)
    return tuple(words)
