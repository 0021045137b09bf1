"""Answers of a scene that are worked out beforehand, packed for a file in which nobody is asked."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from attention.figures.messages import KINDS, is_a
from attention.figures.scene import Figure, Scene
from attention.figures.scene_message import about, rows_of

Done = tuple[str, str, Any]  # the key of a figure, its event, and what that carries


def packed(first: Scene, answers: Mapping[Done, Scene]) -> str:
    """The scene that each event leads to, as base64 of JSON packed by gzip.

    first: the scene that is shown before any. Each value of a figure's header, and all numbers of
    a figure, are there once, however many scenes have them: see `browser/notebook/worked_out.js`.
    Raises ValueError for an event that no figure of that key has, or that carries something else.
    """
    scenes = [*dict.fromkeys(answers.values())]
    events = {
        (figure.key, event)
        for each in (first, *scenes)
        for figure in each
        for event in figure.answers
    }
    led: dict[str, list[tuple[Any, int]]] = {}
    for (key, event, value), scene in answers.items():
        if (key, event) not in events:
            there = sorted(f"{one}.{other}" for one, other in events if one)
            raise ValueError(f"an event must be one of {there}, got {key}.{event}")
        if not is_a([0, json.loads(json.dumps(value))], KINDS[event]):
            raise ValueError(f"event {event} must carry {KINDS[event]}, got {value!r}")
        led.setdefault(f"{key}.{event}", []).append((value, scenes.index(scene)))
    values, rests, figures = Once(), Once(), Once()
    told = [
        {
            "figures": [figures.at(_figure(figure, values, rests)) for figure in scene],
            "rows": rows_of(scene),
        }
        for scene in scenes
    ]
    lists = {"values": values, "rests": rests, "figures": figures}
    parts = [f'"{name}":[{",".join(once.texts)}]' for name, once in lists.items()]
    parts += [f'"scenes":{json.dumps(told)}', f'"answers":{json.dumps(led)}']
    text = "{" + ",".join(parts) + "}"
    return b64encode(gzip.compress(text.encode(), mtime=0)).decode()


class Once:
    """Texts in order, each once."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def at(self, text: str) -> int:
        """Where a text stands."""
        return self.texts.setdefault(text, len(self.texts))


def _figure(figure: Figure, values: Once, rests: Once) -> str:
    """A figure by where each value of its header is, and where what follows it."""
    content = figure.content()
    end = 4 + int.from_bytes(content[:4], "little")
    header = json.loads(content[4:end])
    fields = {name: values.at(json.dumps(value)) for name, value in header.items()}
    rest = rests.at(json.dumps(b64encode(content[end:]).decode()))
    return json.dumps({**about(figure, content), "fields": fields, "rest": rest})
