"""Who may import what, and what nobody may do."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("attention/**/*.py"), *ROOT.glob("pages/**/*.py"), *ROOT.glob("*.py")])
LIBRARY = (
    *("functional", "masks", "positions", "params", "text", "vectors"),
    *("variants", "analysis", "figures", "snippet", "view"),
    *("matrix", "tables", "hand", "steps", "heads", "cross", "compare"),
    *("findings", "identities", "influence", "mistakes"),
)
each_source = pytest.mark.parametrize("source", [str(path.relative_to(ROOT)) for path in SOURCES])


def parsed(source: str) -> ast.Module:
    return ast.parse((ROOT / source).read_text("utf-8"))


def imports(tree: ast.Module) -> Iterator[str]:
    """The full names of all modules that a file imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def packages(source: str) -> set[str]:
    return {name.split(".")[0] for name in imports(parsed(source))}


def loaded_by(*modules: str) -> set[str]:
    """The packages that importing these modules of the library brings in, in a fresh Python."""
    names = ", ".join(f"attention.{module}" for module in modules)
    code = (
        f"import sys; before = set(sys.modules); import {names}; print(*set(sys.modules) - before)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return {name.split(".")[0] for name in ran.stdout.split()}


def test_the_library_is_usable_without_streamlit() -> None:
    loaded = loaded_by(*LIBRARY)
    assert "attention" in loaded
    assert "torch" in loaded
    assert "streamlit" not in loaded


def test_settings_need_the_standard_library_alone() -> None:
    assert loaded_by("params") - {"attention"} <= sys.stdlib_module_names


def test_the_mathematics_needs_torch_alone() -> None:
    loaded = loaded_by("functional", "masks", "positions")
    assert "torch" in loaded
    assert not loaded & {"plotly", "torchtext", "streamlit", "pandas", "pyarrow"}


@each_source
def test_only_pages_state_and_components_know_streamlit(source: str) -> None:
    may = ("streamlit_app.py", "pages/", "attention/state/", "attention/components/")
    assert source.startswith(may) or "streamlit" not in packages(source)


@pytest.mark.parametrize("module", LIBRARY)
def test_no_module_of_the_library_leans_on_state_or_components(module: str) -> None:
    names = set(imports(parsed(f"attention/{module}.py")))
    assert not {n for n in names if n.startswith(("attention.app", "attention.components"))}


def test_each_part_of_state_leans_on_those_before_it_alone() -> None:
    parts = ("settings", "views", "words", "widgets", "frame")
    for position, part in enumerate(parts):
        names = imports(parsed(f"attention/state/{part}.py"))
        leaned_on = {name.split(".")[2] for name in names if name.startswith("attention.app.")}
        assert leaned_on <= set(parts[:position]), part


def test_arrows_point_one_way() -> None:
    for module in ("functional", "masks", "positions", "params", "text", "vectors"):
        assert "attention" not in packages(f"attention/{module}.py"), module


@pytest.mark.parametrize("page", [str(p.relative_to(ROOT)) for p in ROOT.glob("pages/**/*.py")])
def test_pages_do_no_arithmetic_on_tensors(page: str) -> None:
    assert not packages(page) & {"torch", "numpy", "torchtext"}


@each_source
def test_nothing_is_run_that_was_not_written_here(source: str) -> None:
    tree = parsed(source)
    assert not packages(source) & {"pickle", "marshal", "shelve", "joblib", "dill"}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"exec", "eval", "compile", "__import__"}


@each_source
def test_no_html_is_let_through_unsafely(source: str) -> None:
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.keyword):
            assert node.arg not in ("unsafe_allow_html", "unsafe_allow_javascript")


def test_there_are_sources_to_look_at() -> None:
    found = {str(path.relative_to(ROOT)) for path in SOURCES}
    assert {
        "streamlit_app.py",
        "attention/state/frame.py",
        "attention/components/__init__.py",
    } <= found
    assert {f"attention/{module}.py" for module in LIBRARY} <= found
    assert any(name.startswith("pages/") for name in found)
