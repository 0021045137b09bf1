"""A scene as one file of HTML, in which nobody is asked: its answers are worked out beforehand."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from attention.figures.bundle import drawing, file_of, kinds_of
from attention.figures.messages import KINDS, is_a
from attention.figures.scene import Figure, Scene
from attention.figures.scene_message import (
    QueryAndStage,
    SelectionHeader,
    about,
    rows_of,
    scene_message,
)

Done = tuple[str, str, Any]  # the key of a figure, its event, and what that carries


def page_of_scene(
    scene: Scene | Figure,
    title: str = "Attention",
    query: int = 0,
    answers: Mapping[Done, Scene] | None = None,
    keeps: bool = False,
    opens: Mapping[str, Done] | None = None,
    stage: str = "",
    stays: bool = False,
) -> str:
    """The text of a file that `notebook.scenes.save_scene` writes.

    stage: that its pictures show, "" = weights; stays: whether the token that is shown first stays
    so, as words beside it are of that one.
    """
    whole = Scene([scene]) if isinstance(scene, Figure) else scene
    looks, modules, plotly = drawing(
        kinds_of([whole, *(answers or {}).values()]), "notebook/scene.js"
    )
    chosen: QueryAndStage = {"query": query, "stage": stage}
    selection: SelectionHeader = {"values": chosen, "defaults": chosen, "turn": 0}
    given = {
        "scene": b64encode(gzip.compress(scene_message(whole, selection), mtime=0)).decode(),
        "answers": packed(whole, answers, keeps) if answers else "",
        "answered": sorted({f"{key}.{event}" for key, event, _ in answers or {}}),
        "stays": stays,
        "opens": {
            name: (f"{key}.{event}", value) for name, (key, event, value) in (opens or {}).items()
        },
        **looks,
    }
    return file_of(title, given, modules, plotly)


def packed(first: Scene, answers: Mapping[Done, Scene], keeps: bool = False) -> str:
    """The scene that each event leads to, as base64 of JSON packed by gzip.

    first: the scene that is shown before any; keeps: an event changes only what its scenes have
    otherwise than the first or each other, and leaves all else as it is then. Each value of a
    figure's header, and all numbers of a figure, are there once, however many scenes have them: see
    `browser/notebook/worked_out.js`. Raises ValueError for an event that no figure of that key has,
    or that carries something else, and where figures must be kept and are not those of the first.
    """
    check(first, answers)
    held = ScenePool()
    by_event: dict[str, list[tuple[Any, Scene]]] = {}
    for (key, event, value), scene in answers.items():
        by_event.setdefault(f"{key}.{event}", []).append((value, scene))
    if keeps:
        held.whole(first)  # what is kept from, before anything is done
        led = {name: held.changes(first, leads) for name, leads in by_event.items()}
    else:
        led = {
            name: [(value, held.whole(scene)) for value, scene in leads]
            for name, leads in by_event.items()
        }
    return b64encode(gzip.compress(held.written(led).encode(), mtime=0)).decode()


def check(first: Scene, answers: Mapping[Done, Scene]) -> None:
    """Check the events. Raises ValueError for one that no figure has, or that carries otherwise."""
    scenes = [first, *dict.fromkeys(answers.values())]
    events = {(figure.key, event) for each in scenes for figure in each for event in figure.answers}
    for key, event, value in answers:
        if (key, event) not in events:
            there = sorted(f"{one}.{other}" for one, other in events if one)
            raise ValueError(f"an event must be one of {there}, got {key}.{event}")
        if not is_a([0, json.loads(json.dumps(value))], KINDS[event]):
            raise ValueError(f"event {event} must carry {KINDS[event]}, got {value!r}")


class StringTable:
    """Texts in order, each once."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def at(self, text: str) -> int:
        """Position of a text."""
        return self.texts.setdefault(text, len(self.texts))


class ScenePool:
    """Scenes of a file: each value, each figure and each scene once."""

    def __init__(self) -> None:
        self.values, self.rests = StringTable(), StringTable()
        self.figures, self.scenes = StringTable(), StringTable()
        self._made: dict[Scene, list[dict[str, Any]]] = {}

    def whole(self, scene: Scene) -> int:
        """Position of a scene."""
        figures = [self.figures.at(json.dumps(figure)) for figure in self._figures(scene)]
        return self.scenes.at(json.dumps({"figures": figures, "rows": rows_of(scene)}))

    def changes(self, first: Scene, leads: Sequence[tuple[Any, Scene]]) -> list[tuple[Any, int]]:
        """Changes of one event: what it carries, and where that stands which it changes. Raises
        ValueError."""
        before = _by_key(self._figures(first))
        after = [_by_key(self._figures(scene)) for _, scene in leads]
        for one in after:
            if one.keys() != before.keys():
                raise ValueError(f"figures must be {[*before]} to be kept, got {[*one]}")
        differ = {
            key: [
                name
                for name, at in known["fields"].items()
                if any(one[key]["fields"].get(name) != at for one in after)
            ]
            for key, known in before.items()
        }
        found = []
        for (value, _), one in zip(leads, after, strict=True):
            changed = {
                key: {
                    "fields": {name: one[key]["fields"][name] for name in names},
                    "rest": one[key]["rest"],
                }
                for key, names in differ.items()
                if names or any(each[key]["rest"] != before[key]["rest"] for each in after)
            }
            found.append((value, self.scenes.at(json.dumps({"changes": changed}))))
        return found

    def written(self, led: Mapping[str, Sequence[tuple[Any, int]]]) -> str:
        """All of it as JSON, with the scenes that events lead to, by their names."""
        lists = {name: getattr(self, name) for name in ("values", "rests", "figures", "scenes")}
        parts = [f'"{name}":[{",".join(once.texts)}]' for name, once in lists.items()]
        return "{" + ",".join([*parts, f'"answers":{json.dumps(led)}']) + "}"

    def _figures(self, scene: Scene) -> list[dict[str, Any]]:
        """Figures by where each value of their headers is, and where what follows these."""
        if scene not in self._made:
            self._made[scene] = [self._figure(figure) for figure in scene]
        return self._made[scene]

    def _figure(self, figure: Figure) -> dict[str, Any]:
        content = figure.content()
        end = 4 + int.from_bytes(content[:4], "little")
        header = json.loads(content[4:end])
        fields = {name: self.values.at(json.dumps(value)) for name, value in header.items()}
        rest = self.rests.at(json.dumps(b64encode(content[end:]).decode()))
        return {**about(figure, content), "fields": fields, "rest": rest}


def _by_key(figures: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {figure["key"]: figure for figure in figures}
