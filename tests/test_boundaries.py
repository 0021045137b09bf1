"""Boundaries: who may import what, and what nobody may do; they follow from the folders."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import attention

ROOT = Path(__file__).parent.parent
LIBRARY = ROOT / "attention"
PAGES = "subjects, app; streamlit"
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
        file = f"{room}/__init__.py" if (LIBRARY / room).is_dir() else f"{room}.py"
        words = words_of(f"attention/{file}")
        rooms, packages = words.split("May import: ")[1].rstrip(".").split(";")
    return set(rooms.replace(",", " ").split()), set(packages.replace(",", " ").split())


@functools.cache
def nodes(source: str) -> list[ast.AST]:
    """All that a file is parsed to, the module first."""
    return [*ast.walk(ast.parse((ROOT / source).read_text("utf-8")))]


def words_of(source: str) -> str:
    """The docstring of a module on one line."""
    module = nodes(source)[0]
    assert isinstance(module, ast.Module)
    return " ".join((ast.get_docstring(module) or "").split())


@functools.cache
def imports(source: str) -> list[str]:
    """The full names of all that a file imports, wherever in it."""
    found = []
    for node in nodes(source):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def loaded_by(*codes: str) -> list[set[str]]:
    """The packages that a fresh Python has after each of these was run, beside its own."""
    code = "import sys; before = {*sys.modules}\n" + "\n".join(
        f"{code}\nprint(*{{*sys.modules}} - before, file=sys.stderr)" for code in codes
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return [{name.split(".")[0] for name in line.split()} for line in ran.stderr.splitlines()]


def circles(below: dict[str, set[str]]) -> dict[str, set[str]]:
    """Names of those that lean on each other in a circle. below: by name, what each leans on."""
    while ground := [name for name, leaned_on in below.items() if not leaned_on]:
        below = {name: on - {*ground} for name, on in below.items() if name not in ground}
    return below


def test_a_room_leans_on_what_its_docstring_says_alone():
    allowed = {room: may_import(room) for room in {*map(room_of, SOURCES)}}
    for source in SOURCES:
        room = room_of(source)
        rooms, packages = allowed[room]
        for name in {*imports(source)}:
            package, _, rest = name.partition(".")
            if package == "attention":
                assert rest.split(".")[0] in rooms | {room, "__version__"}, (source, name)
            else:
                assert package in packages | sys.stdlib_module_names, (source, name)


def test_rooms_lean_on_each_other_one_way():
    rooms = {*map(room_of, SOURCES)} - {"__init__"}
    assert circles({room: may_import(room)[0] & rooms for room in rooms}) == {}


def test_modules_of_all_rooms_and_parts_of_the_app_lean_on_each_other_one_way():
    names = [one.removesuffix(".py").removesuffix("/__init__") for one in SOURCES]
    modules = {name.replace("/", "."): one for name, one in zip(names, SOURCES, strict=True)}
    below: dict[str, set[str]] = {}
    for module, source in modules.items():
        names = [name.split(".") for name in imports(source)]
        ends = [[".".join(name[:end]) for end in range(len(name), 0, -1)] for name in names]
        leaned_on = (next((on for on in tried if on in modules), module) for tried in ends)
        below[module] = {*leaned_on} - {module}
    assert circles(below) == {}
    parts: dict[str, set[str]] = {}
    for module, on in below.items():
        if module.startswith("attention.app.") and module.count(".") > 2:
            part, others = module.split(".")[2], {one.split(".")[2] for one in on if ".app." in one}
            parts.setdefault(part, set()).update(others - {part})
    assert len(parts) == 6
    assert circles(parts) == {}


def test_a_page_leans_on_others_through_the_doors_it_declares_and_in_no_circle():
    folders = sorted(path.parent.name for path in LIBRARY.glob("subjects/*/__init__.py"))
    doors = {}
    for folder in folders:
        words = words_of(f"attention/subjects/{folder}/__init__.py")
        told = words.partition("Doors to other pages: ")[2].rstrip(".")
        doors[folder] = {*told.split(", ")} - {"none", ""}
    for source in SOURCES:
        if Path(source).match("attention/subjects/*/*.py"):
            here = Path(source).parent.name
            used = {name.split(".")[2] for name in imports(source) if ".subjects." in name}
            assert used <= doors[here] | {here}, source
    assert circles(doors) == {}


def test_words_and_scenes_of_a_page_know_no_streamlit():
    for source in SOURCES:
        if Path(source).match("subjects/*/*words.py") or Path(source).match("subjects/*/scene.py"):
            assert "streamlit" not in {name.split(".")[0] for name in imports(source)}, source


def test_each_fix_for_streamlit_is_short_and_listed():
    listed = (ROOT / "docs" / "upstream.md").read_text("utf-8")
    for source in SOURCES:
        if Path(source).match("streamlit_fixes/[!_]*.py"):
            assert len((ROOT / source).read_text("utf-8").splitlines()) <= 60, source
            assert f"`{source}`" in listed, source


def test_settings_need_the_standard_library_the_core_torch_and_a_notebook_no_streamlit():
    readme = (ROOT / "README.md").read_text("utf-8").split("## In a notebook")[1]
    settings, core, notebook = loaded_by(
        "import attention.core.settings",
        "import attention.core.variants, attention.core.analysis",
        readme.split("```python\n")[1].split("```")[0],
    )
    assert settings - {"attention"} <= sys.stdlib_module_names
    assert "torch" in core
    assert not core & {"plotly", "torchtext", "streamlit", "pandas", "pyarrow"}
    assert {"attention", "plotly", "torchtext"} <= notebook
    assert "streamlit" not in notebook


def test_pages_do_no_arithmetic_on_tensors():
    for source in SOURCES:
        if source.startswith("pages/"):
            packages = {name.split(".")[0] for name in imports(source)}
            assert not packages & {"torch", "numpy"}, source
            assert ".softmax(" not in (ROOT / source).read_text("utf-8"), source


def test_nothing_is_run_that_was_not_written_here_and_no_html_let_through_unsafely():
    for source in SOURCES:
        packages = {name.split(".")[0] for name in imports(source)}
        assert not packages & {"pickle", "marshal", "shelve", "joblib", "dill"}, source
        names = {node.id for node in nodes(source) if isinstance(node, ast.Name)}
        assert not names & {"exec", "eval", "compile", "__import__"}, source
        given = {node.arg for node in nodes(source) if isinstance(node, ast.keyword)}
        assert not given & {"unsafe_allow_html", "unsafe_allow_javascript"}, source


def test_docstrings_open_with_a_verb_or_a_noun_and_no_clause():
    opened = [
        f"{path.relative_to(ROOT)}: {words.splitlines()[0]}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in nodes(str(path.relative_to(ROOT)))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if CLAUSES.match(words := ast.get_docstring(node) or "")
    ]
    assert opened == []


def test_the_library_names_what_is_there_and_nothing_else():
    names = dir(attention)
    assert {"capture", "compare", "effects", "show", "masks"} <= {*names}
    assert all(getattr(attention, name) is not None for name in names)
    assert not {"Callable", "ModuleType", "import_module", "ROOMS"} & {*names}
