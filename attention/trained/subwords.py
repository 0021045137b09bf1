"""Text -> pieces and back, as SentencePiece cuts it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from sentencepiece import SentencePieceProcessor

from attention.trained.models import Pieces
from attention.trained.pieces import SPACE, readable

WORD = "▁"  # what a piece begins with that begins a word


class Vocabulary:
    """Text -> pieces and back, as a model of SentencePiece has them (Kudo & Richardson 2018).

    end: the piece that ends a sentence. Raises ValueError where the file is no such model.
    """

    def __init__(self, file: Path) -> None:
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

    def read(self, text: str, limit: int) -> Pieces:
        """A sentence in at most `limit` pieces, the last one its end.

        What cannot be written as UTF-8 becomes a question mark.
        """
        text = text.encode("utf-8", "replace").decode("utf-8")
        texts = self._model.encode(text, out_type=str)
        kept = texts[: limit - 1]
        return self._pieces(
            [*self._model.piece_to_id(kept), self.end], kept, len(texts[len(kept) :])
        )

    def pieces(self, ids: Sequence[int]) -> Pieces:
        """Pieces of these numbers."""
        return self._pieces(ids, [self._model.id_to_piece(piece) for piece in ids], 0)

    def text(self, ids: Sequence[int]) -> str:
        """Join pieces to a text, the end left out."""
        return str(self._model.decode([piece for piece in ids if piece != self.end]))

    def _pieces(self, ids: Sequence[int], texts: Sequence[str], left_out: int) -> Pieces:
        shown = [*texts, self._model.id_to_piece(self.end)][: len(ids)]
        words: list[int | None] = []
        word = -1
        for piece, text in zip(ids, shown, strict=True):
            word += text.startswith(WORD) or word < 0
            words.append(None if piece == self.end else word)
        return Pieces(
            ids=torch.tensor(ids, dtype=torch.int64),
            texts=tuple(readable(text.replace(WORD, SPACE)) for text in shown),
            words=tuple(words),
            left_out=left_out,
        )
