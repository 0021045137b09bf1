"""Boundaries: who may import what, and what nobody may do; they follow from the folders."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIBRARY = ROOT / "attention"
PAGES = (
    "core, inputs, trained, training, analysis, pipeline, display, lessons, claims, components, "
    "app; "
    "streamlit"
)
PATHS = sorted([*LIBRARY.rglob("*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "streamlit_app.py"])
SOURCES = [str(path.relative_to(ROOT)) for path in PATHS]
FOLDERS = ("attention", "pages", "tests", "benchmarks")
CLAUSES = re.compile(r"(What|Whether|How|Who|Which|Those|That|The same|So that)\b")


def room_of(source: str) -> str:
    """The folder that a file stands in, or its own name where it stands alone."""
    parts = Path(source).with_suffix("").parts
    return parts[1] if parts[0] == "attention" else parts[0]


def may_import(room: str) -> tuple[set[str], set[str]]:
    """The rooms and the packages that a room may lean on, as its docstring says."""
    if room == "__init__":
        return set(), set()
    if room in ("pages", "streamlit_app"):
        rooms, packages = PAGES.split(";")
    else:
        folder = LIBRARY / room
        file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
        words = " ".join((ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").split())
        rooms, packages = words.split("May import: ")[1].rstrip(".").split(";")
    return set(rooms.replace(",", " ").split()), set(packages.replace(",", " ").split())


@functools.cache
def parsed(source: str) -> ast.Module:
    return ast.parse((ROOT / source).read_text("utf-8"))


def imports(tree: ast.Module) -> Iterator[str]:
    """The full names of all that a file imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def loaded_by(statement: str) -> set[str]:
    """The packages that a statement brings in, in a fresh Python."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return {name.split(".")[0] for name in ran.stdout.split()}


def circles(below: dict[str, set[str]]) -> dict[str, set[str]]:
    """Names of those that lean on each other in a circle. below: by name, what each leans on."""
    while ground := [name for name, leaned_on in below.items() if not leaned_on]:
        below = {name: on - {*ground} for name, on in below.items() if name not in ground}
    return below


def test_a_room_leans_on_what_its_docstring_says_alone() -> None:
    for source in SOURCES:
        room = room_of(source)
        rooms, packages = may_import(room)
        for name in imports(parsed(source)):
            package, _, rest = name.partition(".")
            if package == "attention":
                assert rest.split(".")[0] in rooms | {room, "__version__"}, (source, name)
            else:
                assert package in packages | sys.stdlib_module_names, (source, name)


def test_rooms_lean_on_each_other_one_way() -> None:
    rooms = {*map(room_of, SOURCES)} - {"__init__"}
    assert circles({room: may_import(room)[0] & rooms for room in rooms}) == {}


def test_parts_of_the_app_and_the_modules_in_them_lean_on_each_other_one_way() -> None:
    paths = [source for source in SOURCES if Path(source).match("attention/app/*/[!_]*.py")]
    modules = {source.removesuffix(".py").replace("/", "."): source for source in paths}
    below = {
        module: {
            on
            for on in modules
            for name in imports(parsed(source))
            if f"{name}.".startswith(f"{on}.")
        }
        for module, source in modules.items()
    }
    parts: dict[str, set[str]] = {}
    for module, leaned_on in below.items():
        _, _, part, _ = module.split(".")
        parts.setdefault(part, set()).update({on.split(".")[2] for on in leaned_on} - {part})
    assert len(parts) == 5
    assert circles(below) == {}
    assert circles(parts) == {}


def test_lessons_compute_nothing_but_steps_and_operations() -> None:
    for source in SOURCES:
        if Path(source).match("attention/lessons/*.py"):
            assert "torch" not in {name.split(".")[0] for name in imports(parsed(source))}, source


def test_each_fix_for_streamlit_is_short_and_listed() -> None:
    listed = (ROOT / "docs" / "upstream.md").read_text("utf-8")
    for source in SOURCES:
        if Path(source).match("streamlit_fixes/[!_]*.py"):
            assert len((ROOT / source).read_text("utf-8").splitlines()) <= 60, source
            assert f"`{source}`" in listed, source


def test_settings_need_the_standard_library_alone() -> None:
    loaded = loaded_by("import attention.core.settings")
    assert loaded - {"attention"} <= sys.stdlib_module_names


def test_the_core_needs_torch_alone() -> None:
    loaded = loaded_by("import attention.core.variants, attention.core.analysis")
    assert "torch" in loaded
    assert not loaded & {"plotly", "torchtext", "streamlit", "pandas", "pyarrow"}


def test_a_notebook_imports_modules_by_their_own_names_and_no_streamlit() -> None:
    loaded = loaded_by("from attention import figures, masks, text, variants, vectors")
    assert {"attention", "plotly", "torchtext"} <= loaded
    assert "streamlit" not in loaded


def test_pages_do_no_arithmetic_on_tensors() -> None:
    for source in SOURCES:
        if source.startswith("pages/"):
            packages = {name.split(".")[0] for name in imports(parsed(source))}
            assert not packages & {"torch", "numpy"}, source
            assert ".softmax(" not in (ROOT / source).read_text("utf-8"), source


def test_nothing_is_run_that_was_not_written_here() -> None:
    for source in SOURCES:
        tree = parsed(source)
        packages = {name.split(".")[0] for name in imports(tree)}
        assert not packages & {"pickle", "marshal", "shelve", "joblib", "dill"}, source
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert not names & {"exec", "eval", "compile", "__import__"}, source


def test_no_html_is_let_through_unsafely() -> None:
    unsafe = {"unsafe_allow_html", "unsafe_allow_javascript"}
    for source in SOURCES:
        given = {node.arg for node in ast.walk(parsed(source)) if isinstance(node, ast.keyword)}
        assert not given & unsafe, source


def test_what_the_readme_shows_for_a_notebook_runs() -> None:
    readme = (ROOT / "README.md").read_text("utf-8").split("## From a notebook")[1]
    shown = readme.split("```python\n")[1].split("```")[0]
    ran = subprocess.run([sys.executable, "-c", shown], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_docstrings_open_with_a_verb_or_a_noun_and_no_clause() -> None:
    opened = [
        f"{path.relative_to(ROOT)}: {words.splitlines()[0]}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if CLAUSES.match(words := ast.get_docstring(node) or "")
    ]
    assert opened == []
