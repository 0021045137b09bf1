"""A sentence -> tokens."""

from __future__ import annotations

import functools
import re
import unicodedata

from torchtext.data.utils import get_tokenizer

_basic_english = get_tokenizer("basic_english")
_CONTRACTION = re.compile(r"(?<=\w)(n't|'(?:s|m|d|ll|re|ve))(?!\w)", re.IGNORECASE)
_TYPESET = str.maketrans(dict.fromkeys("“”„«»", '"') | dict.fromkeys("‘‚", "'") | {"…": "..."})
_TURNS_TEXT = re.compile("[\u202a-\u202e\u2066-\u2069]")


def tokenize(sentence: str) -> list[str]:
    """The tokens of a sentence: torchtext's `basic_english`, contractions kept as GloVe has them.

    `basic_english` alone splits "can't" into "can ' t"; GloVe was trained on "ca n't", "it 's".
    Quotation marks and ellipses as phones set them are split off as plain ones are.
    """
    return list(_tokens(sentence))


def plain(sentence: str) -> str:
    """The sentence as it can be shown in pieces.

    Control characters become spaces; characters that turn the direction of the text around them
    are dropped, so that one piece cannot rearrange the page.
    """
    kept = _TURNS_TEXT.sub("", sentence.replace("\u2019", "'"))
    return "".join(" " if unicodedata.category(c) in ("Cc", "Cs") else c for c in kept)


@functools.lru_cache(maxsize=256)
def _tokens(sentence: str) -> tuple[str, ...]:
    tokens: list[str] = []
    for index, piece in enumerate(_CONTRACTION.split(plain(sentence).translate(_TYPESET))):
        tokens += [piece.lower()] if index % 2 else _basic_english(piece)
    return tuple(tokens)
