"""The command `attention-explorer`: writes a lesson as one file, or serves the app."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from attention.app.shell import command
from attention.core.limits import OWN_LESSONS_VARIABLE


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what is asked. arguments: None = those of the command line."""
    given = sys.argv[1:] if arguments is None else [*arguments]
    if given[:1] == ["lesson"]:
        write_lesson(given[1:])
    else:
        command.main(given)


def write_lesson(options: Sequence[str]) -> None:
    """Write a lesson as one file of HTML; end with a word where that cannot be done."""
    parser = argparse.ArgumentParser(
        "attention-explorer lesson",
        description="Write a lesson as one file of HTML that opens without a network.",
    )
    parser.add_argument("folder", nargs="?", help="of chapters as Markdown; none: the guide")
    parser.add_argument("-o", "--output", default="lesson.html", help="the file to write")
    parser.add_argument("--lang", default="en", help="the code of its language; en, if not said")
    asked = parser.parse_args(options)
    if asked.folder is not None:
        os.environ[OWN_LESSONS_VARIABLE] = asked.folder
    print(f"Working out the figures of {asked.folder or 'the guide'} …", flush=True)
    from attention import subjects
    from attention.subjects.guide.lesson_file import lesson_page

    subjects.declare_pages()
    named = {} if asked.folder is None else {"lesson": "own"}
    try:
        output = Path(asked.output)
        output.write_text(lesson_page(asked.lang, **named), "utf-8")
    except (OSError, ValueError) as error:
        raise SystemExit(f"The lesson cannot be written:\n{error}") from None
    print(f"{output}, {output.stat().st_size / 1e6:.1f} MB")
