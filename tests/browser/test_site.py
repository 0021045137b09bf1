"""The documentation as `make docs` builds it: no warning, no link that leads nowhere, no other
host, and nothing serious by the rules of axe-core on each kind of its pages."""

from __future__ import annotations

import functools
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser.test_every_view import check_with_axe

ROOT = Path(__file__).parents[2]
BUILD = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet"]
# A page of words, a tutorial that ran, tables, a picture, formulas, the library, and figures.
KINDS = (
    "index",
    "first_sentence",
    "made/measures",
    "made/rooms",
    "study",
    "api",
    "gallery",
    "atlas",
)


class Read(HTMLParser):
    """The names of a page's places, its links, and addresses that it loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            if name in ("href", "src") and value:
                (self.links if tag == "a" else self.loaded).append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built anew, but for figures of the gallery that are there."""
    folder = tmp_path_factory.mktemp("site")
    command = [*BUILD, str(ROOT / "docs"), str(folder)]
    built = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.mark.soak
def test_links_of_the_site_lead_somewhere_and_nothing_is_loaded_from_another_host(site):
    pages = {page.resolve(): Read(page) for page in site.rglob("*.html")}
    assert len(pages) > 30
    for path, page in pages.items():
        assert not [each for each in page.loaded if urlsplit(each).scheme in ("http", "https")]
        for link in {*page.links, *page.loaded}:
            parts = urlsplit(link)
            if parts.scheme or parts.path.startswith("/"):  # elsewhere, or in the app
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert to.exists(), (path.name, link)
            if parts.fragment and to in pages and link in page.links:
                assert unquote(parts.fragment) in pages[to].places, (path.name, link)


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, of which nothing is said."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """The address that the site is served at."""
    handler = functools.partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        serving.join()


@pytest.mark.soak
def test_each_kind_of_page_is_accessible_and_asks_no_other_host(site, address, browser):
    files = [*(site / "gallery").glob("*.html"), *(site / "atlas").glob("*.html")]
    figures = sorted(f"{file.parent.name}/{file.stem}" for file in files)
    assert len({file.parent for file in files}) == 2
    faults: list[str] = []
    context = browser.new_context(color_scheme="dark")
    context.on("weberror", lambda error: faults.append(str(error.error)))
    known = (address, "blob:", "data:")
    context.on("request", lambda one: one.url.startswith(known) or faults.append(one.url))
    for name in (*KINDS, *figures):
        page = context.new_page()
        page.goto(f"{address}{name}.html")
        check_with_axe(page)
        assert faults == [], name
        page.close()
    context.close()
