"""How far each method of association agrees with erasure: what `make study` printed.

It ends with `STUDIES` as it stands here, to be put in its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from attention.analysis.associations import METHODS
from attention.display.captions import listed
from attention.display.tables import fixed


@dataclass(frozen=True)
class Study:
    """The rank agreement with erasure over some sentences: Spearman's correlation of each row.

    sentences: how many; agreement: by method, after each layer, None where there is none.
    """

    sentences: int
    agreement: Mapping[str, tuple[float | None, ...]]

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
    """A correlation as the study writes it, ".69"; "–" where there is none."""
    if rho is None or math.isnan(rho):
        return "–"
    return fixed(rho, 2).replace("0.", ".", 1)


def declared(studies: Mapping[str, Study]) -> str:
    """Studies as this file has them, but for where lines end."""
    models = [
        f'    "{name}": Study({study.sentences}, {_row(study.agreement)}),'
        for name, study in studies.items()
    ]
    return "\n".join(["STUDIES: dict[str, Study] = {", *models, "}"])


def _row(agreement: Mapping[str, tuple[float | None, ...]]) -> str:
    rows = (
        f'"{name}": ({", ".join("None" if rho is None else f"{rho:.2f}" for rho in numbers)},)'
        for name, numbers in agreement.items()
    )
    return "{" + ", ".join(rows) + "}"


# By the name of a model.
STUDIES: dict[str, Study] = {
    "minilm": Study(
        12,
        {
            "raw": (0.24, 0.37, 0.42, 0.40, 0.48, 0.54),
            "norm": (0.33, 0.39, 0.38, 0.41, 0.45, 0.48),
            "norm-residual": (0.33, 0.39, 0.38, 0.41, 0.45, 0.48),
            "norm-layer-norm": (0.33, 0.38, 0.38, 0.41, 0.45, 0.48),
            "rollout": (0.24, 0.38, 0.42, 0.40, 0.34, 0.29),
            "flow": (0.24, 0.34, 0.34, 0.39, 0.28, 0.13),
            "alti": (0.27, 0.40, 0.42, 0.50, 0.55, 0.63),
            "gradient": (0.16, 0.33, 0.39, 0.44, 0.48, 0.60),
            "value-zeroing": (0.33, 0.35, 0.36, 0.33, 0.32, 0.34),
        },
    ),
}
