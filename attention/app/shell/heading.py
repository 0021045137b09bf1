"""Heading on top of every page: its title, what it is for, and a way to share it."""

from __future__ import annotations

import base64
import functools
import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.app.components.inputs import (
    CopyLinkHeader,
    SaveFiguresHeader,
    copy_link,
    save_figures,
)
from attention.app.components.scene import Drawn
from attention.app.state.glossary import GLOSSARY
from attention.app.state.links import every_setting
from attention.app.state.pages import SHARED, WHOLE_PAGE
from attention.app.state.view import View
from attention.core import papers
from attention.core.settings import Value, settings_of
from attention.core.variants import VARIANTS
from attention.figures.files import COPIED, File, slug
from attention.figures.scene import Figure, Scene
from attention.figures.worked_out import page_of_scene
from attention.inputs.text import plain
from attention.trained import sources
from attention.trained.sources import NONE

APP = "Attention explorer"
# A few bytes of pixels: an emoji is drawn anew, for 5 ms, whenever the address changes.
_PIXELS = (Path(__file__).parent / "icon.png").read_bytes()
ICON = f"data:image/png;base64,{base64.b64encode(_PIXELS).decode()}"
SHORT, LONG = 40, 300
PAPER = {
    "primary-color": "primaryColor",
    "background-color": "backgroundColor",
    "secondary-background-color": "secondaryBackgroundColor",
    "text-color": "textColor",
    "chart-sequential-colors": "chartSequentialColors",
    "chart-diverging-colors": "chartDivergingColors",
    "chart-categorical-colors": "chartCategoricalColors",
}
# Told by their titles, or where one is on a page: no part of a caption.
TOLD_APART = (
    *("variant", "model", "layer", "scale"),
    *("compare", "lesson", "chapter", "guess", "answered"),
    *("map", "fold", "words", "differs", "head_by", "prompts"),
)
LEADING = {"page_button", "head_cards", "sizes"}  # kinds of figures that only ask for more
# Kinds of figures that follow the chosen word, and words, which are of none where only these are.
FOLLOWING = {"picture", "comparison", "states", "words"}
KEPT = ", ".join(
    (
        ".st-key-copy_link",
        '[data-testid="stHtml"] .note',  # no note within a figure
        ".attention-words-figure > .note",
        '[data-testid="stAlert"]',
        '[data-testid="stException"]',
    )
)


def said_alone(view: View) -> Sequence[tuple[str, str]]:
    """The sentence of a page that shows that in the box, or none."""
    return [("s", view["s"])] if view.page.sentence(view) else []


# On a phone the menu stands at the side, on every page.
NO_SIDE = """
@media (min-width: 769px) {
  [data-testid=stSidebar], [data-testid=stExpandSidebarButton] { display: none; }
}
@media (min-width: 1100px) {
  [data-testid=stToolbar]::before { display: block; }
  [data-testid=stTopNav] { padding-left: 13rem; }
}
"""


@dataclass(frozen=True)
class PageHeading:
    """Heading of a page and its words on itself, from its view."""

    # its title, and a line on what it is for
    heading: Callable[[View], tuple[str, str]] = lambda view: view.page.heading
    # those it shows, each with the name of its setting
    sentences: Callable[[View], Sequence[tuple[str, str]]] = said_alone
    # further words for a caption
    more: Callable[[View], Sequence[str]] = lambda view: ()
    # the link to share where that is not the address
    link: Callable[[View], str] = lambda view: ""


def title(view: View, heading: tuple[str, str]) -> None:
    """The title of a page with a line below it, and its words, explained."""
    words, purpose = heading
    name = "page-title beside" if view.page.first else "page-title"  # the ways on stand there
    st.html(
        f"<header class='{name}'><h1>{html.escape(words)}</h1><p>{html.escape(purpose)}</p>"
        f"{glossary(view.page.words)}</header>"
    )


