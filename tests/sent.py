"""Messages to the scripts of components, read as a test looks at them; needs no app."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Sent:
    """Message to the script of one component: a header, float32 numbers, bytes behind them.

    turn: of the last answer that the page has heard of.
    """

    header: dict[str, Any]
    numbers: Tensor
    rest: bytes
    turn: int = 0

    @property
    def parts(self) -> dict[str, Tensor]:
        """Of a picture its numbers by name, (rows, columns) each."""
        rows, columns, width = (self.header[size] for size in ("rows", "columns", "width"))
        shapes = {"values": (columns, width), "output": (rows, width)}
        named = {name: shapes.get(name, (rows, columns)) for name in self.header["sent"]}
        cells = self.numbers.split([down * across for down, across in named.values()])
        return {
            name: some.reshape(shape)
            for (name, shape), some in zip(named.items(), cells, strict=True)
        }

    @property
    def hidden(self) -> Tensor:
        """Of a picture a bit for each mask, set where that one hides the cell. uint8."""
        bits = torch.frombuffer(bytearray(self.rest), dtype=torch.uint8)
        return bits.reshape(self.header["rows"], self.header["columns"])

    @property
    def names(self) -> list[str]:
        """Of a row of matrices what they are called."""
        return [part["name"] for part in self.header["parts"]]

    @property
    def matrices(self) -> list[Tensor]:
        """Of a row of matrices the numbers, nan where masked. (rows, columns) each."""
        shapes = [(part["rows"], part["columns"]) for part in self.header["parts"]]
        cells = self.numbers.split([rows * columns for rows, columns in shapes])
        return [some.reshape(shape) for some, shape in zip(cells, shapes, strict=True)]

    @property
    def result(self) -> Tensor:
        """The last matrix of a row."""
        return self.matrices[-1]


def sent_as(data: bytes) -> Sent:
    """Read a message of ours; of a picture where it is looked at, and what it draws."""
    start = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:start])
    end = start + 4 * header.pop("floats")
    floats = numpy.frombuffer(data[start:end], numpy.float32)
    turn = header.pop("turn", 0)
    header.pop("key", None)
    if header.keys() == {"drawn", "switch", "margins"}:  # of a picture, whose content follows
        switch = header["switch"]
        return dataclasses.replace(sent_as(data[end:][: switch and switch["size"]]), turn=turn)
    return Sent(header, torch.from_numpy(floats.copy()), data[end:], turn)


def figures_in(data: bytes) -> dict[str, Sent]:
    """The figures of a scene by key, of those without one by their place; none: it is no scene."""
    scene = sent_as(data)
    figures, start = {}, 0
    for place, about in enumerate(
        scene.header.get("figures", []) if "rows" in scene.header else []
    ):
        end = start + about["size"]
        part = sent_as(scene.rest[start:end])
        selection = scene.header["selection"]
        header = part.header | ({"selection": selection} if selection else {})
        named = about["key"] or f"{about['kind']} {place}"
        figures[named] = dataclasses.replace(part, header=header, turn=about["turn"])
        start = end
    return figures
