"""A language model: its probe, its layers, its rotation, and pieces that are ignored."""

from __future__ import annotations

from torch.testing import assert_close

from attention.analysis import glances
from attention.analysis.heads import strongest_edges
from attention.app.cached import runs
from attention.app.state.openings import ALL_WORDS
from attention.core.printing import percent
from attention.subjects.model import scene
from attention.subjects.model.figures import LinesThroughLayers
from attention.trained.models import Run, Transformer
from tests.running import App, opened, sent_as, viewed
from tests.subjects.model.shown import part, words
from tests.trained.packaged import packaged, run_model

TEXT = "red blue green red"


def visit(page: str = "model", **settings: object) -> App:
    packaged("smollm2")
    return opened(page, **{"model": "smollm2", "s": TEXT} | settings)


def how(**settings: object) -> App:
    """The stages of the computation in matrices."""
    return visit("explore", fold="how", words=ALL_WORDS, **settings)


def model_and_run(text: str = TEXT) -> tuple[Transformer, Run]:
    model = packaged("smollm2")
    assert isinstance(model, Transformer)
    return model, run_model("smollm2", text)


def test_queries_and_keys_are_rotated_in_a_step_of_their_own_or_marked_as_changed():
    app, (_, run) = (
        how(layer=5, head=4, step="rotated keys", query=2, column=35),
        (model_and_run()),
    )
    before, after = app.sent["matrices"].matrices
    trace = run.inputs[5].layer.trace(run.inputs[5].x)
    assert_close(before, trace.unrotated[1][4], atol=1e-5, rtol=1e-4)
    assert_close(after, trace.keys[4], atol=1e-5, rtol=1e-4)
    assert app.tables[0][""] == ["dimension 35, × cos θ", "dimension 3, × sin θ", "sum"]
    frequency = 100_000 ** (-2 * 3 / 64)
    assert f"position 2 × frequency {frequency:.7f} = {2 * frequency:.4f}." in app.said
    app = visit("explore", layer=5, trained_positions="removed")
    assert "the model's own positions: removed" in app.all_words


def test_lines_lead_from_the_chosen_token_through_all_layers():
    _, run = model_and_run()
    link = {"model": "smollm2", "s": TEXT, "all_layers": "greatest", "cover": 0.8}
    for query in (2, 1):
        shown, rows = (
            scene.in_all_layers(viewed("model", **link, query=query)),
            glances.rows_of(run, query),
        )
        lines = part(shown, "layer_lines", LinesThroughLayers)
        assert (lines.query, lines.tokens) == (query, run.pieces.texts)
        assert lines.titles == [f"layer {layer}" for layer in range(30)]
        expected = rows.amax(1)
        drawn = strongest_edges(expected, 0.8)
        sent = sent_as(lines.content())
        assert_close(sent.numbers.reshape(expected.shape), expected)
        assert [*sent.rest] == [*drawn.flatten().int().tolist(), *rows.argmax(1).flatten().tolist()]
        held = percent(float(expected[drawn].sum() / expected.sum()))
        assert f"{int(drawn.sum())} lines hold {held} of these weights." in words(shown)[-1]


def test_a_run_of_the_longest_sentence_is_kept_for_all_parts_of_the_page():
    limit = packaged("smollm2").limit
    run = runs.run_model("smollm2", "cat " * limit)
    assert len(run.pieces.ids) == limit
    assert runs.run_model("smollm2", "cat " * limit) is run
