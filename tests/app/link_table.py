"""The table of docs/links.md as the declarations have it: what every link sent relies on.

docs/pages.md and docs/sources.md are written from declarations too.
"""

from __future__ import annotations

import sys
from pathlib import Path

from attention import subjects
from attention.app.state.links import every_setting
from attention.app.state.pages import PAGES, SHARED, EmbedSettings
from attention.core.settings import Setting, Value, settings_of
from attention.core.variants import VARIANTS
from attention.pipeline import Selection
from attention.subjects.sources.words import as_markdown

ABOVE_PAGES = "| page | what it shows |\n|---|---|\n"
HEADER = ("name", "what it sets", "default", "values", "belongs to")


def rows() -> list[tuple[str, ...]]:
    """One row per name."""
    declared = every_setting()
    names = [*SHARED, *settings_of(Selection), *settings_of(EmbedSettings)]
    names += [name for name in declared if name not in names]
    listed: list[tuple[str, ...]] = []
    for name in names:
        about = declared[name]
        listed.append((f"`{name}`", about.label, shown(about.default), values(about), owner(name)))
    return listed


def shown(value: Value) -> str:
    """A default as a cell."""
    if isinstance(value, tuple):
        return ", ".join(f"`{item}`" for item in value) or "none of them"
    return f"`{value}`".replace("|", "\\|") if value != "" else "empty"


def values(about: Setting) -> str:
    """Values of a setting, as a cell."""
    if about.choices:
        several = "any of " if isinstance(about.default, tuple) else ""
        return several + ", ".join(f"`{choice}`" for choice in about.choices)
    if isinstance(about.default, str):
        return f"text, up to {about.maximum:,} characters"
    kind = "whole" if isinstance(about.default, int) else "number"
    divides = f", divides `{about.divides}`" if about.divides else ""
    return f"{kind}, {about.minimum:g} to {about.maximum:g}{divides}"


def owner(name: str) -> str:
    """Whose setting it is."""
    if name in SHARED | settings_of(Selection) | settings_of(EmbedSettings):
        return "every page"
    variants = [
        f"`{key}`" for key, variant in VARIANTS.items() if name in settings_of(variant.Config)
    ]
    if variants:
        return ", ".join(variants)
    return next(page.title for page in PAGES if name in page.declared)


def markdown() -> str:
    """The whole table."""
    lines = [HEADER, ("---",) * len(HEADER), *rows()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def published(text: str) -> list[str]:
    """Rows of the table that docs/links.md ends with."""
    return text.rstrip().split(f"| {' | '.join(HEADER)} |\n")[1].splitlines()[1:]


def pages() -> list[str]:
    """Rows of all pages in docs/pages.md."""
    doors = {page: f"{page.door}: " if page.door != page.title else "" for page in PAGES}
    return [f"| {doors[page]}{page.title} | {page.shows} |" for page in PAGES]


def published_pages(text: str) -> list[str]:
    """Rows of pages that docs/pages.md has."""
    return text.split(ABOVE_PAGES)[1].split("\n\n")[0].splitlines()


def write(root: Path) -> None:
    """Write all tables anew, in docs/links.md and docs/pages.md, and docs/sources.md."""
    links, listed = root / "docs" / "links.md", root / "docs" / "pages.md"
    before = links.read_text("utf-8").split(f"| {' | '.join(HEADER)} |")[0]
    links.write_text(f"{before}{markdown()}\n", "utf-8")
    text = listed.read_text("utf-8")
    rows = "\n".join(published_pages(text))
    listed.write_text(text.replace(rows, "\n".join(pages())), "utf-8")
    (root / "docs" / "sources.md").write_text(as_markdown(), "utf-8")


if __name__ == "__main__":
    subjects.declare_pages()
    write(Path(__file__).parents[2]) if "--write" in sys.argv else print(markdown())
