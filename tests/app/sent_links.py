"""Links over all pages, and what each opened when it was written down, a line for each.

`python -m tests.app.sent_links LINK ...` writes down what more links open.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from attention import subjects
from attention.app.state.links import every_setting
from attention.app.state.pages import first_page, link_of_now, page_named
from attention.app.state.session import VISIT
from attention.app.state.view import view_of
from tests.running import App, opened

subjects.declare_pages()

TABLE = Path(__file__).with_name("sent_links.json")
NO_FIGURES = {"copy_link", "examples", "selection"}
WAITED = "This change waited"  # on a busy machine


def table() -> dict[str, dict[str, Any]]:
    """Views that links opened, see `seen`."""
    written: dict[str, dict[str, Any]] = json.loads(TABLE.read_text("utf-8"))
    return written


def opened_by(address: str) -> App:
    """The page of a link, to which the server leads."""
    parts = urlsplit(address)
    name, query = link_of_now(parts.path.strip("/") or first_page().name, parts.query)
    page = page_named(name)
    query = query or (page.opens() if page.opens else "")
    return opened(page.name, **parse_qs(query, keep_blank_values=True))


def seen(app: App) -> dict[str, Any]:
    """The page shown, the settings in force that are no defaults, the figure that stands alone,
    the title, the notes and the figures."""
    visit, said = app.session_state[VISIT], app.query_params
    link = {name: texts if isinstance(texts, list) else [texts] for name, texts in said.items()}
    page = page_named(visit.page)
    view = view_of(page, visit, link, app.values)
    default = {name: about.default for name, about in every_setting().items()}
    values = {name: view[name] for name in sorted(view) if view[name] != default[name]}
    return {
        "page": page.title,
        "alone": page.figures.get(values.pop("figure", ""), ""),
        "heading": app.heading[0],
        "settings": values,
        "notes": [without_options(note) for note in app.notes if not note.startswith(WAITED)],
        "figures": sorted(name for name in app.sent if " " not in name and name not in NO_FIGURES),
    }


def without_options(note: str) -> str:
    """The note without the options it lists, as any of them may be added."""
    return re.sub(r"(one of) .*(, got )", r"\1 …\2", note)


def write(rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the table, a line for each link."""
    lines = (
        f"{json.dumps(link)}: {json.dumps(row, ensure_ascii=False)}" for link, row in rows.items()
    )
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def main(links: Sequence[str]) -> None:
    """Write down what links open."""
    known = table() if TABLE.exists() else {}
    write(known | {link: seen(opened_by(link).finished()) for link in links})


if __name__ == "__main__":
    main(sys.argv[1:])
