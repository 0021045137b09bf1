"""Documentation: code that runs, links that lead somewhere, and an entry for all there is."""

from __future__ import annotations

import datetime
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import attention
from attention.app.state import pages
from tests.cases import over

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CODE = re.compile(r"^```(?:python|\{code-cell\})\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)]*)?\)")
# Where the code of a page is run, if not here.
RUN_BY = {
    "capture.md": "tests/capture/test_docs.py",
    "models.md": "tests/trained/test_forward.py",
    "names.md": "tests/capture/test_docs.py",
    "notebook.md": "tests/notebook/test_returned_weights.py",
    "training.md": "tests/test_tutorials.py",
    "upstream.md": "tests/upstream/test_upstream.py",
    "variants.md": "tests/core/variant_claims.py",
}
LONG = {"deciding_head.md", "gallery.md", "sets.md"}  # switch 270 heads off
PAGES = {page.name: page for page in sorted(DOCS.glob("*.md"))}
CODED = [name for name, page in PAGES.items() if CODE.search(page.read_text("utf-8"))]


def module(path: Path) -> ModuleType:
    """A module that is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.soak if name in LONG else ())
        for name in CODED
        if name not in RUN_BY
    ],
)
def test_the_code_of_a_page_runs_as_it_stands_there(name, tmp_path):
    codes = CODE.findall(PAGES[name].read_text("utf-8"))
    if name == "gallery.md":  # where the lines before all others stand last
        before, files = module(DOCS / "gallery.py").codes()
        codes = [*before, *files.values()]
    code = "\n".join(codes)
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import tests.capture.stand_ins\n" + code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert ran.returncode == 0, ran.stderr


def test_the_code_of_other_pages_is_run_where_it_is_said():
    assert RUN_BY.keys() <= {*CODED}
    for name, test in RUN_BY.items():
        assert f'"{name}"' in (ROOT / test).read_text("utf-8"), name


@over("page", [*PAGES.values(), *ROOT.glob("*.md")])
def test_a_page_leads_to_pages_and_headings_that_are_there(page):
    for path, heading in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        to = page.parent / path
        made = to.parent == DOCS / "made"  # by docs/looked_up.py, as the site is built
        assert to.exists() or (made and to.stem in looked_up().PAGES), path
        if heading:
            titles = re.findall(r"^#+ (.*)$", to.read_text("utf-8"), re.MULTILINE)
            assert heading[1:] in [
                re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in titles
            ]


def test_the_index_leads_to_every_page():
    index = PAGES["index.md"].read_text("utf-8")
    listed = [
        line
        for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", index, re.DOTALL | re.MULTILINE)
        for line in tree.splitlines()
        if line and not line.startswith(":")
    ]
    made = [f"made/{name}" for name in looked_up().PAGES]
    notebooks = [file.stem for file in DOCS.glob("*.ipynb")]
    assert sorted(listed) == sorted(
        [*(page[:-3] for page in PAGES if page != "index.md"), *notebooks, *made]
    )


def test_each_figure_of_the_gallery_has_the_lines_that_make_it_and_a_link_into_the_app():
    text = PAGES["gallery.md"].read_text("utf-8")
    _, files = module(DOCS / "gallery.py").codes()
    framed = re.findall(r'<iframe src="gallery/([^"]+)" loading="lazy" title="[^"]+"', text)
    assert [*files] == framed
    assert len(framed) == text.count("{app}`")
    assert max(code.count("\n") for code in files.values()) <= 6
    assert not re.search(r"attention\.(app|subjects)|from attention", "".join(CODE.findall(text)))
    names = {page.name for page in pages.PAGES}
    assert {*re.findall(r"\{app\}`[^`<]+<(\w+)[?>]", text)} <= names


def test_every_public_name_of_the_library_has_its_entry():
    listed = re.findall(r"automodule:: attention\.(\S+)", PAGES["api.md"].read_text("utf-8"))
    public = {f"{room}.{name}" for name, room in attention.ROOMS.items()} | {
        *attention.FUNCTIONS.values(),
        "capture",
        "pipeline",
        "training",
        "figures",
    }
    assert public <= {*listed}


def looked_up() -> ModuleType:
    return module(DOCS / "looked_up.py")


def test_rooms_stand_above_all_that_they_import():
    made = looked_up()
    leans = made.rooms()
    rows = made.floors(leans)
    floor = {name: at for at, row in enumerate(rows) for name in row}
    assert floor.keys() == leans.keys() >= {"core", "subjects", "app"}
    assert "core" in rows[-1]
    arrows = [(name, other) for name, others in leans.items() for other in others]
    upward = [(name, other) for name, other in arrows if floor[name] >= floor[other]]
    assert all(name in leans[other] for name, other in upward), "but where two import each other"
    drawn = made.picture(leans)
    assert drawn.count("<path") == sum(map(len, leans.values()))


README = "![a](docs/a.png)\n\n[Host it](docs/hosting.md), [torch](https://pytorch.org)"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("", "Host it, [torch](https://pytorch.org)"),
        (
            "https://a.example/b",
            "![a](https://a.example/b/raw/main/docs/a.png)\n\n"
            "[Host it](https://a.example/b/blob/main/docs/hosting.md), "
            "[torch](https://pytorch.org)",
        ),
    ],
)
def test_an_index_shows_no_link_that_leads_nowhere(address, shown):
    pytest.importorskip("hatchling", reason="needs hatchling (requirements-dev.txt)")
    assert module(ROOT / "hatch_build.py").absolute(README, address) == shown


CHANGES = "# Changelog\n\n## [Unreleased]\n\n- new\n\n## [0.9.0] - 2026-01-02\n\n- old\n"


def test_a_release_gives_the_changelog_its_heading_once_and_tells_of_nothing_older():
    release = module(ROOT / "deploy" / "release.py")
    day = datetime.date(2027, 3, 5)
    once = release.with_heading(CHANGES, "1.2.0", day)
    assert "## [Unreleased]\n\n## [1.2.0] - 2027-03-05\n\n- new\n" in once
    assert release.with_heading(once, "1.2.0", day) == once
    assert release.notes(once, "1.2.0") == "- new\n"
    with pytest.raises(ValueError, match=r"must say what 7\.0\.0 has"):
        release.notes(once, "7.0.0")


def test_the_citation_has_this_version():
    cited: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == attention.__version__


def test_workflows_run_what_make_has():
    made = {*re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)}
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        steps = yaml.safe_load(file.read_text("utf-8"))["jobs"].values()
        asked = re.findall(r"make (\S+)", " ".join(map(str, steps)))
        assert {each.strip("'\"},") for each in asked} <= made, file.name
