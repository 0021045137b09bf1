"""Figures drawn one by one, each as a scene of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attention.app.components.scene import draw
from attention.app.components.turns import Handler
from attention.figures.picture import AttentionPicture, Picture
from attention.figures.scene import Figure, scene
from attention.figures.scene_message import Selection


def draw_alone(figure: Figure, selection: Selection | None = None, **taken: Handler) -> None:
    """Draw one figure. taken: for each of its events what is asked of an answer, and done then."""
    key = f"scene_of_{figure.key}"
    draw(scene(figure), key=key, selection=selection, taken={figure.key: taken})


@dataclass(frozen=True)
class Switch:
    """Two last words of a sentence, to be exchanged.

    other: the content of the picture with the word that is not shown: it is drawn at once;
    on_choose: gets the position of the word that is chosen then.
    """

    words: Sequence[str]
    other: bytes
    on_choose: Callable[[int], None]


def picture(
    shown: Picture,
    selection: Selection,
    *,
    key: str,
    content: bytes | None = None,
    drawn: Sequence[str] | None = None,
    switch: Switch | None = None,
) -> None:
    """Draw a picture, see `AttentionPicture`."""
    if switch is None:
        draw_alone(AttentionPicture(shown, content, drawn, key=key), selection)
        return
    figure = AttentionPicture(shown, content, drawn, switch.words, switch.other, key=key)
    taken = (range(len(switch.words)).__contains__, switch.on_choose)
    draw_alone(figure, selection, word=taken)
