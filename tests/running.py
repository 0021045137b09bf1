"""The app as AppTest runs it, without a browser: how a page is opened, and what it then holds."""

from __future__ import annotations

import functools
import html
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
import torch
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import Block, Widget
from torch import Tensor

from attention.app.shell.doors import ADDRESS
from attention.app.state.pages import PAGES, first_page, page_named
from attention.app.state.view import View, view_of
from attention.app.state.view import viewed as viewed
from attention.app.state.visit import Visit
from attention.figures.matrix import Matrix
from attention.hosting.reruns import Share
from attention.hosting.token_bucket import TokenBucket
from tests.sent import Sent as Sent
from tests.sent import figures_in as figures_in
from tests.sent import sent_as as sent_as

SCRIPT = Path(__file__).parent.parent / "streamlit_app.py"
TIMEOUT = 120  # seconds: the machine may be busy
READ_AS_MARKDOWN = {
    *("caption", "error", "exception", "header", "info", "latex", "markdown"),
    *("subheader", "success", "title", "warning"),
}


def opened(page: str, /, **link: object) -> App:
    """The page of that name as a link opens it; of a list all texts are given."""
    app = App(SCRIPT, default_timeout=TIMEOUT)
    app._bidi_component_manager = _installed_components()
    app.session_state["share"] = Share(TokenBucket.full(1.0, 1.0, 0.0))  # a whole core
    for name, value in link.items():
        several = value if isinstance(value, list | tuple) else [value]
        app.query_params[name] = [str(one) for one in several]
    return app._run() if page == first_page().name else app.go(page)


@functools.cache
def _installed_components() -> BidiComponentManager:
    """AppTest would look for them at every opening, which takes it longer than the page."""
    manager = BidiComponentManager()
    manager.discover_and_register_components(start_file_watching=False)
    return manager


