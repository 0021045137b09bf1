"""The wheel: what it carries, what it asks for, and that it serves the app by its command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import attention
from attention.app import command
from tests.serving import ROOT, running

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
        if path.is_file() and path.suffix != ".pyc"
    }


def test_the_wheel_carries_the_library_and_within_it_what_is_served_and_nothing_else(
    wheel: zipfile.ZipFile,
) -> None:
    carried = {name for name in wheel.namelist() if ".dist-info/" not in name}
    served = {*files_in(ROOT / "pages"), "streamlit_app.py", ".streamlit/config.toml"}
    assert carried == files_in(LIBRARY) | {f"attention/served/{name}" for name in served}
    assert {Path(name).suffix for name in carried} >= {".py", ".js", ".css", ".md", ".toml"}


def test_the_wheel_has_the_librarys_version_and_needs_all_that_the_app_does_but_no_pytest(
    wheel: zipfile.ZipFile,
) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
    metadata = message_from_bytes(wheel.read(name))
    assert metadata["Version"] == attention.__version__
    needed = {re.split("[<>=]", line)[0] for line in metadata.get_all("Requires-Dist", [])}
    listed = re.findall(r"^([\w-]+)[<>=]", (ROOT / "requirements.txt").read_text("utf-8"), re.M)
    assert {name.replace("-", "_") for name in needed} == {
        name.replace("-", "_") for name in listed
    } - {"pytest"}


def test_the_changelog_begins_with_this_version() -> None:
    released = re.findall(r"^## \[(\d.+?)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert released[0] == attention.__version__


def test_the_command_of_the_wheel_serves_the_app_as_it_is_set_up_from_any_folder(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    installed, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    wheel.extractall(installed)
    elsewhere.mkdir()
    (points,) = (name for name in wheel.namelist() if name.endswith("/entry_points.txt"))
    assert b"attention-explorer = attention.app.command:main" in wheel.read(points)
    run = "import attention.app.command as command; command.main()"
    environment = os.environ | {"PYTHONPATH": str(installed)}
    with running([sys.executable, "-c", run], subprocess.DEVNULL, elsewhere, environment) as served:
        address = f"http://127.0.0.1:{served[0]}"
        with urllib.request.urlopen(f"{address}/_stcore/host-config") as answer:
            assert "https://*.streamlit.app" in json.load(answer)["allowedOrigins"]
        name = "component/attention.components.base.plotly_js/plotly.min.js"
        with urllib.request.urlopen(f"{address}/{name}") as answer:
            assert len(answer.read()) > 1_000_000


def test_the_command_hands_its_options_on_to_streamlit(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(command.cli, "main", lambda words, prog_name: ran.append(words))
    command.main(["--server.port", "8600"])
    assert ran == [["run", str(ROOT / "streamlit_app.py"), "--server.port", "8600"]]


def test_the_command_says_its_version_and_names_all_that_an_owner_can_set(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def said(option: str) -> str:
        with pytest.raises(SystemExit, match="0"):
            command.main([option])
        return capsys.readouterr().out

    assert said("--version") == f"{attention.__version__}\n"
    code = "".join(path.read_text("utf-8") for path in LIBRARY.rglob("*.py"))
    named = set(re.findall(r'"(ATTENTION_[A-Z_]+)"', code))
    assert "ATTENTION_VECTORS" in named
    assert set(re.findall("ATTENTION_[A-Z_]+", said("--help"))) == named
