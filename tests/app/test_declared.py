"""A page is one file and one declaration, a measure one entry; all else follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from attention.analysis.heads import MEASURES, Measure, measures
from attention.app.state.links import every_setting, read_link
from attention.app.state.pages import PAGES, SHARED, Page
from attention.core.settings import setting, settings_of
from attention.subjects.play.heads.words import HeadSettings
from tests.app import link_table
from tests.app.test_links import test_the_tables_of_pages_and_of_links_are_whole as tables_are_whole
from tests.running import opened

SCRIPT = '''
"""Tea: how sweet it is."""

import streamlit as st

from attention.app.controls import widgets
from attention.app.shell import frame
from attention.app.state.view import View


def tea(view: View) -> None:
    widgets.widget(view, "lumps")
    st.text(f"{view['lumps']} lumps, {view['milk']}")


frame.show(__file__, tea)
'''


@dataclass(frozen=True)
class TeaSettings:
    lumps: int = setting(2, "Lumps of sugar", minimum=0, maximum=5, step=1)
    milk: str = setting("no milk", "Milk", options=("no milk", "milk"))


@pytest.fixture
def tea(tmp_path: Path) -> Iterator[Page]:
    """A page with a setting of its own on it and another at its side."""
    file = tmp_path / "tea.py"
    file.write_text(SCRIPT, "utf-8")
    page = Page(
        "tea",
        "Tea",
        "how sweet it is",
        purpose="See how sweet it is, by the lump.",
        settings=(TeaSettings,),
        beside=lambda values: ("milk", "scale"),
        file=str(file),
    )
    PAGES.append(page)
    yield page
    PAGES.remove(page)


@pytest.mark.usefixtures("tea")
def test_its_settings_are_drawn_restored_and_refused_as_declared():
    app = opened("tea", lumps="4", milk="milk", s="hot tea")
    assert app.text[0].value == "4 lumps, milk"
    assert (app.values["lumps"], app.values["s"]) == (4, "hot tea")
    assert "milk" in {item.key.partition(":")[0] for item in app.sidebar.get("button_group")}
    assert [item.key.partition(":")[0] for item in app.sidebar.selectbox] == ["scale"]
    app = opened("tea", lumps="9")
    assert "lumps must lie between 0 and 5, got 9; showing 2 instead." in app.said


@pytest.mark.usefixtures("tea")
def test_links_know_it_and_the_tables_of_readme_and_links_are_no_longer_whole():
    assert every_setting().keys() >= {"lumps", "milk", *SHARED}
    assert read_link({"lumps": ["3"]}, lambda vectors: 50) == ({"lumps": ["3"]}, [])
    assert ("`lumps`", "Lumps of sugar", "`2`", "whole, 0 to 5", "Tea") in link_table.rows()
    with pytest.raises(AssertionError):
        tables_are_whole()


def test_a_page_that_is_gone_leaves_nothing_behind():
    assert "lumps" not in every_setting()


# A measure of heads is one entry; its column and the menu follow from it


LAST = Measure(
    "last",
    "the last token",
    targets=lambda rows, n_keys, keys: (torch.arange(n_keys) == n_keys - 1).expand(len(rows), -1),
)


def test_it_is_found_wherever_heads_are_measured(monkeypatch):
    monkeypatch.setitem(MEASURES, LAST.name, LAST)
    weights = torch.tensor([[[0.25, 0.75], [1.0, 0.0]]])
    assert measures(weights)["last"].tolist() == [0.375]
    assert settings_of(HeadSettings)["sort"].choices[-1] == "last"
    link = {"fold": "all heads", "variant": "multihead", "sort": "last"}
    app = opened("explore", **link, s="measured by one more")
    shares = [float(row["beside"]) for row in app.sent["rows"].header["rows"]]
    assert shares == sorted(shares, reverse=True)
