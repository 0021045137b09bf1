"""Files of the gallery, made by the code of its page; `python docs/gallery.py` makes all anew."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE / "made" / "live" / "gallery"
CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
FILE = re.compile(r'"(\w+\.html)"')


def codes() -> tuple[list[str], dict[str, str]]:
    """The code that all need, and by the name of each file the lines that make it."""
    blocks = CODE.findall((HERE / "gallery.md").read_text("utf-8"))
    files = {found[1]: block for block in blocks if (found := FILE.search(block))}
    return [block for block in blocks if block not in files.values()], files


def make(folder: Path = FOLDER, anew: bool = False) -> None:
    """Make the files that are not there yet, or all anew."""
    folder.mkdir(parents=True, exist_ok=True)
    before, files = codes()
    missing = [code for name, code in files.items() if anew or not (folder / name).exists()]
    if missing:
        path = os.pathsep.join(filter(None, (str(HERE.parent), os.environ.get("PYTHONPATH"))))
        run = [sys.executable, "-W", "ignore", "-c", "\n".join(before + missing)]
        subprocess.run(run, cwd=folder, env={**os.environ, "PYTHONPATH": path}, check=True)


if __name__ == "__main__":
    make(anew=True)
