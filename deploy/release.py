"""A release, made and tried, and uploaded nowhere: `make release`.

The changelog gets its heading, `dist/` a wheel and a source distribution; both are checked, the
wheel is installed in fresh environments without and with the app, and its command is run. Beside
them come `sbom.json`, all that the app was tried with (CycloneDX), and `notes.md`.
"""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import attention
from tests.serving import running

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
UNRELEASED = "## [Unreleased]\n"


def with_heading(changelog: str, version: str, day: datetime.date) -> str:
    """A changelog in which what was not released is that of a version; as it is where it has it."""
    if f"## [{version}]" in changelog:
        return changelog
    return changelog.replace(UNRELEASED, f"{UNRELEASED}\n## [{version}] - {day.isoformat()}\n", 1)


def notes(changelog: str, version: str) -> str:
    """The part of a changelog on a version. Raises ValueError where there is none."""
    found = re.search(
        rf"^## \[{re.escape(version)}\].*?\n(.*?)(?=^## \[|\Z)", changelog, re.M | re.S
    )
    if found is None or not found[1].strip():
        raise ValueError(f"CHANGELOG.md must say what {version} has, found nothing")
    return found[1].strip() + "\n"


def run(*words: object) -> str:
    """Run a command to its end; what it prints. Raises CalledProcessError where it fails."""
    told = [str(word) for word in words]
    print("$", " ".join(told), flush=True)
    return subprocess.run(told, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def environment(folder: Path, *wanted: str) -> Path:
    """A fresh environment with a wheel, in releases that the app is served with; its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--constraint", ROOT / "requirements.txt", *wanted)
    return python


def try_library(wheel: Path, folder: Path) -> None:
    """Install the wheel alone, and use it without the app."""
    python = environment(folder, str(wheel))
    told = run(folder / "bin" / "attention-explorer", "--version").strip()
    if told != attention.__version__:
        raise ValueError(f"the command must say {attention.__version__}, got {told}")
    run(python, "-I", "-c", "from attention import masks, variants; assert variants.VARIANTS")


def try_app(wheel: Path, folder: Path) -> Path:
    """Install the wheel with the app, and have it answer; its Python."""
    python = environment(folder, f"{wheel}[app]")
    command = [str(folder / "bin" / "attention-explorer")]
    with running(command, subprocess.DEVNULL, folder):  # until it is healthy
        return python


def main() -> None:
    """Make the release of `attention.__version__`."""
    version, file = attention.__version__, ROOT / "CHANGELOG.md"
    changelog = with_heading(file.read_text("utf-8"), version, datetime.date.today())
    told = notes(changelog, version)
    file.write_text(changelog, "utf-8")
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "hatchling", "build", "-d", DIST)
    built = sorted(DIST.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *built)
    (wheel,) = DIST.glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        try_library(wheel, Path(folder) / "library")
        python = try_app(wheel, Path(folder) / "app")
        sbom = DIST / "sbom.json"
        run(Path(sys.executable).parent / "cyclonedx-py", "environment", python, "-o", sbom)
    (DIST / "notes.md").write_text(told, "utf-8")
    print("\n".join(f"{each.stat().st_size:>10,} {each.name}" for each in sorted(DIST.iterdir())))


if __name__ == "__main__":
    main()
