"""Figures show the numbers of the trace, unrounded, and nobody's markup."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

import numpy
import plotly.graph_objects as go
import pytest
import torch
from torch import Tensor

from attention.core import masks
from attention.core.analysis import contributions, entropy_bits
from attention.core.functional import STAGES, Trace, attend
from attention.display import figures
from attention.inputs.text import tokenize
from tests.hostile import HOSTILE

TOKENS = ("the", "cat", "saw", "the", "dog", "eat", "it")
MASK = masks.parse_cells("0:1,3-5 2:*", 7, 7)
each_stage = pytest.mark.parametrize("stage", STAGES)


def traced(n: int = 7, d_v: int = 11, mask: Tensor | None = None, mixed: bool = False) -> Trace:
    generator = torch.Generator().manual_seed(n)
    queries, keys = (torch.randn(n, 5, generator=generator) for _ in range(2))
    values = torch.randn(n, d_v, generator=generator)
    mixing: dict[str, Any] = {"before_softmax": torch.neg, "after_softmax": torch.neg}
    return attend(queries, keys, values, mask=mask, **mixing if mixed else {})


def words(n: int) -> list[str]:
    return [f"w{index}" for index in range(n)]


def parts(figure: go.Figure, kind: str) -> list[Any]:
    return [part for part in figure.data if part.type == kind]


def heat(figure: go.Figure) -> Any:
    """The one heatmap of a figure."""
    (part,) = parts(figure, "heatmap")
    return part


def texts(figure: go.Figure) -> list[str]:
    """Every string in a figure."""
    found: list[str] = []

    def visit(item: Any) -> None:
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            visit([item[key] for key in item])
        elif isinstance(item, list | tuple):
            for each in item:
                visit(each)
        elif isinstance(item, numpy.ndarray) and item.dtype == object:
            visit(item.tolist())

    visit(figure.to_dict())
    return found


@each_stage
def test_a_heatmap_has_the_numbers_of_the_trace_unrounded(stage: str) -> None:
    trace = traced(mixed=True)
    z = heat(figures.heatmap(trace, stage, TOKENS, 0)).z
    assert z.dtype == numpy.float32
    assert numpy.array_equal(z, trace.stages[stage].numpy())


@each_stage
def test_masked_cells_are_left_open_from_masked_on(stage: str) -> None:
    trace = traced(mask=MASK, mixed=True)
    z = heat(figures.heatmap(trace, stage, TOKENS, 0)).z
    shown = MASK.numpy() | (stage in ("scores", "scaled"))
    assert numpy.array_equal(~numpy.isnan(z), shown)
    assert numpy.array_equal(z[shown], trace.stages[stage].numpy()[shown])


def test_every_masked_cell_is_crossed() -> None:
    figure = figures.heatmap(traced(mask=MASK), "weights", TOKENS, 0)
    (crosses,) = parts(figure, "scatter")
    labels = figures.positioned(TOKENS)
    assert list(zip(crosses.x, crosses.y, strict=True)) == [
        (labels[key], labels[query]) for query, key in (~MASK).nonzero().tolist()
    ]


def test_hovering_tells_every_number_of_a_cell() -> None:
    trace = traced(mask=MASK)
    told = heat(figures.heatmap(trace, "masked", TOKENS, 0)).customdata
    for index, step in enumerate((trace.scores, trace.scaled, trace.weights)):
        assert numpy.array_equal(told[..., index], step.numpy())


def test_a_figure_leaves_the_trace_as_it_was() -> None:
    trace = traced(mask=MASK, mixed=True)
    before = [step.clone() for step in (trace.scores, trace.scaled, trace.weights, trace.output)]
    for stage in STAGES:
        figures.heatmap(trace, stage, TOKENS, 1)
    figures.weighted_sum(trace, TOKENS, 1)
    after = (trace.scores, trace.scaled, trace.weights, trace.output)
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))


def test_a_trace_with_gradients_can_be_drawn() -> None:
    queries = torch.randn(7, 5, requires_grad=True)
    trace = attend(queries, queries, queries)
    assert trace.weights.requires_grad
    assert heat(figures.heatmap(trace, "weights", TOKENS, 0)).z[0][0] == trace.weights[0, 0].item()
    assert figures.weighted_sum(trace, TOKENS, 0).data
    assert trace.weights.requires_grad


def test_an_unknown_stage_is_refused() -> None:
    with pytest.raises(
        ValueError, match="stage must be one of scores, scaled, masked, weights, got 'softmax'"
    ):
        figures.heatmap(traced(), "softmax", TOKENS, 0)


def test_every_stage_has_words() -> None:
    assert tuple(figures.STAGE_WORDS) == STAGES


def test_the_keys_of_another_sequence_go_across() -> None:
    trace = attend(torch.ones(2, 5), torch.ones(3, 5), torch.ones(3, 7))
    figure = figures.heatmap(trace, "weights", ["a", "b"], 0, keys=["c", "d", "e"])
    assert heat(figure).z.shape == (2, 3)
    assert list(heat(figure).x) == ["c (0)", "d (1)", "e (2)"]
    assert list(heat(figure).y) == ["a (0)", "b (1)"]
    said = figures.equation(trace, ["a", "b"], 1, keys=["c", "d", "e"], head=2)
    assert said.startswith("<i>y</i><sub><bdi>b</bdi></sub> of head 2 = <b>0.333</b>")
    assert "<i>v</i><sub><bdi>e</bdi></sub>" in said


# Colours


def test_the_colours_of_weights_start_at_zero() -> None:
    trace = traced(mask=MASK)
    cells = heat(figures.heatmap(trace, "weights", TOKENS, 0))
    assert cells.zmin == 0
    assert cells.zmax == pytest.approx(trace.weights.max().item())


@pytest.mark.parametrize("stage", [stage for stage in STAGES if stage != "weights"])
def test_the_colours_of_what_has_a_sign_lie_evenly_around_zero(stage: str) -> None:
    trace = traced(mixed=True)
    cells = heat(figures.heatmap(trace, stage, TOKENS, 0))
    assert cells.zmax == -cells.zmin == pytest.approx(trace.stages[stage].abs().max().item())


def test_masked_cells_do_not_widen_the_colour_range() -> None:
    trace = traced(mask=MASK)
    cells = heat(figures.heatmap(trace, "masked", TOKENS, 0))
    assert cells.zmax == pytest.approx(trace.scaled[MASK].abs().max().item())


@pytest.mark.parametrize(("n", "saturated"), [(7, False), (101, True)])
def test_where_the_largest_numbers_share_a_colour_the_words_say_so(n: int, saturated: bool) -> None:
    trace = traced(n)
    cells = heat(figures.heatmap(trace, "weights", words(n), 0))
    assert (cells.zmax < trace.weights.max().item() * 0.999) == saturated
    assert ("share the last colour" in figures.stage_words("weights", n)) == saturated


@pytest.mark.parametrize("diverging", [True, False])
@pytest.mark.parametrize("z", [[[0.0, 0]], [[numpy.nan]]])
def test_a_colour_range_is_never_empty(z: list[list[float]], diverging: bool) -> None:
    found = figures.colours(numpy.array(z), diverging=diverging)
    assert found["zmin"] < found["zmax"] == 1


# Tokens, ticks, rows


def test_five_hundred_tokens_are_all_drawn_and_few_are_named() -> None:
    trace = traced(512, d_v=3)
    figure = figures.heatmap(trace, "weights", words(512), 0)
    assert numpy.array_equal(heat(figure).z, trace.weights.numpy())
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        assert figures.MAX_TICKS / 2 < len(axis.tickvals) <= figures.MAX_TICKS <= 64
        assert [f"w{position}" for position in axis.tickvals] == list(axis.ticktext)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 63, 64, 65, 127, 129, 511])
def test_ticks_name_the_tokens_they_stand_at(n: int) -> None:
    axis = figures.token_axis(words(n))
    assert len(axis["tickvals"]) <= figures.MAX_TICKS
    assert axis["ticktext"] == [f"w{position}" for position in axis["tickvals"]]
    assert n > figures.MAX_TICKS or axis["tickvals"] == list(range(n))


def test_queries_go_down_and_keys_across_and_repeated_tokens_have_rows_of_their_own() -> None:
    figure = figures.heatmap(traced(), "weights", TOKENS, 0)
    assert len(set(heat(figure).x)) == len(set(heat(figure).y)) == 7
    assert list(figure.layout.yaxis.ticktext) == list(TOKENS)
    assert tuple(figure.layout.yaxis.range) == (6.5, -0.5)
    assert tuple(figure.layout.xaxis.range) == (-0.5, 6.5)


@pytest.mark.parametrize(("stage", "query"), [("scores", 0), ("masked", 3), ("weights", 6)])
def test_the_chosen_row_is_outlined(stage: str, query: int) -> None:
    shapes = figures.heatmap(traced(mask=MASK), stage, TOKENS, query).layout.shapes
    frames = [shape for shape in shapes if shape.line.color == figures.CHOSEN]
    assert [(f.x0, f.x1, f.y0, f.y1) for f in frames] == [(-0.5, 6.5, query - 0.5, query + 0.5)]


@pytest.mark.parametrize("n", [7, 101])
def test_entropy_stands_beside_the_weights(n: int) -> None:
    trace = traced(n, mask=masks.causal(n, n))
    figure = figures.heatmap(trace, "weights", words(n), 0)
    (beside,) = (part for part in figure.data if part.xaxis == "x2")
    assert numpy.array_equal(beside.x, entropy_bits(trace.weights).numpy())
    assert list(beside.y) == list(heat(figure).y)


# The weighted sum


@pytest.mark.parametrize(("query", "mixed"), [(0, False), (2, False), (6, True)])
def test_the_rows_of_the_weighted_sum_are_its_terms_and_the_output(query: int, mixed: bool) -> None:
    trace = traced(mask=MASK, mixed=mixed)
    figure = figures.weighted_sum(trace, TOKENS, query)
    z = heat(figure).z
    assert heat(figure).zmin == -heat(figure).zmax < 0
    assert numpy.array_equal(z[:7], contributions(trace, query).numpy())
    assert numpy.array_equal(z[-1], trace.output[query].numpy())
    assert len(heat(figure).y) == len(set(heat(figure).y)) == len(z)
    (bars,) = parts(figure, "bar")
    assert numpy.array_equal(bars.x, trace.applied[query].numpy())
    assert list(bars.y) == list(heat(figure).y)[:7]


def test_the_rows_of_a_long_weighted_sum_still_sum_to_the_output() -> None:
    trace = traced(101)
    figure = figures.weighted_sum(trace, words(101), 5)
    z, most = heat(figure).z, figures.MAX_ROWS
    assert len(z) == most + 3
    numpy.testing.assert_allclose(z[: most + 1].sum(0), z[-1], atol=1e-5)
    assert numpy.array_equal(z[-1], trace.output[5].numpy())
    (bars,) = parts(figure, "bar")
    assert sum(bars.x) == pytest.approx(1, abs=1e-5)
    weakest, others = trace.weights[5].sort(descending=True).values[most - 1 : most + 1]
    assert min(bars.x[:-1]) == weakest
    assert bars.x[-1] >= others
    assert bars.y[-1] == f"{101 - most} others"
    for row, name in enumerate(bars.y[:-1]):
        key = int(name.split("(")[1].rstrip(")"))
        assert numpy.array_equal(z[row], contributions(trace, 5)[key].numpy())


def test_the_equation_writes_the_strongest_terms_first() -> None:
    weights = torch.tensor([[0.25, 0.625, 0, 0.125]]).log()
    trace = attend(
        torch.zeros(1, 1), torch.zeros(4, 1), torch.ones(4, 1), scores=lambda q, k: weights, scale=1
    )
    said = figures.equation(trace, ["a", "b", "c", "d"], 0)
    for letter in "abd":
        assert f"<bdi>{letter}</bdi>" in said
    assert "<bdi>c</bdi>" not in said
    assert said.index("0.625") < said.index("0.250") < said.index("0.125")
    assert "0.375 in 2 more" in figures.equation(trace, ["a", "b", "c", "d"], 0, most=1)


def test_the_equation_has_the_weights_after_mixing_with_their_signs() -> None:
    values = torch.ones(2, 1)
    trace = attend(values, values, values, after_softmax=lambda weights: weights * -0.5)
    assert figures.equation(trace, ["a", "b"], 0).count("<b>−0.250</b>") == 2


def test_the_equation_of_a_row_with_nothing_to_attend_to_is_zero() -> None:
    assert figures.equation(traced(mask=MASK), TOKENS, 2).endswith(" = 0")


# Markup of visitors


@pytest.fixture(scope="module")
def hostile_figures() -> list[go.Figure]:
    tokens = [token for sentence in HOSTILE for token in tokenize(sentence)]
    tokens = ["<b>", "</script>", "<a href=x>", *(t for t in tokens if "<" in t or "&" in t)][:64]
    trace = traced(len(tokens), mask=masks.causal(len(tokens), len(tokens)), mixed=True)
    drawn = [figures.heatmap(trace, stage, tokens, 0) for stage in STAGES]
    return [*drawn, figures.weighted_sum(trace, tokens, 0)]


def test_tokens_are_escaped_wherever_plotly_would_read_markup_and_never_stand_in_templates(
    hostile_figures: list[go.Figure],
) -> None:
    for figure in hostile_figures:
        found = texts(figure)
        assert {"&lt;b&gt; (0)", "&lt;b&gt;"} <= set(found)
        for text in found:
            plain = text.replace("<br>", "").replace("<extra></extra>", "")
            assert text == "<b>Σ = y</b>" or "<" not in plain
        for part in figure.data:
            assert "&lt;" not in f"{part.hovertemplate} {part['texttemplate']}"


@pytest.mark.parametrize("token", ["<b>", "<img src=x>", '"quoted"', "&amp;", "</bdi>"])
def test_the_equation_escapes_tokens(token: str) -> None:
    said = figures.equation(traced(1), [token], 0)
    assert said.count(f"<bdi>{html.escape(token)}</bdi>") == said.count("<bdi>") == 2


def test_the_equation_tells_repeated_tokens_apart() -> None:
    said = figures.equation(traced(), TOKENS, 3)
    assert said.startswith("<i>y</i><sub><bdi>the</bdi> 3</sub> = ")
    assert "<i>v</i><sub><bdi>the</bdi> 0</sub>" in said
    assert "<i>v</i><sub><bdi>cat</bdi></sub>" in said


def test_long_tokens_are_shortened_before_they_are_escaped() -> None:
    assert figures.label("&" * 13) == "&amp;" * 11 + "…"
    assert figures.label("&" * 12) == "&amp;" * 12


class Tags(HTMLParser):
    """The tags of a page with their attributes, and the text of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and self.scripts:
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def page(hostile_figures: list[go.Figure]) -> str:
    captions = ("</p><script>alert(2)</script>", *"bcdef")
    shown = list(zip(captions, hostile_figures, strict=True))
    return figures.standalone_html("</title><script>alert(1)</script> cat", shown)


