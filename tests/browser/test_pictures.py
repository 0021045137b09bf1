"""Pictures of README, docs and preview beside their links, each night."""

import json
import re

import pytest

from tests.cases import over
from tests.serving import ROOT, serving

pictures = pytest.importorskip(
    "benchmarks.pictures", reason="needs playwright (requirements-dev.txt)"
)
pytestmark = pytest.mark.soak


@over("name", pictures.PICTURES)
def test_a_picture_shows_the_words_that_its_link_shows_today(name):
    kept = json.loads(pictures.WORDS.read_text("utf-8"))
    with serving() as address:
        assert pictures.words_of(address, pictures.PICTURES[name]) == kept[name], "make pictures"


def test_each_picture_of_the_app_in_readme_and_docs_is_declared_with_its_link():
    shown = {ROOT / "attention/app/shell/preview.png"}
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        found = re.findall(r"!\[[^]]*\]\(([^):]+)\)", page.read_text("utf-8"))
        shown |= {(page.parent / path).resolve() for path in found}
    assert shown == {(ROOT / name).resolve() for name in pictures.PICTURES}
