"""Figures show the numbers of the trace, unrounded, and nobody's markup."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import plotly.io
import pytest
import torch
from torch import Tensor

from attention.core import masks
from attention.core.functional import STAGES, Trace, attend
from attention.core.printing import distinct_names
from attention.figures import plotly_templates, plots
from attention.figures.plotly_templates import DARK, LIGHT
from attention.notebook.show import show
from tests.cases import over

SHOWN = [stage for stage in STAGES if stage != "erased"]  # by an attention with a softmax
TOKENS = ("the", "cat", "saw", "the", "dog", "eat", "it")
MASK = masks.parse_cells("0:1,3-5 2:*", 7, 7)


def traced(n: int = 7, d_v: int = 11, mask: Tensor | None = None, mixed: bool = False) -> Trace:
    generator = torch.Generator().manual_seed(n)
    queries, keys = (torch.randn(n, 5, generator=generator) for _ in range(2))
    values = torch.randn(n, d_v, generator=generator)
    mixing: dict[str, Any] = {"before_softmax": torch.neg, "after_softmax": torch.neg}
    return attend(queries, keys, values, mask=mask, **mixing if mixed else {})


def words(n: int) -> list[str]:
    return [f"w{index}" for index in range(n)]


@over("stage", SHOWN)
@over("mask", [None, MASK])
def test_a_heatmap_has_the_traces_numbers_unrounded_and_leaves_masked_cells_open_and_uncoloured(
    mask, stage
):
    trace = traced(mask=mask, mixed=True)
    cells = plots.heatmap(trace, stage, TOKENS, 0).data[0]
    numbers = trace.stages[stage].numpy()
    hides = mask is not None and stage not in ("scores", "scaled")
    shown = MASK.numpy() if hides else numpy.ones((7, 7), dtype=bool)
    assert cells.z.dtype == numpy.float32
    assert numpy.array_equal(~numpy.isnan(cells.z), shown)
    assert numpy.array_equal(cells.z[shown], numbers[shown])
    assert cells.zmax == pytest.approx(numpy.abs(numbers[shown]).max())
    assert cells.zmin == (0 if stage == "weights" else -cells.zmax)


def test_a_trace_with_gradients_can_be_drawn_and_stays_as_it_was():
    queries = torch.randn(7, 5, requires_grad=True)
    trace = attend(queries, queries, queries, mask=MASK, after_softmax=torch.neg)
    steps = trace.scores, trace.scaled, trace.weights, trace.output
    before = [step.detach().clone() for step in steps]
    for stage in SHOWN:
        assert plots.heatmap(trace, stage, TOKENS, 1).data
    assert all(map(torch.equal, steps, before))
    assert trace.weights.requires_grad
    with pytest.raises(ValueError, match=r"stage must be one of scores, .*, got 'softmax'"):
        plots.heatmap(trace, "softmax", TOKENS, 0)


@over("n", [7, 101])
def test_all_numbers_are_drawn_and_words_say_where_the_largest_share_a_colour(n):
    trace, saturated = traced(n), n > 7
    cells = plots.heatmap(trace, "weights", words(n), 0).data[0]
    assert numpy.array_equal(cells.z, trace.weights.numpy())
    assert (cells.zmax < trace.weights.max().item() * 0.999) == saturated
    assert ("share the last colour" in plots.stage_words(trace, "weights")) == saturated


def test_words_of_a_stage_tell_what_is_hidden_and_what_was_added():
    plain = traced(3)
    hidden = replace(plain, mask=torch.eye(3) > 0, bias=torch.zeros(3, 3))
    assert plots.stage_words(plain, "masked").endswith(" no cell is hidden.")
    assert plots.stage_words(hidden, "masked").endswith(" hatched cells are hidden.")
    assert "follows from the distance" in plots.stage_words(hidden, "scaled")
    assert "follows from the distance" not in plots.stage_words(plain, "scaled")


@over("z", [[[0.0, 0]], [[numpy.nan]]])
def test_a_colour_range_is_never_empty(z):
    for diverging in (True, False):
        found = plots.colours(numpy.array(z), diverging=diverging)
        assert found["zmin"] < found["zmax"] == 1


@over("n", [1, 31, 32, 33, 63, 64, 65, 127, 129, 511, 512])
def test_ticks_are_many_but_not_too_many_and_name_the_tokens_they_stand_at(n):
    axis = plots.token_axis(words(n))
    assert min(n, plots.MAX_TICKS / 2) <= len(axis["tickvals"]) <= plots.MAX_TICKS <= 64
    assert axis["ticktext"] == [f"w{position}" for position in axis["tickvals"]]
    assert n > plots.MAX_TICKS or axis["tickvals"] == list(range(n))


def test_queries_go_down_keys_across_repeated_tokens_apart_and_the_chosen_row_is_outlined():
    figure = plots.heatmap(traced(mask=MASK), "weights", TOKENS, 3)
    assert len(set(figure.data[0].x)) == len(set(figure.data[0].y)) == 7
    for axis, ends in ((figure.layout.xaxis, (-0.5, 6.5)), (figure.layout.yaxis, (6.5, -0.5))):
        assert list(axis.ticktext) == distinct_names(TOKENS)
        assert tuple(axis.range) == ends
    frames = [shape for shape in figure.layout.shapes if shape.line.color == plots.CHOSEN]
    assert [(f.x0, f.x1, f.y0, f.y1) for f in frames] == [(-0.5, 6.5, 2.5, 3.5)]


@over("n", [7, 101])
def test_a_row_with_nothing_to_attend_to_has_no_entropy_but_a_sure_one_has_0(n):
    mask = torch.ones(n, n, dtype=torch.bool)
    mask[2], mask[3, 1:] = False, False
    entropy = plots.heatmap_of_stages(traced(n, mask=mask), words(n))["entropy"]
    assert (entropy[2], entropy[3]) == (None, 0)


LABELS = {"<b>": "&lt;b&gt;", '"quoted"': "&quot;quoted&quot;", "&amp;": "&amp;amp;"}
LABELS |= {"</bdi>": "&lt;/bdi&gt;", "&" * 12: "&amp;" * 12, "&" * 13: "&amp;" * 11 + "…"}


def test_a_label_is_escaped_after_a_long_one_is_shortened():
    assert {token: plots.label(token) for token in LABELS} == LABELS
    figure = plots.heatmap(traced(3), "weights", ["<b>", "<script>", "a"], 0)
    assert "<b>" not in figure.to_json()
    assert "&lt;b&gt; (0)" in figure.data[0].x


# Figures that leave the app have its colours, light or dark


CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
THEMES: dict[str, Any] = tomllib.loads(CONFIG.read_text("utf-8"))["theme"]


@pytest.mark.parametrize(("name", "template"), [("light", LIGHT), ("dark", DARK)])
def test_the_colours_are_those_of_the_app(name, template):
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
def test_figures_are_dark_where_plotly_is(monkeypatch, default):
    monkeypatch.setattr(plotly.io.templates, "default", default[0])
    trace, tokens = attend(*torch.eye(3).expand(3, 3, 3)), ["the", "cat", "sat"]
    for figure in (plots.heatmap(trace, "scores", tokens, 0), show(trace.weights, tokens)):
        assert figure.layout.template == default[1]