def test_a_standalone_page_fetches_nothing(page: str) -> None:
    for tag, attributes in Tags(page).tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert not {"src", "href", "srcset", "data"} & attributes.keys()
    assert "MathJax.js" not in page


def test_a_standalone_page_holds_plotly_once_and_every_figure(page: str) -> None:
    scripts = Tags(page).scripts
    assert sum(len(script) > 1_000_000 for script in scripts) == 1
    assert sum("Plotly.newPlot(" in script for script in scripts if len(script) < 1e6) == 6


def test_titles_and_captions_of_a_standalone_page_are_escaped(page: str) -> None:
    assert not any("alert(" in script and len(script) < 1e6 for script in Tags(page).scripts)
    for number in (1, 2):
        assert f"<script>alert({number})" not in page
        assert f"&lt;script&gt;alert({number})&lt;/script&gt;" in page


def test_a_standalone_page_holds_the_numbers_to_the_last_digit() -> None:
    trace = traced()
    page = figures.standalone_html("", [("", figures.heatmap(trace, "weights", TOKENS, 0))])
    packed = base64.b64encode(trace.weights.numpy().tobytes()).decode()
    assert packed.replace("/", "\\u002f") in page or packed in page


def test_making_a_standalone_page_does_not_change_the_figures() -> None:
    figure = figures.heatmap(traced(), "weights", TOKENS, 0)
    before = figure.to_json()
    figures.standalone_html("", [("", figure)])
    assert figure.to_json() == before
