"""A sentence -> pieces, and pieces -> what is shown of them and what they say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel, Metaspace

from attention.trained.models import Pieces

SPACE = "·"
SPACES = f"{SPACE}▁"  # for which pieces may show them
# What has no picture of its own: control characters, and bytes that are no whole character.
_UNREADABLE = re.compile("[\x00-\x1f\x7f-\x9f\udc80-\udcff]+")
_SHOWN = str.maketrans({" ": SPACE, "\n": "↵", "\t": "⇥"})


def read_tokenizer(file: Path) -> Tokenizer:
    """The tokenizer of a file. Raises ValueError where it is none."""
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(f"{file.name} must be a tokenizer of Hugging Face: {error}") from error


class Reader:
    """Reader of a text as at most `limit` pieces, as a tokenizer has it.

    Raises ValueError where so few pieces leave none for words.
    """

    def __init__(self, tokenizer: Tokenizer, limit: int) -> None:
        self._tokenizer = tokenizer
        put_in = self._tokenizer.num_special_tokens_to_add(False)
        if limit <= put_in:
            raise ValueError(f"a model must take more than {put_in} pieces, it takes {limit}")
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(limit)
        self._added = self._tokenizer.get_added_tokens_decoder().keys()
        self._of_bytes = isinstance(self._tokenizer.decoder, ByteLevel)
        self._of_words = isinstance(self._tokenizer.decoder, Metaspace)

    def __call__(self, text: str) -> Pieces:
        """A text in pieces; what cannot be written as UTF-8 becomes a question mark."""
        encoded = self._tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8"))
        pairs = zip(encoded.word_ids, encoded.special_tokens_mask, strict=True)
        return Pieces(
            ids=torch.tensor(encoded.ids, dtype=torch.int64),
            texts=self.shown(encoded.ids),
            words=tuple(None if put_in else word for word, put_in in pairs),
            left_out=sum(part.special_tokens_mask.count(0) for part in encoded.overflowing),
        )

    @property
    def vocabulary(self) -> dict[str, int]:
        """The ids of all pieces."""
        return self._tokenizer.get_vocab()

    @property
    def largest_id(self) -> int:
        """The largest id that a text can have."""
        return max(self.vocabulary.values(), default=-1)

    def shown(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Each piece by itself, as a person reads it.

        Spaces are dots; a piece that is only a part of a character is shown as its bytes, "⟨E2⟩".
        """
        return tuple(map(self._shown, ids))

    def text_of(self, ids: Sequence[int], after: Sequence[int] = ()) -> str | None:
        """Text that these pieces add to one that ends in the pieces `after`.

        None where they are not whole characters, or no pieces at all: no text says that.
        """
        tokens = [(piece, self._tokenizer.id_to_token(piece)) for piece in ids]
        known = [(piece, token) for piece, token in tokens if token is not None]
        if len(known) < len(tokens):
            return None
        if self._of_bytes:
            try:
                return b"".join(self._bytes(*pair) for pair in known).decode("utf-8")
            except UnicodeDecodeError:
                return None
        before, whole = (self._decode(part) for part in ([*after], [*after, *ids]))
        return whole[len(before) :] if whole.startswith(before) else self._decode(ids)

    def _decode(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))

    def _shown(self, piece: int) -> str:
        token = self._tokenizer.id_to_token(piece)
        if token is None:
            return f"⟨no piece {piece}⟩"
        if self._of_bytes and piece not in self._added:
            text = self._bytes(piece, token).decode("utf-8", "surrogateescape").translate(_SHOWN)
        else:
            text = token.replace("▁", SPACE) if self._of_words else token
        return readable(text)

    def _bytes(self, piece: int, token: str) -> bytes:
        """The bytes that a piece of a byte-level tokenizer stands for (Radford et al. 2019)."""
        if piece in self._added or not all(character in _BYTES for character in token):
            return token.encode("utf-8")
        return bytes(_BYTES[character] for character in token)


def readable(text: str) -> str:
    """Replace characters without a picture of their own by their bytes, "⟨00⟩"."""
    return _UNREADABLE.sub(_as_bytes, text)


def _as_bytes(found: re.Match[str]) -> str:
    escaped = found[0].encode("utf-8", "surrogateescape")
    return f"⟨{escaped.hex(' ').upper()}⟩"


def _byte_characters() -> dict[str, int]:
    """The character each byte is written as: itself where it can be seen, else one from 256 on."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unseen = [byte for byte in range(0x100) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {
        chr(0x100 + position): byte for position, byte in enumerate(unseen)
    }


_BYTES = _byte_characters()
