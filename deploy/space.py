"""The folder that a Space of Hugging Face takes, trained models included: `make space`.

It holds what `.dockerignore` lets into the image, the Dockerfile with its end for a Space, and the
README that says how it is shown. Nothing is uploaded.
"""

from __future__ import annotations

import fnmatch
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
SPACE = ROOT / "dist" / "space"
NEXT = """\
{folder}: {count} files. Signed in by `hf auth login`, these make a Space of it:
hf repos create <you>/attention-explorer --type space --sdk docker
hf upload <you>/attention-explorer {folder} . --type space"""


def files() -> list[str]:
    """Files of the repository that the image has, by their paths in it."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    kept = [line[1:] for line in lines if line.startswith("!")]
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True)
    return [
        file
        for file in listed.stdout.decode().splitlines()
        if any(fnmatch.fnmatch(file, each) or file.startswith(f"{each}/") for each in kept)
    ]


def write(folder: Path) -> None:
    """Write the folder anew."""
    shutil.rmtree(folder, ignore_errors=True)
    for file in files():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, folder / file)
    parts = [ROOT / "deploy" / "Dockerfile", ROOT / "deploy" / "huggingface" / "Dockerfile.end"]
    whole = "".join(part.read_text("utf-8") for part in parts)
    (folder / "Dockerfile").write_text(whole, "utf-8")
    shutil.copy2(ROOT / "deploy" / "huggingface" / "README.md", folder)


if __name__ == "__main__":
    write(SPACE)
    count = sum(file.is_file() for file in SPACE.rglob("*"))
    print(NEXT.format(folder=SPACE.relative_to(ROOT), count=count))
