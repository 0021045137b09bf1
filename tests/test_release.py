"""The wheel: what it carries, what it asks for, and that it serves the app by its command."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from streamlit.web import cli

import attention
from attention.app.shell import command
from attention.core.limits import Limits
from attention.core.settings import settings_of
from tests.serving import ROOT, read, running
from tests.test_boundaries import may_import

pytestmark = pytest.mark.soak

DOCKERFILE = ROOT / "deploy" / "Dockerfile"
LIBRARY = Path(attention.__file__).parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built as `pip install .` does, without a network."""
    pytest.importorskip("hatchling", reason="needs hatchling (requirements-dev.txt)")
    folder = tmp_path_factory.mktemp("wheel")
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", *offline, "-w", str(folder), "."]
    subprocess.run(pip, cwd=ROOT, check=True, timeout=120)
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def files_in(*folders: Path) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith((".pyc", ".d.ts"))  # made by checks
    }


def test_the_wheel_carries_the_library_and_within_it_what_is_served_and_nothing_else(wheel):
    carried = {name for name in wheel.namelist() if ".dist-info/" not in name}
    served = {*files_in(ROOT / "pages"), "streamlit_app.py", ".streamlit/config.toml"}
    assert carried == files_in(LIBRARY) | {f"attention/served/{name}" for name in served}
    assert {Path(name).suffix for name in carried} >= {".py", ".js", ".css", ".md", ".toml"}


def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
    return message_from_bytes(wheel.read(name))


