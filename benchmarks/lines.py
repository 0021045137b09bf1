"""Lines of code by room, beside those of another commit: `python -m benchmarks.lines [COMMIT]`.

Blank lines, comments and docstrings do not count. `tests/test_budget.py` holds the sums.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.report import table

ROOT = Path(__file__).parent.parent
BEFORE_A_DOCSTRING = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
WITHOUT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
BUDGETS = ("attention and pages", "browser", "tests")


def python_lines(source: str) -> int:
    """Number of lines of Python that hold code."""
    lines: set[int] = set()
    starts = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in WITHOUT_CODE | BEFORE_A_DOCSTRING:
            starts = starts or token.type in BEFORE_A_DOCSTRING
            continue
        is_docstring = starts and token.type == tokenize.STRING and '"""' in token.string[:4]
        starts = False
        if not is_docstring:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines)


def browser_lines(source: str) -> int:
    """Number of lines of JavaScript or CSS that hold code."""
    lines = [line.strip() for line in COMMENT.sub("", source).splitlines()]
    return sum(bool(line) and not line.startswith("//") for line in lines)


def room(path: str) -> str | None:
    """The room that a file is counted in; None: it is not counted."""
    first, *rest = Path(path).parts
    if first in ("tests", "benchmarks"):
        return first
    if first not in ("attention", "pages", "streamlit_app.py"):
        return None
    if not path.endswith(".py"):
        return "browser"
    return f"{first}/{rest[0]}" if len(rest) > 1 else first


def lines_by_room(commit: str | None = None) -> Counter[str]:
    """Lines of code of each room, of the files as they are or as they were in a commit."""
    counts: Counter[str] = Counter()
    for path, read in _files(commit):
        if path.endswith((".py", ".js", ".css")) and (name := room(path)):
            count = python_lines if path.endswith(".py") else browser_lines
            counts[name] += count(read())
    return counts


def totals(counts: Counter[str]) -> dict[str, int]:
    """The three sums that have a budget."""
    python = sum(lines for name, lines in counts.items() if name not in ("browser", "tests"))
    sums = (python - counts["benchmarks"], counts["browser"], counts["tests"])
    return dict(zip(BUDGETS, sums, strict=True))


def _files(commit: str | None) -> Iterator[tuple[str, Callable[[], str]]]:
    if commit is None:
        for path in _git("ls-files").split("\n"):
            if (ROOT / path).is_file():
                yield path, lambda path=path: (ROOT / path).read_text("utf-8")
    else:
        for path in _git("ls-tree", "-r", "--name-only", commit).split("\n"):
            yield path, lambda path=path: _git("show", f"{commit}:{path}")


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def main(commit: str | None = None) -> None:
    """Print lines by room and the three sums, beside those of a commit."""
    now = lines_by_room()
    before = lines_by_room(commit) if commit else Counter[str]()
    header = ("room", "lines", *(("before", "change") if commit else ()))
    rows = []
    for names, old in ((now, before), (totals(now), totals(before))):
        for name in sorted({*names, *old} - {"tests"} if names is now else names):
            change = (f"{old[name]:,}", f"{names[name] - old[name]:+,}") if commit else ()
            rows.append((name, f"{names[name]:,}", *change))
    print(table("Lines of code", header, rows))


if __name__ == "__main__":
    main(*sys.argv[1:2])
