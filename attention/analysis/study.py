"""Agreement of each method of association with erasure: `make study` measures it anew.

May be read by any page: `most_trusted` names the method to trust for a model, with its figure.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from attention.analysis.associations import BASELINES, METHODS, NAMED
from attention.core.printing import fixed, listed

# what erasure can be asked about: how far it moves, but for the last, which is by how much it falls
ABOUT = {
    "states": "the vectors of the words",
    "logit": "the score of the likeliest next piece",
    "fall": "the fall of the score of the likeliest next piece",
}


class Figure(NamedTuple):
    """A mean over sentences, and the ends of its interval: 95 % of samples of the sentences."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """The mean, and the interval in brackets."""
        return f"{share(self.value)} [{share(self.low)}, {share(self.high)}]"


@dataclass(frozen=True)
class Comparison:
    """The rank agreement of methods after the last layer with one kind of erasure.

    about: one of `ABOUT`; way: one of `associations.WAYS`; sinks: whether attention sinks count as
    words; rows: how many were compared; agreement: by method and baseline; above: of each method
    how far it lies above the best baseline.
    """

    about: str
    way: str
    sinks: bool
    rows: int
    agreement: Mapping[str, Figure]
    above: Mapping[str, Figure]

    def best(self, names: Mapping[str, Any]) -> str:
        """The one of these names with the greatest agreement, the first of equals."""
        return max((name for name in names if name in self.agreement), key=self._value)

    def _value(self, name: str) -> float:
        return self.agreement[name].value


@dataclass(frozen=True)
class Effects:
    """Effects of heads: over how many sentences they were measured, and figures by name."""

    sentences: int
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class Study:
    """Results of the study of one model.

    decoder: whether it goes on with a text; sentences: how many; comparisons: the first one about
    states, and the first about a logit, are the main ones; layers: by what is asked about and by
    method, the agreement after some layers, whose positions are in shown; recency: the rank
    correlation of each method with the position of the key; same: methods that rank the keys of
    every row alike; mixing, on_sinks: shares after each layer.
    """

    decoder: bool
    sentences: int
    comparisons: Sequence[Comparison]
    shown: Sequence[int]
    layers: Mapping[str, Mapping[str, Sequence[float | None]]]
    recency: Mapping[str, float]
    same: Sequence[Sequence[str]]
    mixing: Mapping[str, Sequence[float]]
    on_sinks: Mapping[str, Sequence[float]]
    effects: Effects

    def main(self, about: str = "states") -> Comparison:
        """The main comparison about something: positions kept, sinks left out.

        Raises ValueError for a score where the model says none.
        """
        for one in self.comparisons:
            if one.about == about:
                return one
        raise ValueError(f"there is no comparison about {ABOUT[about]}")


@dataclass(frozen=True)
class Trusted:
    """The method that agrees most with erasure in the study of a model.

    model: the name of the one that was studied; sentences: how many; about: see `ABOUT`; method,
    baseline: the best ones, by their names in `METHODS` and `BASELINES`; agreement, of_baseline:
    theirs; above: how far the method lies above the baseline, over the same samples; as_good: other
    methods whose agreement has the same two digits.
    """

    model: str
    sentences: int
    about: str
    method: str
    agreement: Figure
    baseline: str
    of_baseline: Figure
    above: Figure
    as_good: tuple[str, ...]

    @property
    def is_above(self) -> bool:
        """True if the whole interval of the difference lies above 0."""
        return self.above.low > 0

    @property
    def words(self) -> str:
        """Name the method to trust and how far, with the baseline beside it, in two sentences."""
        best = listed(f"**{NAMED[name].title}**" for name in (self.method, *self.as_good))
        base, agrees = NAMED[self.baseline].title, "agree" if self.as_good else "agrees"
        verdict = (
            f"{best} {agrees} most with erasure about {ABOUT[self.about]}: ρ = "
            f"{share(self.agreement.value)} over {self.sentences} sentences (95 % interval "
            f"{share(self.agreement.low)} to {share(self.agreement.high)})."
        )
        beside = (
            f"*{base}*, which asks no layer of the model, comes to {share(self.of_baseline.value)}"
        )
        doubt = "" if self.is_above else ", and it is not sure that the method does better"
        return f"{verdict} {beside}{doubt}."


def most_trusted(
    model: str, about: str = "states", *, decoder: bool | None = None
) -> Trusted | None:
    """The method that the study trusts most for a model, with its figure and the best baseline's.

    model: its name; about: one of `ABOUT`; decoder: for a model that was not studied, whether it
    goes on with a text: then that of a studied model of its kind. None where there is none.
    Raises ValueError where nothing is known of what is asked about.
    """
    if about not in ABOUT:
        raise ValueError(f"a method is trusted about one of {', '.join(ABOUT)}, got {about!r}")
    alike = (name for name, one in STUDIES.items() if one.decoder is decoder)
    name = model if model in STUDIES else next(alike, None)
    if name is None or (about != "states" and not STUDIES[name].decoder):
        return None
    found = STUDIES[name].main(about)
    method, baseline = found.best(METHODS), found.best(BASELINES)
    return Trusted(
        name,
        STUDIES[name].sentences,
        about,
        method,
        found.agreement[method],
        baseline,
        found.agreement[baseline],
        found.above[method],
        tuple(
            name
            for name in METHODS
            if name != method
            and name in found.agreement
            and share(found.agreement[name].value) == share(found.agreement[method].value)
        ),
    )


def share(rho: float | None) -> str:
    """A correlation with two digits; "–" where there is none."""
    if rho is None or math.isnan(rho):
        return "–"
    return fixed(rho, 2)


def written(studies: Mapping[str, Study]) -> str:
    """Studies as `study.json` has them: a line for each list of numbers, three decimals each."""
    found = {name: asdict(study) for name, study in studies.items()}
    return _lines(found, "") + "\n"


def _lines(part: Any, indent: str) -> str:
    """JSON that people read: mappings and lists of mappings in lines, other lists in one."""
    deeper = indent + " "
    if isinstance(part, Mapping) and part:
        inside = (
            f"{deeper}{json.dumps(key)}: {_lines(each, deeper)}" for key, each in part.items()
        )
        return "{\n" + ",\n".join(inside) + f"\n{indent}}}"
    if isinstance(part, list | tuple) and part and isinstance(part[0], Mapping):
        inside = (f"{deeper}{_lines(each, deeper)}" for each in part)
        return "[\n" + ",\n".join(inside) + f"\n{indent}]"
    return json.dumps(_rounded(part), allow_nan=False)


def _rounded(part: Any) -> Any:
    if isinstance(part, list | tuple):
        return [_rounded(each) for each in part]
    if isinstance(part, float):
        return None if math.isnan(part) else round(part, 3) + 0.0
    return part


def read(text: str) -> dict[str, Study]:
    """Studies by the name of their model, see `written`."""
    return {name: _study(each) for name, each in json.loads(text).items()}


def _study(found: Mapping[str, Any]) -> Study:
    comparisons = [
        Comparison(**{**each, **{part: _figures(each[part]) for part in ("agreement", "above")}})
        for each in found["comparisons"]
    ]
    effects = Effects(found["effects"]["sentences"], _figures(found["effects"]["figures"]))
    return Study(**{**found, "comparisons": comparisons, "effects": effects})


def _figures(found: Mapping[str, Sequence[float]]) -> dict[str, Figure]:
    return {name: Figure(*numbers) for name, numbers in found.items()}


FILE = Path(__file__).with_suffix(".json")
STUDIES = read(FILE.read_text("utf-8"))
