"""A measure of heads is one entry; its column, its caption and the menu follow from it."""

from __future__ import annotations

import pytest
import torch

from attention.analysis.heads import MEASURES, Measure, measures
from attention.core.settings import settings_of
from attention.subjects.heads.words import HeadSettings
from attention.subjects.model.words import CLOSED, NAMES
from tests.running import opened

LAST = Measure(
    "last",
    "the last token",
    targets=lambda rows, n_keys, keys: (torch.arange(n_keys) == n_keys - 1).expand(len(rows), -1),
)


def test_it_is_found_wherever_heads_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEASURES, LAST.name, LAST)
    weights = torch.tensor([[[0.25, 0.75], [1.0, 0.0]]])
    assert measures(weights)["last"].tolist() == [0.375]
    assert settings_of(HeadSettings)["sort"].choices[-1] == "last"
    for page, more in (("heads", CLOSED), ("model", NAMES)):
        app = opened(page, sort="last", s="measured by one more", more=more)
        table = next(table for table in app.tables if "last" in table)
        shares = [float(share.replace("−", "-")) for share in table["last"][:-1]]
        assert shares == sorted(shares, reverse=True)
        assert "the last token" in app.all_words
