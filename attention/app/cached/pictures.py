"""Pictures of results and words near their vectors, each made once for all visitors."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch

from attention.app.cached import kept
from attention.app.state.shared import neighbours
from attention.app.state.view import View
from attention.core.printing import fixed
from attention.figures import layer_words, result_words
from attention.figures.picture import PARTS, AttentionPicture, Picture
from attention.figures.result_pictures import picture_of, weights_of
from attention.figures.scene import Scene, Words, scene, titled
from attention.pipeline import Result

CONTENT_BYTES = 16 << 20  # that of 512 tokens takes 2.6 MB, of an ordinary sentence 0.02


def attention_of(view: View, result: Result, after: str = "") -> Scene:
    """The attention of a result, and the chosen token's new vector as a weighted sum.

    after: the end of the heatmap's caption.
    """
    problems = result_words.problems(result)
    if layer_words.words_of(result):
        return scene(weights_of(result, "", ("lines", "heatmap")), *problems)
    return scene(whole_picture(view, result, after), *problems)


def whole_picture(view: View, result: Result, after: str = "") -> AttentionPicture:
    """The picture of a result with all its parts, or with the one that a link asks for.

    after: the end of the heatmap's caption.
    """
    figure = view["figure"]
    parts = (figure,) if figure in PARTS else PARTS
    shown = picture_of(result, parts, ("", after))
    made = _content_of(shown, (result.settings, result.memory_text, parts, after))
    return AttentionPicture(shown, made, key="picture")


@kept(
    nbytes=CONTENT_BYTES,
    key=lambda shown, made_from: made_from,
    together=True,
)
def _content_of(shown: Picture, made_from: tuple[object, ...]) -> bytes:
    """Content of a picture, the same for all who see it."""
    return shown.content()


def nearest_words(result: Result, query: int) -> list[Words]:
    """The words nearest to the chosen token before and after, where the output is a word vector."""
    if result.words is None:
        return []
    rows = {"before": result.x[query], "after": result.trace.output[query]}
    vectors = result.settings.vectors
    lines = [
        Words(_words_of(name, _nearest_to(vectors, row.numpy().tobytes())), "told", key=name)
        for name, row in rows.items()
    ]
    return [titled("Nearest words", "by cosine, among the 100,000 most frequent"), *lines]


def _words_of(name: str, near: Sequence[tuple[str, float]]) -> list[str]:
    """Parts of a line, in which each word stands out before its cosine."""
    parts = [f"{name}: "]
    for word, cosine in near:
        parts[-1] += "" if len(parts) == 1 else ", "
        parts += [word, f" {fixed(cosine, 2)}"]
    return parts if near else [f"{name}: none, the vector is 0"]


@functools.lru_cache(maxsize=1024)
def _nearest_to(vectors: str, row: bytes) -> list[tuple[str, float]]:
    return neighbours(vectors)(torch.frombuffer(bytearray(row), dtype=torch.float32)[None])[0]