def sharing(view: View, heading: tuple[str, str], told: PageHeading) -> DeltaGenerator | None:
    """Share what a page shows; on paper, what is set.

    Gives the container for its files where they are asked for.
    """
    sentences = told.sentences(view)
    words = _settings_words(view, sentences, told.more(view))
    title = tab_title(heading[0], sentences)
    st.set_page_config(title, ICON, "wide")
    header: CopyLinkHeader = {
        "link": told.link(view),
        "title": title,
        "caption": caption(view, heading, words),
        "paper": " · ".join(words),
        "query": every_setting()["query"].label,
        "figures": view.page.figures,
        "embedded": bool(st.context.is_embedded),
    }
    copy_link.draw(header, key="copy_link", width="content")
    if st.context.is_embedded or not view.page.figures:
        return None
    offered = st.popover("Download", type="tertiary", key="download", on_change="rerun")
    return offered if offered.open else None


@functools.cache
def glossary(words: tuple[str, ...]) -> str:
    """Words and symbols of a page, explained when asked for."""
    lines = "".join(
        f"<dt>{html.escape(word)}</dt><dd>{html.escape(GLOSSARY[word])}</dd>" for word in words
    )
    told = f"<summary>Words and symbols</summary><dl>{lines}</dl>"
    return f"<details class='glossary'>{told}</details>" if words else ""


def show_files(
    view: View, title: str, container: DeltaGenerator, drawn: Drawn, offered: Sequence[File]
) -> None:
    """The one menu of files, alike on all pages: all that is drawn as HTML, each figure as PNG and
    as SVG, which the browser writes, numbers as tables, a script.

    They are held for as long as they are offered. title: of the page.
    """
    begins = slug(" ".join([view.page.title, *(str(view[name]) for name in _firsts(view))]))

    def save(file: File) -> None:
        if file.label == COPIED:
            its: SaveFiguresHeader = {"figures": {}, "begins": "", "program": str(file.make())}
            save_figures.draw(its, key="copy_program")
            return
        st.download_button(
            file.label,
            file.make,
            f"{begins}-{file.name}",
            key=f"file_{file.name}",
            on_click="ignore",
            type="tertiary",
        )

    with container:
        save(File("All figures, HTML", "all-figures.html", lambda: _page(view, title, drawn)))
        its: SaveFiguresHeader = {"figures": view.page.figures, "begins": begins, "program": ""}
        save_figures.draw(its, key="save_figures")
        for file in sorted(offered, key=lambda file: file.name.endswith(".py")):
            save(file)


def _page(view: View, title: str, drawn: Drawn) -> str:
    """All that is drawn as one file; where something in it is of the chosen word and does not
    follow another choice, that word stays."""
    kept = [
        (part, shows)
        for scene, shows in drawn
        for part in scene.parts
        if not (isinstance(part, Figure) and part.kind in LEADING)
    ]
    whole = Scene([part for part, _ in kept])
    follows = all(shows for _, shows in kept) and {it.kind for it in whole} <= FOLLOWING
    title = " · ".join([title, *(text for _, text in said_alone(view))])
    return page_of_scene(whole, title, view["query"], stage=view["stage"], stays=not follows)


def words_on_figure(view: View) -> list[str]:
    """Tell that a link asks for a figure alone which the page does not have."""
    figure, page = view["figure"], view.page
    if figure == WHOLE_PAGE or figure in page.figures:
        return []
    return [
        f"{page.title} has no figure “{figure}” to stand alone, only {', '.join(page.figures)}."
    ]


def style(view: View) -> None:
    """The rules that Streamlit's theme has no setting for, and those of an embedded page.

    Where one figure is to stand alone, hide everything else except error notes; where the page
    does not have that figure, show the whole page.
    """
    rules = [_read("style"), _print_rules()]
    if view.calm or not view.page.beside(view):
        rules.append(NO_SIDE)
    if view.calm:
        rules.append(_read("calm"))
    if st.context.is_embedded:
        rules.append(_read("embedded"))
    if key := view.page.figures.get(view["figure"]):
        alone = _read("alone").replace("{figure}", f'[class*="st-key-{key}"]')
        rules.append(alone.replace("{kept}", KEPT))
    st.html(f"<style>{''.join(rules)}</style>")


