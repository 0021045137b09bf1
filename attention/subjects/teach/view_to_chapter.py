"""A view that a visitor has made, or a link to one, as the figure of a chapter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from torch import Tensor

from attention.app.cached.runs import if_there_are_words
from attention.app.state.links import every_setting, read_link
from attention.app.state.pages import PAGES, first_page
from attention.app.state.shared import load_model, width_of
from attention.app.state.view import View, view_of
from attention.app.state.visit import SELECTED, Visit
from attention.core.functional import LongTrace
from attention.core.printing import distinct_names, percent
from attention.figures import layer_words
from attention.subjects.guide.reading import Value
from attention.subjects.teach.cards import Card
from attention.trained.sources import NONE

# Of the figure before, which another one does not have.
OF_ANOTHER = (
    *("parts", "reveal", "probes", "try", "yours", "own"),
    *("your_try", "your_question", "your_choices", "your_because"),
)
ARTICLES = {"the", "a", "an"}


def of_link(address: str) -> View:
    """The view of a link to a page. Raises ValueError where it is none."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        raise ValueError(f"“{address[:40]}” is no link") from None
    name = parts.path.rstrip("/").rpartition("/")[2] or first_page().name
    page = next((page for page in PAGES if page.name == name), None)
    if page is None or page.chapter is None:
        titles = ", ".join(page.title for page in PAGES if page.chapter)
        raise ValueError(f"a link to one of {titles} is expected, not “{address[:40]}”")
    query = parts.query or page.opens("")
    taken, _ = read_link(parse_qs(query, keep_blank_values=True), width_of)
    return view_of(page, Visit().opening(page, taken, ()))


@dataclass(frozen=True, eq=False)
class LookedAt:
    """Weights that a figure shows: its words, those they look at, and the numbers of layers and
    heads it could show. rows: (words, keys)."""

    words: Sequence[str]
    keys: Sequence[str]
    rows: Tensor
    layers: int
    heads: int

    def doubt(self, card: Card) -> str:
        """A sentence on another answer to which the word that looks gives more weight than to the
        right one, "" where there is none, or an answer names no word, or several."""
        choices, right = card.texts("choices"), card.right
        query = min(card.number("query"), len(self.words) - 1)
        names = [re.sub(r"\W", "", key).lower() for key in self.keys]
        said = [{*re.findall(r"\w+", choice.lower())} & {*names} for choice in choices]
        of_all = said[0].intersection(*said) if said else set()
        named = [words - of_all - ARTICLES or words - of_all for words in said]
        if right is None or any(len(words) != 1 for words in named):
            return ""
        shares = [
            max(
                float(share)
                for name, share in zip(names, self.rows[query], strict=True)
                if {name} == words
            )
            for words in named
        ]
        most = shares.index(max(shares))
        if shares[most] == shares[right]:
            return ""
        return (
            f"In the figure “{self.words[query]}” gives “{choices[most]}” {percent(shares[most])} "
            f"of its attention, and your right answer, “{choices[right]}”, "
            f"{percent(shares[right])}."
        )


def looked_at(link: str) -> LookedAt | None:
    """The weights that the figure of a link shows; None where there is no word in it, or its
    settings do not fit."""
    try:
        view = of_link(f"explore?{link}")
        result = if_there_are_words(view.settings())
    except ValueError:
        return None
    if result is None:
        return None
    layers = 1 if view["model"] == NONE else len(load_model(view["model"]).layers)
    tokens, keys, trace = layer_words.shown(result)
    whole = result.layer_trace
    heads = 1 if isinstance(whole, LongTrace) else whole.weights.shape[-3]
    return LookedAt(distinct_names(tokens), keys, trace.weights, layers, heads)


def as_chapter(view: View) -> dict[str, Value]:
    """The keys of a chapter whose figure shows a view. Raises ValueError where none does."""
    figure = view.page.chapter(view) if view.page.chapter else ""
    if not figure:
        raise ValueError(f"this view of {view.page.title} cannot stand in a chapter")
    link = urlencode(_said(view), doseq=True)
    emptied = dict.fromkeys(OF_ANOTHER, "")
    return {"figure": figure, "link": link, "page": view.page.name, **emptied}


def _said(view: View) -> dict[str, Any]:
    """The settings of a view that have an effect and are no defaults, as a link says them."""
    values = view.in_use()
    values |= {name: view[name] for name in view.page.declared if view.applies(name)}
    values |= {name: view[name] for name in SELECTED}
    declared = every_setting()
    said = {n: value for n, value in values.items() if value != declared[n].default}
    if view.page.attention == "cross":
        return {**said, "s": view["target"], "memory": view["memory"]}
    return {"s": view["s"], **said}