def test_the_wheel_and_the_changelog_have_this_version(wheel):
    released = re.findall(r"^## \[(\d.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert metadata(wheel)["Version"] == released[0] == attention.__version__
    assert "attention/py.typed" in wheel.namelist()


def requirements_of(wheel: zipfile.ZipFile, extra: str) -> dict[str, SpecifierSet]:
    """Requirements of the wheel, with an extra of it or without ("")."""
    needed = [Requirement(line) for line in metadata(wheel).get_all("Requires-Dist", [])]
    return {
        canonicalize_name(each.name): each.specifier
        for each in needed
        if each.marker is None or each.marker.evaluate({"extra": extra})
    }


# The system and the Python of the image.
IMAGE = {"extra": "", "sys_platform": "linux", "platform_system": "Linux", "python_version": "3.11"}


def served_with(file: str = "requirements.txt") -> dict[str, SpecifierSet]:
    """Requirements that a file lists itself, by name."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / file).read_text().splitlines()]
    listed = [Requirement(line) for line in lines if line and not line.startswith("-r")]
    return {canonicalize_name(each.name): each.specifier for each in listed}


def test_what_the_app_is_served_with_is_what_the_wheel_needs_with_the_app_and_within_its_bounds(
    wheel,
):
    needed, served = requirements_of(wheel, "app"), served_with()
    assert needed.keys() == served.keys() - {"pytest"}
    for name, bounds in needed.items():
        for each in served[name]:
            if each.operator in ("==", ">="):
                assert each.version in bounds, name
        assert importlib.metadata.version(name) in bounds, name


def test_the_library_alone_brings_no_streamlit_and_bounds_torch_and_pandas_from_below_alone(wheel):
    alone, needed = requirements_of(wheel, ""), requirements_of(wheel, "app")
    assert needed.keys() - alone.keys() >= {"streamlit", "cachetools"}
    for name in ("torch", "pandas", "numpy", "pyarrow"):
        assert {each.operator for each in needed[name]} == {">="}


def test_each_room_of_the_library_leans_on_what_is_installed_without_the_app(wheel):
    installed_as = importlib.metadata.packages_distributions()
    alone, needed = requirements_of(wheel, ""), requirements_of(wheel, "app")
    extras = {"notebook": "notebook", "trained": "transformers", "capture": "transformers"}
    extras |= {"analysis": "cluster", "atlas": "cluster"}
    streamlits = {
        canonicalize_name(Requirement(line).name)
        for line in importlib.metadata.requires("streamlit") or ()
    }
    for room in (folder.name for folder in LIBRARY.iterdir() if (folder / "__init__.py").exists()):
        _, packages = may_import(room)
        leaned_on = {canonicalize_name(installed_as[package][0]) for package in packages}
        of_app = room in ("app", "hosting", "subjects")
        installed = alone.keys() | requirements_of(wheel, extras.get(room, "")).keys()
        assert leaned_on <= (needed.keys() | streamlits if of_app else installed), room


ALONE = """
import importlib, pathlib, sys
for name in {missing!r}:
    sys.modules[name] = None
for path in sorted(pathlib.Path("attention").rglob("*.py")):
    room, *rest = path.relative_to("attention").with_suffix("").parts
    if rest and room not in ("app", "hosting", "subjects"):
        importlib.import_module(".".join(["attention", room, *rest]).removesuffix(".__init__"))
from attention.app.shell import command
try:
    command.main(["--version"])
except SystemExit as end:
    assert not end.code, end.code
command.main([])
"""


def test_without_the_app_the_library_is_whole_and_its_command_says_how_to_add_the_app(wheel):
    of_app = requirements_of(wheel, "app").keys() - requirements_of(wheel, "").keys()
    code = ALONE.format(missing=[name.replace("-", "_") for name in [*of_app, "starlette"]])
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (1, f"{attention.__version__}\n")
    assert ran.stderr.startswith("No module named 'streamlit")
    assert ran.stderr.endswith('This adds it:\npip install "attention-explorer[app]"\n')


COLLECT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
import pytest
sys.exit(pytest.main(["--collect-only", "--quiet", "-p", "no:cacheprovider"]))
"""


def test_a_bare_pytest_finds_all_tests_where_requirements_txt_alone_is_installed():
    listed = [*served_with("requirements-dev.txt"), *served_with("requirements-models.txt")]
    installed_as = importlib.metadata.packages_distributions()
    missing = [
        package
        for package, names in installed_as.items()
        if canonicalize_name(names[0]) in set(listed)
    ]
    assert {"playwright", "hypothesis", "transformers"} <= {*missing}
    code = COLLECT.format(missing=missing)
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert "tests/core/test_functional.py" in ran.stdout


def test_the_lock_of_the_image_has_all_that_the_app_needs_pinned_and_nothing_else():
    locked = served_with("deploy/requirements.lock")
    assert all(str(bounds).startswith("==") for bounds in locked.values())
    versions = {name: str(bounds).removeprefix("==") for name, bounds in locked.items()}
    served = served_with()
    assert "pytest" in served.keys() - locked.keys()
    reached, ahead = set(), [*(served.keys() - {"pytest"})]
    while ahead:  # what is installed here says what it asks for
        name = ahead.pop()
        reached.add(name)
        assert versions[name] in served.get(name, SpecifierSet()), name
        for text in importlib.metadata.requires(name) or []:
            asked = Requirement(text)
            if asked.marker is None or asked.marker.evaluate(IMAGE):
                found = canonicalize_name(asked.name)
                assert SpecifierSet(f"{asked.specifier}").contains(versions[found]), (name, text)
                ahead += [found] if found not in reached else []
    assert reached == versions.keys()


def test_the_lock_names_no_host_and_no_place_and_the_image_installs_from_it_alone():
    lines = (ROOT / "deploy" / "requirements.lock").read_text("utf-8").splitlines()
    assert "make lock" in lines[0]
    assert all(re.fullmatch(r"[a-z0-9._-]+==[a-z0-9.+]+", line) for line in lines[1:])
    assert "torch==2.13.0+cpu" in lines, "without CUDA, which the image never uses"
    assert "--no-deps" in DOCKERFILE.read_text("utf-8")
    assert "requirements.txt" not in DOCKERFILE.read_text("utf-8")


def test_the_command_of_the_wheel_serves_the_app_as_it_is_set_up_from_any_folder(wheel, tmp_path):
    installed, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    wheel.extractall(installed)
    elsewhere.mkdir()
    (points,) = (name for name in wheel.namelist() if name.endswith("/entry_points.txt"))
    assert b"attention-explorer = attention.subjects.command:main" in wheel.read(points)
    run = "import attention.subjects.command as command; command.main()"
    environment = os.environ | {"PYTHONPATH": str(installed)}
    with running([sys.executable, "-c", run], subprocess.DEVNULL, elsewhere, environment) as served:
        address = f"http://127.0.0.1:{served[0]}"
        assert "https://*.streamlit.app" in read(f"{address}/_stcore/host-config")[1]
        name = "component/attention.app.components.base.plotly_js/plotly.min.js"
        assert len(read(f"{address}/{name}")[1]) > 1_000_000


def test_the_command_hands_its_options_on_to_streamlit_and_names_all_that_an_owner_can_set(
    monkeypatch, capsys
):
    ran: list[list[str]] = []
    monkeypatch.setattr(cli, "main", lambda words, prog_name: ran.append(words))
    command.main(["--server.port", "8600"])
    assert ran == [["run", str(ROOT / "streamlit_app.py"), "--server.port", "8600"]]
    code = "".join(path.read_text("utf-8") for path in LIBRARY.rglob("*.py"))
    named = set(re.findall(r'"(ATTENTION_[A-Z_]+)"', code))
    assert "ATTENTION_VECTORS" in named
    with pytest.raises(SystemExit, match="0"):
        command.main(["--help"])
    helped = capsys.readouterr().out
    assert set(re.findall("ATTENTION_[A-Z_]+", helped)) == named
    assert all(f"{name}=" in helped for name in settings_of(Limits))