@functools.cache
def _print_rules() -> str:
    """A page on paper: in the colours of the light theme, whichever one is seen."""
    colours = ((name, st.get_option(f"theme.light.{option}")) for name, option in PAPER.items())
    listed = ((name, [one] if isinstance(one, str) else one) for name, one in colours)
    rules = (f"--st-{name}: {', '.join(colour)} !important;" for name, colour in listed)
    return _read("print").replace("{colours}", " ".join(rules))


@functools.cache
def _read(name: str) -> str:
    return (Path(__file__).parent / f"{name}.css").read_text("utf-8")


def tab_title(title: str, sentences: Sequence[tuple[str, str]]) -> str:
    """Title of the browser's tab: the page, and its sentence, both shortened."""
    texts = [_cut(plain(text), SHORT) for _, text in sentences if plain(text).strip()]
    return " · ".join([_cut(title, SHORT), *texts[:1], APP])


def caption(view: View, heading: tuple[str, str], words: Sequence[str]) -> str:
    """Caption of what is shown, in plain words to stand below a figure; the link is to follow.

    words: on the settings.
    """
    if source := _source(view):
        words = [*words, source]
    title, purpose = heading
    return " ".join([f"{title}. {purpose}", *(f"{one}." for one in words)])


def _settings_words(
    view: View, sentences: Sequence[tuple[str, str]], more: Sequence[str]
) -> list[str]:
    """The sentences of a page, what computes the numbers, and all settings that are no default."""
    declared = every_setting()
    words = [f"{declared[name].label}: “{_cut(plain(text), LONG)}”" for name, text in sentences]
    if name := _model(view):
        words += [sources.about(name).title]
        words += [f"Layer: {view['layer']}"] if "layer" in view.page.beside(view) else []
    elif view.has_variants:
        words += [VARIANTS[view["variant"]].title]
    if "scale" in view.page.beside(view):
        words += [f"Scale: {view['scale']}"]
    changed = _changed(view, {name for name, _ in sentences})
    return [*words, *more, *(_said(name, value) for name, value in changed.items())]


def _model(view: View) -> str:
    """The trained model that a page shows, empty where it shows none."""
    return str(view["model"]) if _has(view, "model") and view["model"] != NONE else ""


def _has(view: View, name: str) -> bool:
    """True if a page shows what a setting of trained models is about."""
    return view.page.models == "needed" or name in view.page.beside(view)


def _source(view: View) -> str:
    """Source of what a page computes with: who published it."""
    if name := _model(view):
        return papers.plain(sources.about(name).source)
    if not view.has_variants:
        return ""
    return f"The variant: {papers.plain(VARIANTS[view['variant']].source)}"


def _changed(view: View, apart: set[str]) -> dict[str, Value]:
    """The settings of a page that have an effect and are no default, but for those told apart.

    A head beside is always told, and the first of its own where that says what the page shows.
    """
    beside, own = view.page.beside(view), view.in_use()
    values = {name: value for name, value in own.items() if name in beside or name not in SHARED}
    for schema in view.page.settings:
        values |= {name: view[name] for name in settings_of(schema) if view.applies(name)}
    declared = every_setting()
    told = ["head", *_firsts(view)]
    return {
        name: value
        for name, value in values.items()
        if name not in (*TOLD_APART, *apart) and (value != declared[name].default or name in told)
    }


def _firsts(view: View) -> list[str]:
    """The first of a page's own settings where that says what the page shows, else none."""
    firsts = [next(iter(settings_of(schema))) for schema in view.page.settings[:1]]
    return [name for name in firsts if every_setting()[name].choices]


def _said(name: str, value: Value) -> str:
    text = ", ".join(value) if isinstance(value, tuple) else _cut(plain(str(value)), SHORT)
    return f"{every_setting()[name].label}: {text}"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
