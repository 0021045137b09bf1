"""Files of the atlas beside the site: a page of each packaged model, its JSON, and the schema."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import attention
from attention import subjects
from attention.atlas import files
from attention.subjects.model.passport_file import as_file

FOLDER = Path(__file__).parent / "made" / "live" / "atlas"


def make(folder: Path = FOLDER) -> None:
    """Make the files, but those that are newer than what they are made from."""
    folder.mkdir(parents=True, exist_ok=True)
    subjects.declare_pages()
    packaged = files.packaged()
    for name, path in packaged.items():
        page, plain = folder / f"{name}.html", folder / f"{name}.json"
        if page.exists() and page.stat().st_mtime > path.stat().st_mtime:
            continue
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        atlas = files.read(path)
        first, answers, opens = as_file(atlas, os.environ.get("ATTENTION_APP", "/"))
        title = f"Heads of {atlas.title}"
        attention.save_scene(first, page, title, answers=answers, keeps=True, opens=opens)
    schema = json.dumps(files.schema(), indent=1, ensure_ascii=False)
    (folder / "schema.json").write_text(schema + "\n", "utf-8")


if __name__ == "__main__":
    make()
