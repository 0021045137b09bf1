"""The budget: whoever adds lines takes others away, or raises a number here and says why.

Lines of code without blanks, comments and docstrings, as `python -m benchmarks.lines` counts.
"""

from __future__ import annotations

from benchmarks.lines import browser_lines, lines_by_room, python_lines, totals

BUDGET = {"attention and pages": 40_848, "browser": 9_603, "tests": 32_182}


def test_the_code_stays_within_its_budget() -> None:
    sums = totals(lines_by_room())
    assert {name: lines for name, lines in sums.items() if lines > BUDGET[name]} == {}


def test_docstrings_comments_and_blank_lines_are_not_counted() -> None:
    python = '"""A module."""\n\nX = """one\ntwo"""\n\n\ndef f() -> int:\n'
    python += '    r"""A\n    docstring."""\n    return 3  # three\n'
    assert python_lines(python) == 4
    assert browser_lines("/* a\nb */\n// c\nconst d = 1\n\n.e {\n  color: red;\n}\n") == 4
