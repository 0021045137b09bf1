"""A sentence without one of its pieces."""

from __future__ import annotations

import functools
from dataclasses import replace

from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, Pieces

MASKS = ("[MASK]", "<mask>")


@functools.lru_cache(maxsize=16)
def mask_of(model: Model) -> int | None:
    """The id of the piece that stands for a hidden one, where the model was trained with it."""
    for text in MASKS:
        pieces = model.pieces(text)
        at = [position for position, shown in enumerate(pieces.texts) if shown == text]
        if len(at) == 1 and sum(not special for special in pieces.special) <= 1:
            return int(pieces.ids[at[0]])
    return None


def can_erase(model: Model, pieces: Pieces, at: int, position: int) -> bool:
    """True if a piece can be erased from a sentence: one of the text's own, and not the one that
    the answer is about, in a model that reads one sentence."""
    if isinstance(model, EncoderDecoder) or pieces.words[at] is None:
        return False
    asked = position % len(pieces.ids)
    return at != asked and (model.layers[0].causal or mask_of(model) is not None)


def without_piece(model: Model, pieces: Pieces, at: int) -> Pieces:
    """A sentence without one of its pieces: the mask token in its place where the model has one,
    as an encoder was trained to read it; else it is left out, and those behind it move up."""
    mask = None if model.layers[0].causal else mask_of(model)
    if mask is not None:
        ids = pieces.ids.clone()
        ids[at] = mask
        return replace(pieces, ids=ids)
    left = [each for each in range(len(pieces.ids)) if each != at]
    texts = tuple(pieces.texts[each] for each in left)
    words = tuple(pieces.words[each] for each in left)
    return Pieces(pieces.ids[left], texts, words, pieces.left_out)
