"""The tables of docs/associations.md, from attention/analysis/study.json."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from attention.analysis.associations import BASELINES, METHODS, NAMED
from attention.analysis.study import Comparison, Study, share
from attention.core.printing import percent

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "docs" / "associations.md"
PLACE = re.compile(r"(<!-- (\w+): ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text: str, studies: Mapping[str, Study]) -> str:
    """A page of Markdown with its places filled: `<!-- model: table -->` … `<!-- end -->`."""

    def fill(found: re.Match[str]) -> str:
        head, model, table, end = found.groups()
        if model not in studies:
            return found.group()
        return f"{head}\n{TABLES[table](studies[model])}\n\n{end}"

    return PLACE.sub(fill, text)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def title(name: str) -> str:
    """A method's title; that of a baseline in italics."""
    words = NAMED[name].title
    return f"*{words}*" if name in BASELINES else words


def agreement(about: str) -> Callable[[Study], str]:
    """Methods and baselines, the best first: the main comparison, and others beside it."""

    def table(study: Study) -> str:
        main, *others = (one for one in study.comparisons if one.about == about)
        head = ["method", f"ρ, {main.way}", "above the best baseline"]
        head += [_beside(one) for one in others] + ["with recency"]
        order = sorted(main.agreement, key=lambda name: -main.agreement[name].value)
        rows = [
            [
                title(name),
                str(main.agreement[name]),
                str(main.above[name]) if name in METHODS else "",
                *(share(one.agreement[name].value) for one in others),
                share(study.recency[name]),
            ]
            for name in order
        ]
        return f"{study.sentences} sentences, {main.rows} rows.\n\n{markdown(head, rows)}"

    return table


def _beside(one: Comparison) -> str:
    return "sinks counted" if one.sinks else one.way


def layers(about: str) -> Callable[[Study], str]:
    """The agreement of methods after some layers."""

    def table(study: Study) -> str:
        rows = [
            [title(name), *map(share, numbers)] for name, numbers in study.layers[about].items()
        ]
        return markdown(["after layer", *map(str, study.shown)], rows)

    return table


def mixing(study: Study) -> str:
    """Mixing ratios after some layers, and their mean over all."""
    return _percents(study, "mixing ratio", study.mixing)


def sinks(study: Study) -> str:
    """The shares of weights and lengths on sinks."""
    return _percents(study, "on sinks", study.on_sinks)


def _percents(study: Study, name: str, found: Mapping[str, Sequence[float]]) -> str:
    rows = [
        [words, *(percent(each[at]) for at in study.shown), percent(sum(each) / len(each))]
        for words, each in found.items()
    ]
    return markdown([name, *map(str, study.shown), "all layers"], rows)


def effects(study: Study) -> str:
    """Effects of heads."""
    rows = [[name, str(each)] for name, each in study.effects.figures.items()]
    head = [f"over all heads, {study.effects.sentences} sentences", "[95 % interval]"]
    return markdown(head, rows)


def alike(study: Study) -> str:
    """Methods with identical rows."""
    groups = (" = ".join(map(title, group)) for group in study.same)
    return f"Identical rows: {'; '.join(groups)}."


TABLES = {
    **{about: agreement(about) for about in ("states", "logit", "fall")},
    **{f"{about} by layer": layers(about) for about in ("states", "logit")},
    "mixing": mixing,
    "sinks": sinks,
    "effects": effects,
    "alike": alike,
}
