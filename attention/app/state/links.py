"""Names in links: every setting of every page and variant."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attention.app.state.pages import (
    PAGES,
    SHARED,
    EmbedSettings,
    Page,
    hidden_names,
    variant_settings,
)
from attention.core.settings import Declared, Setting, Value, settings_of, with_divisors
from attention.core.variants import VARIANTS
from attention.pipeline import Selection, Settings

MAX_PROBLEMS = 12


def every_setting() -> Declared:
    """All names a link may carry: those all pages share, of every variant, and of every page."""
    return _every_setting(tuple(VARIANTS), tuple(PAGES))


@functools.lru_cache(maxsize=4)
def _every_setting(variants: tuple[str, ...], pages: tuple[Page, ...]) -> Declared:
    declared = variant_settings() | SHARED | settings_of(Selection) | settings_of(EmbedSettings)
    for page in pages:
        declared |= page.declared
    return declared


def read_link(
    link: Mapping[str, Sequence[str]],
    width_of: Callable[[str], int],
    instead: Mapping[str, Value] | None = None,
) -> tuple[dict[str, list[str]], list[str]]:
    """Read a link: what of it can be taken, and in words, one line each, what cannot.

    link: the texts of each name; a name given twice counts by its last text, but for a choice of
    several. width_of: the d_model of the vectors of a name other than "random". instead: what a
    page shows where a link says nothing legal, if that is not the default.
    Text that is too long is taken as far as it may go. The rest of the link stands.
    """
    declared = every_setting()
    taken: dict[str, list[str]] = {}
    problems = []
    for name, texts in link.items():
        about = declared.get(name)
        if about is None:
            problems.append(f"“{name[:40]}” is not a setting; it was left out.")
            continue
        legal, problem = _legal(about, texts, (instead or {}).get(name, about.default))
        if legal:
            taken[name] = legal
        if problem:
            problems.append(problem)
    problems += _not_hidden(declared, taken)
    problems += _not_dividing(declared, taken, width_of)
    beyond = len(problems) - MAX_PROBLEMS
    more = [f"{beyond} more settings of this link could not be taken."] if beyond > 0 else []
    return taken, problems[:MAX_PROBLEMS] + more


def _legal(about: Setting, texts: Sequence[str], instead: Value) -> tuple[list[str], str]:
    """The texts of one setting that can be taken, and what is wrong with the others."""
    several = isinstance(about.default, tuple)
    given = [*texts] if several else [texts[-1]]
    problem = about.problem(about.parse_all(given))
    if problem is None:
        return given, ""
    if about.is_text:
        longest = int(about.maximum or 0)
        cut = [text[:longest] for text in given]
        return cut, f"{problem[:200]}; showing its first {longest} instead."
    legal = [text for text in given if several and text in about.choices]
    shown = ", ".join(legal) or (instead if not several else "none")
    return legal, f"{problem[:200]}; showing {shown} instead."


def _not_hidden(declared: Declared, taken: dict[str, list[str]]) -> list[str]:
    """The names to hide that are no settings; they are taken out of what a link says."""
    if "hide" not in taken:
        return []
    longest = int(declared["hide"].maximum or 0)
    names = hidden_names(taken["hide"][0][:longest])
    known = [name for name in names if name in declared]
    if known != list(names):
        taken["hide"] = [",".join(known)]
    return [
        f"“{name[:40]}” cannot be hidden: it is not a setting."
        for name in names
        if name not in declared
    ]


def _not_dividing(
    declared: Declared, taken: Mapping[str, list[str]], width_of: Callable[[str], int]
) -> list[str]:
    """Numbers of a link that do not divide what they must, and what is shown instead."""
    wanted = [name for name in taken if declared[name].divides]
    if not wanted:
        return []
    values: dict[str, Value] = {
        name: declared[name].parse_all(texts) for name, texts in taken.items()
    }
    vectors = str(values.get("vectors", declared["vectors"].default))
    if vectors != "random":
        values["d_model"] = width_of(vectors)
    fitting = with_divisors(declared, values)
    return [
        f"{name} must divide {divided} = {fitting[divided]}, got {values[name]}; "
        f"showing {fitting[name]} instead."
        for name in wanted
        if fitting[name] != values[name]
        for divided in [declared[name].divides]
    ]


def value_in(link: Mapping[str, Sequence[str]], name: str) -> Value:
    """Value of a setting in a link, or its default where it says nothing legal."""
    about = every_setting()[name]
    value = about.parse_all(link[name]) if link.get(name) else about.default
    return about.default if about.problem(value) else value


def settings_of_link(
    link: Mapping[str, Sequence[str]],
    sentence: str,
    head: int | None = None,
) -> Settings:
    """The settings that a link asks for, whatever a visitor has set.

    head: the one shown, None = that of the link.
    """

    def value(name: str) -> Any:
        return value_in(link, name)

    shared = {name: value(name) for name in SHARED if name != "s"}
    if head is not None:
        shared["head"] = head
    own = settings_of(VARIANTS[shared["variant"]].Config)
    config = tuple((name, value(name)) for name in own if name not in SHARED)
    return Settings(sentence, **shared, config=config)
