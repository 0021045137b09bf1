"""Pictures of a result: one head with every step of it, or its weights alone."""

from __future__ import annotations

from collections.abc import Sequence

from attention.core.functional import WeightsAlone
from attention.figures import layer_words, result_words
from attention.figures.picture import AttentionPicture, Picture
from attention.pipeline import Result


def picture_of(
    result: Result,
    parts: Sequence[str] = ("heatmap",),
    caption: tuple[str, str] = ("", ""),
    stage: str = "",
) -> Picture:
    """One head of a result, every step of it; the rest as `Picture` has it."""
    memory = result.memory
    return Picture(
        result.trace,
        result.tokens,
        result.known,
        parts=parts,
        memory=None if memory is None else (memory.tokens, memory.known),
        masks=result.masks,
        head=result.head if result.layer.heads > 1 else None,
        caption=caption,
        stage=stage,
        of=result_words.head_words(result),
    )


def weights_alone(result: Result, parts: Sequence[str], caption: str = "") -> Picture:
    """The weights of a trained model's head alone, its pieces joined into words where that is set.

    caption: what the heatmap's begins with.
    """
    tokens, keys, trace = layer_words.shown(result)
    words = result_words.JOINED if layer_words.words_of(result) else ""
    averaged = isinstance(result.layer_trace, WeightsAlone)
    return Picture(
        WeightsAlone(trace.weights, trace.mask),
        tokens,
        [True] * len(tokens),
        parts=parts,
        memory=(keys, [True] * len(keys)) if result.memory else None,
        head=None if averaged else result.head,
        caption=(f"{caption} {words}".strip(), ""),
        of="mean of all heads" if averaged else result_words.head_words(result),
    )


def weights_of(
    result: Result, caption: str, parts: Sequence[str] = ("heatmap",)
) -> AttentionPicture:
    """One head of a result: every step of it, or its weights alone where pieces are joined."""
    if layer_words.words_of(result):
        return AttentionPicture(weights_alone(result, parts, caption), key="picture")
    return AttentionPicture(picture_of(result, parts, (caption, "")), key="picture")