class App(AppTest):
    """A visit to the app: nothing may fail, whatever is done."""

    def _run(self, widget_state: WidgetStates | None = None, timeout: float | None = None) -> App:
        before = self._tree
        super()._run(widget_state, timeout)
        assert not self.exception
        opened = {uploader.key: uploader._files for uploader in before.file_uploader}
        for uploader in self.file_uploader:  # AppTest would ask the session for their bytes
            uploader._files = opened.get(uploader.key, uploader._files)
        self.ran_alone = not any(item.proto.body.startswith("<style>") for item in self.get("html"))
        if self.ran_alone:
            self._keep(before.sidebar)
        return self

    def _keep(self, side: Block) -> None:
        """Keep what stands beside a page that ran alone, as a browser does."""
        self._tree.children[1] = side
        for node in side:
            node.root = self._tree

    # What is shown

    @property
    def said(self) -> str:
        """All raw HTML but the style, where a visitor's words may stand escaped, and the words and
        tables of scenes as HTML."""
        bodies = []
        for item in (*self.main, *self.sidebar):
            if item.type == "html":
                bodies.append(item.proto.body)
            elif item.type == "bidi_component":
                bodies += [as_html(part.header) for part in figures_in(item.proto.bytes).values()]
        return "\n".join(body for body in bodies if body and not body.startswith("<style>"))

    @property
    def told(self) -> list[str]:
        """Plain text: what Streamlit shows as such, and the words of scenes."""
        figures = [
            part.header
            for item in self.get("bidi_component")
            for part in figures_in(item.proto.bytes).values()
        ]
        words = ["".join(header["parts"]) for header in figures if "look" in header]
        return [*(text.value for text in self.text), *words]

    @property
    def notes(self) -> list[str]:
        """The quiet lines, as read."""
        found = re.findall(r"<p class='note'>(.*?)</p>", self.said)
        return [html.unescape(re.sub("<.*?>", "", note)) for note in found]

    @property
    def missing(self) -> list[str]:
        """Words on what is missing before anything can be shown."""
        return [*(info.value for info in self.info), *self.words_of("info")]

    def words_of(self, look: str) -> list[str]:
        """The words of scenes that have a look."""
        figures = [
            part.header
            for item in self.get("bidi_component")
            for part in figures_in(item.proto.bytes).values()
        ]
        return ["".join(header["parts"]) for header in figures if header.get("look") == look]

    @property
    def page_shown(self) -> str:
        """The name of the page that the menu has open."""
        return str(self.session_state[ADDRESS]) or first_page().name

    @property
    def heading(self) -> list[str]:
        """The title of the page, the line below it, and what is printed of its settings."""
        words = "".join(re.findall(r"<header class='page-title[^']*'>.*?</header>", self.said))
        lines = [html.unescape(line) for line in re.findall(r"<(?:h1|p).*?>(.*?)</", words)]
        return [*lines, self.sent["copy_link"].header["paper"]]

    @property
    def tables(self) -> list[dict[str, list[str]]]:
        """Each table of numbers by column, as read; without a title the names, last the totals."""
        found = []
        for body in re.findall(r"<table>(.*?)</table>", self.said):
            lines = [re.findall(r"<t[hd].*?</t[hd]>", line) for line in body.split("</tr>")[:-1]]
            texts = [[html.unescape(re.sub("<.*?>", "", cell)) for cell in line] for line in lines]
            found.append({title: [*column] for title, *column in zip(*texts, strict=True)})
        return found

    def table_with(self, column: str) -> dict[str, list[str]]:
        """The first table with a column whose title begins so."""
        return next(
            table for table in self.tables if any(title.startswith(column) for title in table)
        )

    @property
    def buttons(self) -> dict[str, Any]:
        """The buttons by label."""
        return {button.label: button for button in self.button}

    @property
    def read_as_markdown(self) -> str:
        """All words that Streamlit reads as markdown or LaTeX: texts, labels, hints."""
        words = []
        for item in (*self.main, *self.sidebar):
            words += [str(getattr(item, "label", "")), str(getattr(item, "help", ""))]
            if item.type in READ_AS_MARKDOWN:
                words.append(str(item.value))
        return "\n".join(words)

    @property
    def all_words(self) -> str:
        """All words on the page."""
        return "\n".join([self.read_as_markdown, html.unescape(self.said), *self.told])

    @property
    def view(self) -> View:
        """Everything that is set, as the page shows it."""
        visit: Visit = self.session_state["visit"]
        return view_of(page_named(visit.page), visit)

    # What is sent

    @property
    def sent(self) -> dict[str, Sent]:
        """Messages to every component of ours, by its key, as they stand on the page."""
        sent: dict[str, Sent] = {}
        for item in self.get("bidi_component"):
            one = sent_as(item.proto.bytes)
            is_scene = "rows" in one.header and "figures" in one.header
            sent |= figures_in(item.proto.bytes) if is_scene else {str(item.key): one}
        return sent

    @property
    def rows(self) -> list[Sent]:
        """All rows of matrices, as they stand on the page."""
        return [part for part in self.sent.values() if "joins" in part.header]

    @property
    def names_sent(self) -> Iterator[list[str]]:
        """Every list of words that a component is sent, however deep in its header."""
        todo: list[Any] = [part.header for part in self.sent.values()]
        while todo:
            match todo.pop():
                case Mapping() as header:
                    todo += header.values()
                case [str(), *_] as names:
                    yield list(names)
                case [*more]:
                    todo += more

    @property
    def selection(self) -> dict[str, Any]:
        """The query and the stage that all pictures of the page are told to show."""
        told = [part.header.get("selection", part.header) for part in self.sent.values()]
        first, *others = [one["values"] for one in told if "defaults" in one]
        assert all(other == first for other in others)
        return dict(first)

    # What can be done

    def unfold(self) -> App:
        """Open the settings that stand behind *More*."""
        self.session_state["settings_of_play"] = True
        self.run()
        return self

    def go(self, page: str) -> App:
        """Go to a page by the menu."""
        (path,) = (one.path for one in PAGES if one.name == page)
        self.switch_page(path).run()
        return self

    def until(self, holds: Callable[[], bool]) -> App:
        """Ask again, as a browser does, until that holds."""
        end = time.monotonic() + TIMEOUT
        while not holds():
            assert time.monotonic() < end, self.notes
            time.sleep(0.05)
            self.run()
        return self

    def finished(self) -> App:
        """Wait until all that was begun is worked out."""
        return self.until(lambda: "Stop" not in self.buttons)

    @property
    def controls(self) -> dict[str, Any]:
        """The widgets to be seen, by key: those that set something have the setting's name."""
        every = [item for item in (*self.main, *self.sidebar) if isinstance(item, Widget)]
        return {item.key.partition(":")[0]: item for item in every if item.key is not None}

    @property
    def values(self) -> dict[str, Any]:
        """Values that the widgets are set to, by key."""
        return {key: widget.value for key, widget in self.controls.items()}

    def choose(self, name: str, value: Any) -> App:
        """Set a setting by its widget."""
        self.controls[name].set_value(value).run()
        return self

    def press(self, label: str) -> App:
        """Click the button of that label or key."""
        next(button for button in self.button if label in (button.label, button.key)).click().run()
        return self

    def tell(self, key: str, event: str, value: Any) -> App:
        """Run as after something was done in the browser to the component of that key."""
        components = self.get("bidi_component")
        scenes = [item.proto for item in components if key in dict(figures_in(item.proto.bytes))]
        (proto,) = scenes or [item.proto for item in components if item.key == key]
        states = self._tree.get_widget_states()
        name = f"{key}.{event}" if scenes else event
        happened = json.dumps([{"event": name, "value": [self.sent[key].turn + 1, value]}])
        name = f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{proto.id}__events"
        states.widgets.append(WidgetState(id=name, json_trigger_value=happened))
        return self._run(states)

    def move(self, **values: Any) -> App:
        """Run as after another query or stage was chosen in the browser."""
        return self.tell("selection", "selection", self.selection | values)

    def resize(self, stack: str, change: str) -> App:
        """Press a button that resizes typed matrices."""
        return self.tell("sizes", "resized", {"stack": stack, "change": change})

    def step_to(self, page: str, link: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> App:
        """Run as after a step in the browser's history, to a link of any page."""
        address = urlencode(link, errors="replace")
        self.query_params = dict(parse_qsl(address, keep_blank_values=True))
        returned = functools.partial(RerunData, is_history_navigation=True)
        with monkeypatch.context() as patch:
            patch.setattr(local_script_runner, "RerunData", returned)
            self.switch_page(f"pages/{page}.py").run()
        return self

    def take(self, example: str) -> App:
        """Click one of the examples there are to take."""
        texts = self.sent["examples"].header["texts"]
        return self.tell("examples", "example", texts.index(example))


def as_html(header: Mapping[str, Any]) -> str:
    """Words or a table of a scene, as the page has them; "" for other figures."""
    if "look" in header:
        words = html.escape(" ".join(filter(None, ["".join(header["parts"]), header["hint"]])))
        return f"<p class='{header['look']}'>{words}</p>"
    if "tables" in header:
        words, tables = html.escape(header["text"]), "".join(map(as_html, header["tables"]))
        return f"<div class='working'><p>{words}</p>{tables}</div>"
    if "lines" in header and "columns" in header:
        lines = [["", *header["columns"]], *header["lines"], header["total"]]
        cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in line) for line in lines)
        return f"<table>{''.join(f'<tr>{line}</tr>' for line in cells if line)}</table>"
    return ""


def numbers_of(parts: Sequence[Matrix | str]) -> list[Tensor]:
    """Numbers that a row of these parts is sent: those of its matrices, nan where masked."""
    shown = [part for part in parts if isinstance(part, Matrix)]
    masked = [torch.zeros(1) > 0 if part.allowed is None else ~part.allowed for part in shown]
    numbers = [part.numbers.detach().float() for part in shown]
    return [each.masked_fill(mask, torch.nan) for each, mask in zip(numbers, masked, strict=True)]
