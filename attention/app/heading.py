"""What stands on top of every page: its title, what it is for, and a way to share it."""

from __future__ import annotations

import base64
import functools
import html
from collections.abc import Sequence
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention.app import chapters
from attention.app.links import every_setting
from attention.app.pages import FIRST, SHARED, VARIANT_MENUS, WHOLE_PAGE, Page
from attention.app.results import differences
from attention.app.session import applies, in_use, menu_of, own_settings, value_of
from attention.components.inputs import copy_link, save_figures
from attention.core import papers
from attention.core.settings import Value, settings_of
from attention.core.variants import VARIANTS
from attention.display.files import File
from attention.inputs.text import plain
from attention.lessons.glossary import GLOSSARY
from attention.trained import sources
from attention.trained.sources import NONE

APP = "Attention explorer"
# A few bytes of pixels: an emoji is drawn anew, for 5 ms, whenever the address changes.
_PIXELS = (Path(__file__).parent / "icon.png").read_bytes()
ICON = f"data:image/png;base64,{base64.b64encode(_PIXELS).decode()}"
OTHER_SENTENCES = {
    "target": ("cross", "sentences"),
    "memory": ("cross", "sentences"),
    "s2": ("compare", "pair"),
}
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
KEPT = '.st-key-copy_link, .note, [data-testid="stAlert"], [data-testid="stException"]'


def title(page: Page) -> None:
    """The title of a page with a line below it, and its words, explained."""
    name = "page-title first" if page is FIRST else "page-title"
    st.html(
        f"<header class='{name}'><h1>{page.title}</h1><p>{html.escape(page.purpose)}</p>"
        f"{_glossary(page.words)}</header>"
    )


def sharing(page: Page) -> DeltaGenerator | None:
    """How to share what a page shows; on paper, what is set.

    Gives the place for its files where they are asked for.
    """
    told = _settings_words(page)
    copy_link(
        tab_title(page),
        caption(page, told),
        " · ".join(told),
        list(page.figures),
        _task(page),
        embedded=bool(st.context.is_embedded),
        key="copy_link",
    )

    if st.context.is_embedded:
        return None
    offered = st.popover("Download", type="tertiary", key="download", on_change="rerun")
    return offered if offered.open else None


def _task(page: Page) -> list[str]:
    """What a link to the task on a page hides, so that it stays that task; empty without one."""
    if "predict" not in page.declared or value_of("predict") != "on":
        return []
    menu = menu_of(page)
    own = own_settings(value_of(menu)) if menu else ()
    names = dict.fromkeys(["s", *page.declared, *page.beside(value_of), *own])
    return [name for name in names if applies(name)]


@functools.cache
def _glossary(words: tuple[str, ...]) -> str:
    """Words and symbols of a page, explained when asked for."""
    lines = "".join(
        f"<dt>{html.escape(word)}</dt><dd>{html.escape(GLOSSARY[word])}</dd>" for word in words
    )
    told = f"<summary>Words and symbols</summary><dl>{lines}</dl>"
    return f"<details class='glossary'>{told}</details>" if words else ""


def show_files(page: Page, place: DeltaGenerator, offered: Sequence[File]) -> None:
    """The figures of a page as SVG, which the browser writes, and the files offered meanwhile.

    They are held for as long as they are offered.
    """
    with place:
        save_figures(page.figures, key="save_figures")
        for file in offered:
            st.download_button(
                file.label,
                file.make,
                file.name,
                key=f"file_{file.name}",
                on_click="ignore",
                type="tertiary",
            )


def words_on_figure(page: Page) -> list[str]:
    """That a link asks for a figure alone which the page does not have."""
    figure = value_of("figure")
    if figure == WHOLE_PAGE or figure in page.figures:
        return []
    return [
        f"{page.title} has no figure “{figure}” to stand alone, only {', '.join(page.figures)}."
    ]


def style(page: Page) -> None:
    """The rules that Streamlit's theme has no setting for, and those of an embedded page.

    Where one figure is to stand alone, all that does not belong to it is not shown, but for words
    on what is wrong; where it is not there, the page is whole.
    """
    rules = [_read("style"), _print_rules()]
    if st.context.is_embedded:
        rules.append(_read("embedded"))
    if key := page.figures.get(value_of("figure")):
        alone = _read("alone").replace("{figure}", f'[class*="st-key-{key}"]')
        rules.append(alone.replace("{kept}", KEPT))
    st.html(f"<style>{''.join(rules)}</style>")


