"""How far each method of association agrees with erasure: `make study` measures it anew."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from attention.analysis.associations import METHODS
from attention.display.captions import listed
from attention.display.tables import fixed


@dataclass(frozen=True)
class Study:
    """The rank agreement with erasure over some sentences: Spearman's correlation of each row.

    sentences: how many; agreement: by method, after each layer, None where there is none.
    """

    sentences: int
    agreement: Mapping[str, Sequence[float | None]]

    @property
    def last(self) -> dict[str, float]:
        """The agreement after the last layer by method, the best first."""
        last = ((name, rows[-1]) for name, rows in self.agreement.items())
        found = {name: rho for name, rho in last if rho is not None}
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    @property
    def words(self) -> str:
        """Which methods agree best and least after the last layer, in two sentences."""
        told = [f"{METHODS[name].title} ({share(rho)})" for name, rho in self.last.items()]
        return (
            f"Over {self.sentences} sentences {listed(told[:2])} agree best with erasure after the "
            f"last layer, {listed(told[-2:])} least."
        )


def share(rho: float | None) -> str:
    """A correlation with two digits; "–" where there is none."""
    if rho is None or math.isnan(rho):
        return "–"
    return fixed(rho, 2)


def written(studies: Mapping[str, Study]) -> str:
    """Studies as `study.json` has them: a line for each method."""
    models = []
    for name, study in studies.items():
        rows = (
            f'    "{method}": {json.dumps([rho and round(rho, 2) for rho in numbers])}'
            for method, numbers in study.agreement.items()
        )
        head = f'  "{name}": {{"sentences": {study.sentences}, "agreement": {{'
        models.append("\n".join([head, ",\n".join(rows), "  }}"]))
    return "{\n" + ",\n".join(models) + "\n}\n"


def read(text: str) -> dict[str, Study]:
    """Studies by the name of their model, see `written`."""
    return {name: Study(**study) for name, study in json.loads(text).items()}


FILE = Path(__file__).with_suffix(".json")
STUDIES = read(FILE.read_text("utf-8"))
