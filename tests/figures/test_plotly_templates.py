"""Figures that leave the app have its colours, light or dark."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import plotly.io
import pytest
import torch

from attention.core.functional import attend
from attention.figures import plotly_templates, plots
from attention.figures.plotly_templates import DARK, LIGHT
from attention.notebook.show import show
from tests.cases import over

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
THEMES: dict[str, Any] = tomllib.loads(CONFIG.read_text("utf-8"))["theme"]


@pytest.mark.parametrize(("name", "template"), [("light", LIGHT), ("dark", DARK)])
def test_the_colours_are_those_of_the_app(name: str, template: go.layout.Template) -> None:
    theme, layout = THEMES[name], template.layout

    def colours(scale: Any) -> list[str]:
        shares, found = zip(*scale, strict=True)
        assert shares == pytest.approx([at / 9 for at in range(10)])
        return list(found)

    assert colours(layout.colorscale.sequential) == theme["chartSequentialColors"]
    assert colours(template.data.heatmap[0].colorscale) == theme["chartSequentialColors"]
    assert colours(layout.colorscale.diverging) == theme["chartDivergingColors"]
    assert list(layout.colorway) == theme["chartCategoricalColors"][:1]
    assert layout.paper_bgcolor == layout.plot_bgcolor == theme["backgroundColor"]
    assert layout.font.color == theme["textColor"]
    for kind in ("Sequential", "Diverging", "Categorical"):
        said = plotly_templates.THEMES[name][f"--st-chart-{kind.lower()}-colors"]
        assert said.split(",") == theme[f"chart{kind}Colors"]


@over(
    "default",
    [("plotly", LIGHT), ("plotly_white+xgridoff", LIGHT), ("plotly_dark", DARK), (None, LIGHT)],
)
def test_figures_are_dark_where_plotly_is(
    monkeypatch: pytest.MonkeyPatch, default: tuple[str | None, go.layout.Template]
) -> None:
    monkeypatch.setattr(plotly.io.templates, "default", default[0])
    trace, tokens = attend(*torch.eye(3).expand(3, 3, 3)), ["the", "cat", "sat"]
    for figure in (plots.heatmap(trace, "scores", tokens, 0), show(trace.weights, tokens)):
        assert figure.layout.template == default[1]