@functools.cache
def _print_rules() -> str:
    """A page on paper: in the colours of the light theme, whichever one is seen."""
    colours = ((name, st.get_option(f"theme.light.{option}")) for name, option in PAPER.items())
    rules = (f"--st-{name}: {_of_css(colour)} !important;" for name, colour in colours)
    return _read("print").replace("{colours}", " ".join(rules))


def _of_css(colour: str | list[str]) -> str:
    return colour if isinstance(colour, str) else ", ".join(colour)


@functools.cache
def _read(name: str) -> str:
    return (Path(__file__).parent / f"{name}.css").read_text("utf-8")


def tab_title(page: Page) -> str:
    """What the browser's tab says: the page, and its sentence, shortened."""
    texts = [_cut(text, SHORT) for _, text in _sentences(page) if text.strip()]
    return " · ".join([page.title, *texts[:1], APP])


def caption(page: Page, told: Sequence[str]) -> str:
    """What is shown, in plain words to stand below a figure; the link is to follow.

    told: what is said of the settings.
    """
    words = [*told, source] if (source := _source(page)) else told
    return " ".join([f"{page.title}. {page.purpose}", *(f"{one}." for one in words)])


def _settings_words(page: Page) -> list[str]:
    """The sentences of a page, what computes the numbers, and all settings that are no default."""
    beside = page.beside(value_of)
    words = [f"{label}: “{_cut(text, LONG)}”" for label, text in _sentences(page)]
    if _model(page):
        words += [sources.about(_model(page)).title, f"Layer: {value_of('layer')}"]
    elif menu := menu_of(page):
        words += [VARIANTS[value_of(menu)].title]
    if "scale" in beside:
        words += [f"Scale: {value_of('scale')}"]
    if page.name == "compare" and value_of("compare") == "settings":
        words += [f"A → B: {'; '.join(differences()) or 'the same'}"]
    return words + [_said(name, value) for name, value in _changed(page).items()]


def _sentences(page: Page) -> list[tuple[str, str]]:
    """The label and the text of each sentence that a page shows; of the guide the chapter's."""
    if "chapter" in page.declared:
        chapter = chapters.opened()
        if chapter is None or chapter.figure == "spread":
            return []
        return [(every_setting()["s"].label, plain(chapters.sentence_of(chapter)))]
    names = ["s"] if page.sentence(value_of) else []
    for name, (setting, value) in OTHER_SENTENCES.items():
        if name in page.declared and value_of(setting) == value:
            names.append(name)
    return [(every_setting()[name].label, plain(value_of(name))) for name in names]


def _model(page: Page) -> str:
    """The trained model that a page shows, empty where it shows none."""
    name = value_of("model") if page.models else NONE
    return "" if name == NONE else str(name)


def _source(page: Page) -> str:
    """Who published what a page computes with."""
    if name := _model(page):
        return papers.plain(sources.about(name).source)
    menu = menu_of(page)
    return f"The variant: {papers.plain(VARIANTS[value_of(menu)].source)}" if menu else ""


def _changed(page: Page) -> dict[str, Value]:
    """The settings of a page that have an effect and are no default, but for those told apart.

    The first of its own, which says what the page shows, is always told.
    """
    menu, beside = menu_of(page), page.beside(value_of)
    own = in_use(variant=value_of(menu) if menu else None)
    values = {name: value for name, value in own.items() if name in beside or name not in SHARED}
    for schema in page.settings:
        values |= {name: value_of(name) for name in settings_of(schema) if applies(name)}
    apart = {
        *VARIANT_MENUS,
        *OTHER_SENTENCES,
        "model",
        "layer",
        "scale",
        "compare",
        "lesson",
        "chapter",
        "guess",
        "map",
    }
    declared = every_setting()
    kinds = [next(iter(settings_of(schema))) for schema in page.settings[:1]]
    return {
        name: value
        for name, value in values.items()
        if name not in apart and (value != declared[name].default or name in kinds)
    }


def _said(name: str, value: Value) -> str:
    text = ", ".join(value) if isinstance(value, tuple) else _cut(plain(str(value)), SHORT)
    return f"{every_setting()[name].label}: {text}"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
