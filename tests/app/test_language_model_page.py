"""A language model: its probe, its layers, its rotation, and pieces that are ignored."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from attention.analysis import glances
from attention.analysis.heads import strongest_edges
from attention.analysis.interventions import Change, hidden
from attention.analysis.probes import best_heads, probe
from attention.app.results import runs
from attention.core.printing import percent
from attention.display.switches import COMPUTED, LAYERS, NAMES
from attention.lessons.known import EXAMPLES
from attention.trained.models import Transformer
from tests.running import App, opened
from tests.trained.packaged import packaged, run_model

TEXT = "red blue green red"


def visit(**settings: object) -> App:
    packaged("smollm2")
    return opened("model", **{"model": "smollm2", "s": TEXT, **settings})


def test_the_heads_that_a_probe_finds_are_a_click_away() -> None:
    app = visit(more=NAMES)
    model = packaged("smollm2")
    assert isinstance(model, Transformer)
    found = [*best_heads(probe(model)).items()]
    (table,) = (table for table in app.tables if "on the probe" in table)
    assert table[""] == [name for name, _ in found]
    at = [name for name, _ in found].index("induction")
    app.tell("found_heads", "example", at)
    assert app.sent["model_window"].header["chosen"] == 18 * 9 + 6
    assert app.values["s"].endswith("Mr and Mrs Dursley of")


def test_the_first_token_is_named_a_sink_and_can_be_set_aside() -> None:
    text = EXAMPLES[2].s
    app = visit(s=text, layer=20, more=NAMES)
    run = run_model("smollm2", text)
    (glance,) = glances.glances(run)
    share = percent(float(glance.seen.measures["first"].mean()))
    assert any(
        item.value.startswith(f"{share} of all weight lies on the first token, ")
        for item in app.caption
    )
    aside = visit(s=text, layer=20, special="ignored", more=COMPUTED)
    tokens = aside.sent["picture"].header["tokens"]
    assert tokens == list(run.pieces.texts[1:])
    weights = run.inputs[20].trace().weights[0, 1:, 1:]
    shown = aside.sent["picture"].parts["weights"]
    assert_close(shown, weights / weights.sum(-1, keepdim=True), atol=1e-5, rtol=1e-4)
    assert any(f"first token, “{run.pieces.texts[0]}”" in note for note in aside.notes)
    alone = visit(s="the", layer=20, special="ignored")
    assert not any("left out" in note for note in alone.notes), "nothing is"


def test_queries_and_keys_are_rotated_in_a_step_of_their_own() -> None:
    packaged("smollm2")
    link = {"model": "smollm2", "s": TEXT, "layer": 5, "head": 4}
    app = opened("steps", **link, step="rotated keys", row=2, column=35)
    before, after = app.sent["matrices"].matrices
    layer = run_model("smollm2", TEXT).inputs[5].layer
    trace = layer.trace(run_model("smollm2", TEXT).inputs[5].x)
    assert trace.unrotated is not None
    assert_close(before, trace.unrotated[1][4], atol=1e-5, rtol=1e-4)
    assert_close(after, trace.keys[4], atol=1e-5, rtol=1e-4)
    (table,) = app.tables
    assert table[""] == ["dimension 35, × cos θ", "dimension 3, × sin θ", "sum"]
    frequency = 100_000 ** (-2 * 3 / 64)
    said = f"position 2 × frequency {frequency:.7f} = {2 * frequency:.4f}."
    assert said in app.said


def test_a_layer_without_its_rotation_is_marked_as_changed() -> None:
    packaged("smollm2")
    link = {"model": "smollm2", "s": TEXT, "layer": 5}
    app = opened("steps", **link, trained_positions="removed")
    assert any("the model's own positions: removed" in note for note in app.notes)
    assert "does not turn them" in app.text[0].value
    app = opened("compare", **link, b_scale="1/√d_k", b_trained_positions="removed")
    assert any("B: Not as" in note and "positions: removed" in note for note in app.notes)


def test_what_comes_next_is_told_as_trained_and_with_each_side_that_changes_the_layer() -> None:
    model, run = packaged("smollm2"), run_model("smollm2", TEXT)
    assert isinstance(model, Transformer)
    link = {"model": "smollm2", "s": TEXT, "layer": 18, "b_scale": "1/√d_k"}
    app = opened("compare", **link, b_cut="6")
    (table,) = (table for table in app.tables if "with B" in table)
    assert [*table] == ["", "as trained", "with B"]
    ((without,),) = hidden(model, run, [[Change(18, heads=[6])]]).unsqueeze(0)
    for title, states in (("as trained", run.hidden), ("with B", without)):
        shares = model.scores(states[-1]).softmax(-1)
        likeliest = shares.topk(5)
        named = dict(zip(table[""], map(float, table[title]), strict=True))
        for id_, share in zip(likeliest.indices.tolist(), likeliest.values.tolist(), strict=True):
            assert named[model.shown([id_])[0]] == pytest.approx(share, abs=1e-4)
    assert any(text.value.startswith("The likeliest next piece is “") for text in app.text)
    unchanged = opened("compare", **link)
    assert not any("as trained" in table for table in unchanged.tables)


def test_lines_lead_from_the_chosen_token_through_all_layers() -> None:
    kind = "greatest"
    app = visit(query=2, all_layers=kind, cover=0.8, more=LAYERS)
    lines, run = app.sent["layer_lines"], run_model("smollm2", TEXT)
    rows = glances.rows_of(run, 2)
    assert (lines.header["query"], lines.header["tokens"]) == (2, list(run.pieces.texts))
    assert lines.header["layers"] == [f"layer {layer}" for layer in range(30)]
    expected = rows.amax(1)
    assert_close(lines.numbers.reshape(expected.shape), expected)
    drawn = strongest_edges(expected, 0.8)
    sent = [bool(byte) for byte in lines.rest[: drawn.numel()]]
    assert sent == drawn.flatten().tolist()
    heads = [*lines.rest[drawn.numel() :]]
    assert heads == rows.argmax(1).flatten().tolist()
    held = float(expected[drawn].sum() / expected.sum())
    words = f"{int(drawn.sum())} lines hold {percent(held)} of these weights."
    assert any(words in caption.value for caption in app.caption)
    moved = app.move(query=1).sent["layer_lines"]
    assert moved.header["query"] == 1
    assert not torch.equal(moved.numbers, lines.numbers)


def test_a_head_says_with_which_others_it_shares_keys_and_values() -> None:
    packaged("smollm2")
    shared = "Heads 3, 4 and 5 share the keys and values of group 1."
    app = opened("explore", model="smollm2", s=TEXT, layer=5, head=4)
    assert any(shared in caption.value for caption in app.caption)


def test_a_run_of_the_longest_sentence_is_kept_for_all_parts_of_the_page() -> None:
    model, text = packaged("smollm2"), "cat " * packaged("smollm2").limit
    run = runs.run_model("smollm2", text)
    assert len(run.pieces.ids) == model.limit
    assert runs.run_model("smollm2", text) is run
