"""The tables of docs/study.md, from attention/analysis/study.json."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from attention.analysis.associations import BASELINES, NAMED
from attention.analysis.study import ABOUT, Comparison, Difference, Study, share, trusted
from attention.core.printing import fixed, listed

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "docs" / "study.md"
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
        best = title(main.method)
        head = ["method", f"ρ, {main.way}", "above the best baseline or 0", "p"]
        head += [f"above {best}", "p", *map(_beside, others), "with recency"]
        order = sorted(main.agreement, key=lambda name: -main.agreement[name].value)
        rows = [
            [
                title(name),
                str(main.agreement[name]),
                *_told(main.above.get(name)),
                *_told(main.beside.get(name)),
                *(share(one.agreement[name].value) for one in others),
                share(study.recency.get(name)),
            ]
            for name in order
        ]
        told = (
            f"{study.confirming} sentences, {main.rows} rows. Chosen on the other "
            f"{study.sentences - study.confirming}: the best method, {best} (ρ there "
            f"{share(main.choosing[main.method])}); the best baseline, {title(main.baseline)} "
            f"({share(main.choosing[main.baseline])})."
        )
        return f"{told}\n\n{markdown(head, rows)}"

    return table


def _told(one: Difference | None) -> tuple[str, str]:
    return ("", "") if one is None else (str(one), fixed(one.p, 3))


def _beside(one: Comparison) -> str:
    return "sinks counted" if one.sinks else one.way


def plain(about: str) -> Callable[[Study], str]:
    """The method that is trusted, and where each lies with each way of erasure."""

    def words(study: Study) -> str:
        lines = [trusted("", study, about).words]
        for one in (each for each in study.comparisons if each.about == about):
            how = f"{one.way}, sinks counted" if one.sinks else one.way
            parts = [f"- *{how}*: the best baseline is {title(one.baseline)}"]
            for where, some in _sides(one).items():
                names = [title(name) for name in one.above if name in some]
                if names:
                    parts.append(f"{where}: {' · '.join(names)}")
            lines.append("; ".join(parts) + ".")
        first, *rest = lines
        return "\n".join([first, "", *rest])

    return words


def _sides(one: Comparison) -> dict[str, set[str]]:
    """Methods surely above the best baseline, surely below it, and neither."""
    above = {name for name, each in one.above.items() if each.is_above}
    below = {name for name, each in one.above.items() if each.is_below}
    neither = {*one.above} - above - below
    return {"surely above it": above, "not told apart from it": neither, "surely below it": below}


def layers(about: str) -> Callable[[Study], str]:
    """The agreement of methods after some layers."""

    def table(study: Study) -> str:
        rows = [
            [title(name), *map(share, numbers)] for name, numbers in study.layers[about].items()
        ]
        return markdown(["after layer", *map(str, study.shown)], rows)

    return table


def effects(study: Study) -> str:
    """Effects of heads."""
    rows = [[name, str(each)] for name, each in study.effects.figures.items()]
    head = [f"over all heads, {study.effects.sentences} sentences", "[95 % interval]"]
    return markdown(head, rows)


def in_short(study: Study) -> str:
    """Limits of all that follows for a decoder: with sinks counted, and of the fall."""
    unsure = [
        ABOUT[one.about]
        for one in study.comparisons
        if one.sinks and not any(each.is_above for each in one.above.values())
    ]
    fall = trusted("", study, "fall")
    named = (
        f"The method that is named for {ABOUT['fall']}, {title(fall.method)}, agrees with it by no "
        f"more than ρ = {fall.agreement}."
    )
    if not unsure:
        return named
    return (
        "With sinks counted no method of the decoder lies surely above the best order that needs "
        f"no model, for {listed(unsure)}. {named}"
    )


TABLES = {
    **{about: agreement(about) for about in ("states", "logit", "fall")},
    **{f"{about} by layer": layers(about) for about in ("states", "logit")},
    **{f"{about} in words": plain(about) for about in ("states", "logit", "fall")},
    "effects": effects,
    "in short": in_short,
}
