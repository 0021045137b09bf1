"""Agreement of each method of association with erasure: `make study` measures it anew.

May be read by any page: `most_trusted` names the method to trust for a model, with its figures.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
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
SURE = 0.05  # p below which a difference is believed


class Figure(NamedTuple):
    """A mean over sentences, and the ends of its interval: 95 % of samples of the sentences."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """The mean, and the interval in brackets."""
        return f"{share(self.value)} [{share(self.low)}, {share(self.high)}]"


class Difference(NamedTuple):
    """A mean difference over the same sentences, its interval as in `Figure`, and p: of no
    difference, two-sided, and corrected for the number of differences beside it (Holm 1979)."""

    value: float
    low: float
    high: float
    p: float

    def __str__(self) -> str:
        """The difference, and the interval in brackets."""
        return str(Figure(*self[:3]))

    @property
    def is_above(self) -> bool:
        """True if the difference is surely more than 0."""
        return self.value > 0 and self.p < SURE

    @property
    def is_below(self) -> bool:
        """True if the difference is surely less than 0."""
        return self.value < 0 and self.p < SURE


@dataclass(frozen=True)
class Comparison:
    """The rank agreement of methods after the last layer with one kind of erasure.

    about: one of `ABOUT`; way: one of `associations.WAYS`; sinks: whether attention sinks count as
    words; rows: how many were compared. The best method and baseline are chosen on one half of the
    sentences: choosing: the agreement there by method and baseline. The rest is of the other half:
    agreement: by the same names; above: of each method how far it lies above the best baseline, or
    above 0 where that lies below; beside: how far above the best method.
    """

    about: str
    way: str
    sinks: bool
    rows: int
    choosing: Mapping[str, float]
    agreement: Mapping[str, Figure]
    above: Mapping[str, Difference]
    beside: Mapping[str, Difference]

    @property
    def method(self) -> str:
        """The method that agrees most in the choosing half, the first of equals."""
        return best(METHODS, self.choosing)

    @property
    def baseline(self) -> str:
        """The baseline that agrees most in the choosing half, the first of equals."""
        return best(BASELINES, self.choosing)

    def margin(self, name: str) -> float:
        """Lead of a method over the best baseline, or over 0, in the choosing half."""
        return self.choosing[name] - max(0.0, self.choosing[self.baseline])


def best(names: Iterable[str], agreement: Mapping[str, float]) -> str:
    """The one of these names with the greatest agreement, the first of equals."""
    return max((name for name in names if name in agreement), key=agreement.__getitem__)


@dataclass(frozen=True)
class Effects:
    """Effects of heads: over how many sentences they were measured, and figures by name."""

    sentences: int
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class Study:
    """Results of the study of one model.

    decoder: whether it goes on with a text; sentences: how many, of which the even ones are to
    choose on; comparisons: the first one about states, and the first about a logit, are the main
    ones; layers: by what is asked about and by method, the agreement after some layers, whose
    positions are in shown, in the choosing half; recency: the rank correlation of each method with
    the position of the key.
    """

    decoder: bool
    sentences: int
    comparisons: Sequence[Comparison]
    shown: Sequence[int]
    layers: Mapping[str, Mapping[str, Sequence[float | None]]]
    recency: Mapping[str, float]
    effects: Effects

    @property
    def confirming(self) -> int:
        """The number of sentences on which nothing was chosen."""
        return self.sentences // 2

    def main(self, about: str = "states") -> Comparison:
        """The main comparison about something: positions kept, sinks left out.

        Raises ValueError for a score where the model says none.
        """
        return self.ways(about)[0]

    def ways(self, about: str = "states") -> list[Comparison]:
        """The comparisons about something with sinks left out, the main one first.

        Raises ValueError for a score where the model says none.
        """
        found = [one for one in self.comparisons if one.about == about and not one.sinks]
        if not found:
            raise ValueError(f"there is no comparison about {ABOUT[about]}")
        return found


@dataclass(frozen=True)
class Trusted:
    """The method that the study of a model trusts most.

    model: the name of the one that was studied; method: by its name in `METHODS`, see `furthest`;
    sentences: how many it was not chosen on; ways: the comparisons with each way of erasure, which
    say how it does there.
    """

    model: str
    sentences: int
    method: str
    ways: Sequence[Comparison]

    @property
    def is_above(self) -> bool:
        """True if the method surely does better than the baselines, whichever way is taken."""
        return all(one.above[self.method].is_above for one in self.ways)

    @property
    def agreement(self) -> str:
        """The agreement with each way of erasure, and where another method does surely better."""
        return listed(
            f"{one.agreement[self.method]} {one.way}{self._less(one)}" for one in self.ways
        )

    def _less(self, one: Comparison) -> str:
        if one.method == self.method or not one.beside[self.method].is_below:
            return ""
        return f" (less than {NAMED[one.method].title}, {one.agreement[one.method]})"

    @property
    def beside(self) -> str:
        """The agreement of the best baseline with each way of erasure, and its name."""
        told = (
            f"{one.agreement[one.baseline]} ({NAMED[one.baseline].title.lower()})"
            for one in self.ways
        )
        return listed(told)

    @property
    def words(self) -> str:
        """Name the method to trust and how far, with the baselines beside it, in two sentences."""
        doubt = "" if self.is_above else " It is not sure that the method does better."
        return (
            f"**{NAMED[self.method].title}** lies furthest above orders that ask no layer of the "
            f"model, in the worst way of erasure for it, about {ABOUT[self.ways[0].about]}: ρ = "
            f"{self.agreement}, over {self.sentences} sentences that it was not chosen on "
            f"[95 % interval]. The best of those orders come to {self.beside}.{doubt}"
        )


def most_trusted(
    model: str, about: str = "states", *, decoder: bool | None = None
) -> Trusted | None:
    """The method that the study trusts most for a model, with its figures and the baselines'.

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
    return trusted(name, STUDIES[name], about)


def trusted(model: str, study: Study, about: str = "states") -> Trusted:
    """The method that a study of a model trusts most. Raises ValueError as `Study.main` does."""
    ways = study.ways(about)
    return Trusted(model, study.confirming, furthest(ways), ways)


def furthest(ways: Sequence[Comparison]) -> str:
    """The method that lies furthest above the best baseline, or above 0, where it does worst.

    Of those that all these comparisons have; by their choosing halves alone.
    """
    return best(
        METHODS,
        {
            name: min(one.margin(name) for one in ways)
            for name in METHODS
            if all(name in one.choosing for one in ways)
        },
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
        Comparison(
            **{
                **each,
                "agreement": _named(Figure, each["agreement"]),
                "above": _named(Difference, each["above"]),
                "beside": _named(Difference, each["beside"]),
            }
        )
        for each in found["comparisons"]
    ]
    effects = Effects(found["effects"]["sentences"], _named(Figure, found["effects"]["figures"]))
    return Study(**{**found, "comparisons": comparisons, "effects": effects})


def _named(made: type[Any], found: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    return {name: made(*numbers) for name, numbers in found.items()}


FILE = Path(__file__).with_suffix(".json")
STUDIES = read(FILE.read_text("utf-8"))
