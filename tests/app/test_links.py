"""Links: what they may say, and that what they say stays true."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from attention.app.state.links import MAX_PROBLEMS, every_setting, read_link
from attention.app.state.pages import PAGES
from attention.core.settings import settings_of
from attention.core.variants import VARIANTS
from attention.inputs.vectors import OWN_VECTORS_VARIABLE
from attention.pipeline import Selection, Settings
from attention.subjects.guide.chapters import OWN_LESSONS_VARIABLE
from tests.app import link_table
from tests.cases import over
from tests.properties import given
from tests.properties import settings as hypothesis_settings
from tests.properties import strategies as st
from tests.running import viewed
from tests.trained.packaged import packaged

ROOT = Path(__file__).parent.parent.parent
LISTED, LINKS = ROOT / "docs" / "pages.md", ROOT / "docs" / "links.md"
RELEASED = "links already sent rely on this row of docs/links.md"
NEW = "new rows of docs/pages.md and docs/links.md: python -m tests.app.link_table --write"


@pytest.fixture(autouse=True)
def _no_own_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OWN_VECTORS_VARIABLE, raising=False)
    monkeypatch.delenv(OWN_LESSONS_VARIABLE, raising=False)


def read(**link: str | list[str]) -> tuple[dict[str, list[str]], list[str]]:
    texts = {name: [text] if isinstance(text, str) else text for name, text in link.items()}
    return read_link(texts, lambda vectors: 50)


def test_names_words_defaults_and_values_of_links_are_at_least_those_published():
    """A menu and the variants that have a setting may have grown since."""
    declared = {row[0]: row for row in link_table.rows()}
    published = link_table.published(LINKS.read_text("utf-8"))
    assert len(published) > 100
    for line in published:
        *said, values, owner = declared[line.split(" | ")[0].removeprefix("| ")]
        begins = f"| {' | '.join(said)} | "
        assert line.startswith(begins), RELEASED
        cells = line.removeprefix(begins).removesuffix(" |").rsplit(" | ", 1)
        for cell, grown in zip(cells, (values, owner), strict=True):
            assert {*cell.split(", ")} <= {*grown.split(", ")}, RELEASED


def test_the_docs_tell_of_pages_as_they_are_declared():
    rows, declared = link_table.published_pages(LISTED.read_text("utf-8")), link_table.pages()
    assert rows == [row for row in declared if row in rows]


@pytest.mark.soak
def test_the_tables_of_pages_and_of_links_are_whole():
    assert link_table.published_pages(LISTED.read_text("utf-8")) == link_table.pages(), NEW
    assert LINKS.read_text("utf-8").rstrip().endswith(link_table.markdown()), NEW


def test_a_name_means_one_setting_wherever_it_is_declared():
    schemas = [Settings, Selection, *(variant.Config for variant in VARIANTS.values())]
    seen: dict[str, Any] = {}
    for declared in (*map(settings_of, schemas), *(page.declared for page in PAGES)):
        for name, about in declared.items():
            assert seen.setdefault(name, about) == about


def test_every_default_is_legal_and_every_condition_can_come_true():
    declared = every_setting()
    for about in declared.values():
        assert about.problem(about.default) is None
        if about.when is not None:
            other, *values = about.when
            assert set(values) <= set(declared[other].choices)
        if about.divides:
            assert about.divides in declared


@over(
    "link, words",
    [
        ({"colour": "red"}, "“colour” is not a setting; it was left out."),
        ({"x" * 99: "1"}, f"“{'x' * 40}” is not a setting; it was left out."),
        ({"seed": "-1"}, "seed must lie between 0 and 9999, got -1; showing 0 instead."),
        ({"seed": "1.5"}, "seed must be a whole number, got '1.5'; showing 0 instead."),
        ({"seed": ""}, "seed must be a whole number, got ''; showing 0 instead."),
        ({"factor": "nan"}, "factor must lie between 0.0 and 10.0, got nan; showing 1.0 instead."),
        ({"sigma": "0"}, "sigma must lie between 0.1 and 10.0, got 0.0; showing 1.0 instead."),
        ({"variant": "Dot"}, "variant must be one of dot, .*, got 'Dot'; showing dot instead."),
        ({"variant": "x" * 5000}, "variant must be one of .{,200}; showing dot instead."),
        ({"vectors": "own"}, "vectors must be one of glove, random, got 'own'; showing glove .*"),
        ({"mask": "<b>"}, r"mask must be some of causal, .*, got \('<b>',\); showing none .*"),
        ({"heads": "12"}, "heads must divide d_model = 50, got 12; showing 10 instead."),
        ({"groups": "2"}, "groups must divide heads = 5, got 2; showing 1 instead."),
    ],
)
def test_what_a_link_says_wrongly_is_left_out_with_a_word(link, words):
    taken, (problem,) = read(**link, s="sound")
    assert re.fullmatch(words, problem)
    assert taken["s"] == ["sound"]
    assert taken.keys() <= {"s", *(name for name in link if every_setting().get(name))}


def test_of_a_name_given_twice_the_last_value_counts_and_of_masks_all():
    assert read(scale="factor", factor=["2", "3"]) == ({"scale": ["factor"], "factor": ["3"]}, [])
    assert read(seed=["x", "7"])[0] == {"seed": ["7"]}
    taken, (problem,) = read(seed=["7", "x"])
    assert (taken, "got 'x'" in problem) == ({}, True)
    taken, (problem,) = read(mask=["length", "foo", "causal"])
    assert taken == {"mask": ["length", "causal"]}
    assert problem.endswith("; showing length, causal instead.")
    assert every_setting()["mask"].parse_all(taken["mask"]) == ("causal", "length")


def test_text_that_is_too_long_is_taken_as_far_as_it_may_go():
    for name, longest in (("s", 5000), ("cells", 8000), ("own_x", 9000), ("tiles", 120)):
        taken, (problem,) = read(**{name: "x " * longest})
        assert f"{name} must have at most {longest} characters" in problem
        assert problem.endswith(f"showing its first {longest} instead.")
        assert taken == {name: [("x " * longest)[:longest]]}
    _, problems = read(**{f"n{index}": "1" for index in range(2000)})
    assert len(problems) == MAX_PROBLEMS + 1
    assert problems[-1] == f"{2000 - MAX_PROBLEMS} more settings of this link could not be taken."


names = st.sampled_from(sorted(every_setting())) | st.text(max_size=9)
some_text = st.text(max_size=20) | st.sampled_from(["0", "7", "causal"])
texts = st.lists(some_text, min_size=1, max_size=3)


@given(link=st.dictionaries(names, texts, max_size=4))
@hypothesis_settings(deadline=None, max_examples=100)
def test_of_any_link_what_is_taken_is_legal(link):
    taken, problems = read_link(link, lambda vectors: 50)
    assert len(problems) <= 2 * len(link)
    for name, values in taken.items():
        about = every_setting()[name]
        assert about.problem(about.parse_all(values)) is None


MEANINGS: dict[str, dict[str, Any]] = {
    "explore?mask=length&mask=causal&valid_len=2": {"mask": ("causal", "length"), "valid_len": 2},
    "explore?vectors=random&d_model=48&heads=12&seed=3.0": {
        **{"vectors": "random", "d_model": 48, "heads": 12, "seed": 3}
    },
    "explore?s=a+cat&fold=numbers&query=1&stage=masked": {
        **{"s": "a cat", "fold": "numbers", "query": 1, "stage": "masked"}
    },
    "explore?map=shown&probes=cat,street": {"map": "shown", "probes": "cat,street"},
    "explore?fold=how&input=matrices&own_x=1+2;+3+4&column=1": {
        **{"fold": "how", "input": "matrices", "own_x": "1 2; 3 4", "column": 1}
    },
    "explore?fold=all+heads&variant=grouped&groups=5&cover=0.6&active=0,2": {
        **{"fold": "all heads", "variant": "grouped", "groups": 5, "cover": 0.6, "active": "0,2"}
    },
    "explore?fold=against&differs=scale&b_factor=0.35&words=all+words": {
        **{"fold": "against", "differs": "scale", "b_factor": 0.35, "words": "all words"}
    },
    "explore?fold=against&differs=mask&b_mask=window": {
        **{"fold": "against", "differs": "mask", "b_mask": ("window",)}
    },
    "cross?target=bonjour&memory=a+cat&model=smollm2": {"target": "bonjour", "memory": "a cat"},
    "model?model=smollm2&layer=20&head=1&off=20.1&off_to=zero&lens=looks": {
        **{"model": "smollm2", "layer": 20, "head": 1, "off": "20.1", "off_to": "zero"},
        "lens": "looks",
    },
    "model?model=smollm2&more=its+passport&tiles=unexplained": {
        **{"model": "smollm2", "more": "its passport", "tiles": "unexplained"}
    },
    "learning?task=repetition&learn_steps=300": {"task": "repetition", "learn_steps": "300"},
    "operations?operation=softmax&softmax_dim=1": {"operation": "softmax", "softmax_dim": "1"},
    "identities?claim=merge&claim_d_k=5": {"claim": "merge", "claim_d_k": 5},
    "sources?document=GloVe+notebook": {"document": "GloVe notebook"},
    "guide?chapter=scores&guess=0": {"chapter": "scores", "guess": 0},
}


@over("link", MEANINGS)
def test_a_link_means_these_settings_and_no_others(link):
    packaged("smollm2")
    name, _, query = link.partition("?")
    said = parse_qs(query)
    assert read(**said) == (said, [])
    shown = viewed(name, **said)
    default = {name: about.default for name, about in every_setting().items()}
    assert {name: shown[name] for name in shown if shown[name] != default[name]} == MEANINGS[link]
