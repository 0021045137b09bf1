"""Limits that an owner sets, written in one variable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attention.core.limits import LIMITS_VARIABLE, Limits, limits, read_limits
from attention.core.settings import settings_of


def test_limits_are_read_by_name_with_spaces_or_commas_between_and_else_are_the_default() -> None:
    assert read_limits("") == Limits()
    assert read_limits("tokens=31, sessions=7  share=3") == Limits(tokens=31, sessions=7, share=3)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("cores=2", r"must name some of tokens, models, .* got 'cores=2'"),
        ("tokens", "tokens must be a whole number, got ''"),
        ("tokens=many", "tokens must be a whole number, got 'many'"),
        ("tokens=2.5", "tokens must be a whole number, got '2.5'"),
        ("tokens=4097", "tokens must lie between 16 and 4096, got 4097"),
        ("sessions=0", "sessions must lie between 1 and 100000, got 0"),
    ],
)
def test_what_cannot_be_read_is_named_with_what_was_expected(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=rf"^{LIMITS_VARIABLE}.*{problem}$"):
        read_limits(text)


def test_the_limits_of_the_process_are_those_of_its_environment(monkeypatch) -> None:
    monkeypatch.setenv(LIMITS_VARIABLE, "tokens=17")
    limits.cache_clear()
    try:
        assert limits().tokens == 17
    finally:
        limits.cache_clear()


def test_every_limit_says_what_it_is_for_and_the_docs_list_it_with_its_default() -> None:
    assert all(about.help for about in settings_of(Limits).values())
    docs = (Path(__file__).parents[2] / "docs" / "hosting.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (\d+) \|", docs, re.MULTILINE)
    assert listed == [(name, str(about.default)) for name, about in settings_of(Limits).items()]
