"""One file in the folder of variants is all that a new one needs, also where it has no softmax.

The variant here weighs each key by itself: weights lie between 0 and 1, and rows sum to anything.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

import attention
from attention.app.cached import runs
from attention.app.state.openings import ALL_WORDS
from attention.core.variants import VARIANTS, Variant
from attention.figures import plots
from attention.figures.states import states_of
from attention.pipeline import Result, Settings
from attention.subjects.guide.chapters import OWN_LESSONS_VARIABLE
from attention.subjects.play import scene as play
from attention.subjects.two_sequences import words as cross_words
from attention.training.tasks import race
from tests.app.test_page_files import asked, labels
from tests.core.variant_claims import added, docs_variants
from tests.figures.test_script import assert_same, computed
from tests.running import App, opened, viewed
from tests.subjects.play.against.test_page import rows, sentence
from tests.subjects.play.how.test_steps import check_workings
from tests.subjects.play.how.test_steps import computed as stepped
from tests.subjects.two_sequences.test_words import batch_of

KNOWN, RACING = [*VARIANTS], race.networks()
SIGMOID = docs_variants()[1]
S, QUERY = "the cat walks on the street", 4
LINK: dict[str, Any] = {"variant": "sigmoid", "s": S, "query": QUERY, "mask": "causal"}
CLAUSE = "the sigmoid of each score less b is its weight"
WORDS = f"{CLAUSE.capitalize()}."


@pytest.fixture(scope="module", autouse=True)
def sigmoid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[type[Variant]]:
    """The variant, whose file stands beside those of the others meanwhile."""
    with added(SIGMOID, tmp_path_factory.mktemp("variants")) as variant:
        yield variant


def fold(name: str, **link: Any) -> App:
    return opened("explore", fold=name, **LINK | link)


def shown() -> Result:
    """The result that `fold` shows."""
    return runs.result_of(Settings(S, variant="sigmoid", mask=("causal",)))


def test_a_file_in_the_folder_is_found_and_comes_last(tmp_path):
    whole, room = Path(attention.__file__).parent, tmp_path / "attention"
    shutil.copytree(whole / "core", room / "core")
    shutil.copy(whole / "__init__.py", room)
    (room / "core" / "variants" / "aside.py").write_text(SIGMOID, "utf-8")
    code = "from attention.core.variants import VARIANTS; print(*VARIANTS)"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert found.stdout.split() == [*KNOWN, "sigmoid"], found.stderr


def test_it_is_last_in_the_menu_and_the_page_says_what_it_is(sigmoid):
    app = fold("map", shift=2.0).unfold()
    options = [label.partition(" · ")[0] for label in app.controls["reader"].options]
    assert [name for name in options if name in VARIANTS] == [*KNOWN, "sigmoid"]
    assert app.values["shift"] == 2.0
    for words in (sigmoid.title, sigmoid.formula, sigmoid.source):
        assert words in app.all_words


def test_the_map_has_its_weights_in_one_colour_with_their_sums():
    made, sent = shown().trace.weights, fold("map").sent["map_picture"]
    assert_close(sent.parts["weights"], made)
    assert 0 < float(made.tril().max()) < 1
    assert not torch.allclose(made.sum(-1), torch.ones(6))
    header, stage = sent.header, sent.header["stages"]["weights"]
    assert (header["shares"], header["signed"], header["between"]) == (False, False, "sigmoid")
    assert (stage["zmin"], stage["zmax"], stage["diverging"]) == (0.0, 1.0, False)
    assert stage["words"].startswith(f"{WORDS} These weights are no shares. None is below 0. Here")
    assert header["beside"] == "sum of row"
    figure = plots.heatmap(shown().trace, "weights", S.split(), QUERY)
    assert figure.data[0].zmin == 0


def test_a_sentence_adds_its_weights_up():
    said = fold("map").sent["picture"].header["said"][QUERY]
    total = f"{float(shown().trace.weights[QUERY].sum()):.2f}"
    assert said["question"] == "Which words make the new vector of “the (4)”?"
    assert "".join(said["line"]).endswith(f"Its weights are no shares: they sum to {total}.")


def test_how_names_its_stage_and_works_out_each_cell(sigmoid):
    app = fold("how", step="weights", column=2)
    kinds = {row["name"]: row["kind"] for row in app.sent["rows"].header["rows"]}
    assert kinds["sigmoid"] == "weight"
    assert "softmax" not in kinds
    assert f"sigmoid: {WORDS}" in app.told
    app = fold("how", step="weights", words=ALL_WORDS)
    assert sigmoid.weighing.formula in [each.value.strip("$\n ") for each in app.latex]
    assert app.sent["matrices"].header["parts"][-1]["kind"] == "share", "coloured from 0 on"
    hidden = fold("how", step="masked", words=ALL_WORDS).all_words
    assert "the sigmoid turns −∞ into exactly no weight" in hidden
    for mask in ({}, {"cells": torch.ones(7, 7).tril().bool()}):
        check_workings(stepped(sigmoid(sigmoid.Config(12, heads=4)), hidden=mask))


def test_all_heads_are_rows_of_weights_and_small_maps():
    made = shown().layer_trace.weights
    app = fold("all heads")
    assert {row["kind"] for row in app.sent["rows"].header["rows"]} == {"weight"}
    assert_close(app.sent["rows"].numbers.reshape(made.shape), made)
    grid = fold("all heads", words=ALL_WORDS).sent["head_grid"]
    assert "Each square is the size of a weight;" in grid.header["caption"]


def test_against_sets_it_beside_others_and_beside_itself_at_another_scale():
    app = fold("against", differs="variant", b_variant="dot")
    kinds = [row["kind"] for row in app.sent["rows"].header["rows"]]
    assert kinds == ["weight", "weight", "change"]
    of_a, of_b, change = (row.nan_to_num() for row in rows(app).values())
    assert_close(of_a, shown().trace.weights)
    assert_close(change, of_b - of_a)
    assert "the weight of “the (4)” on" in sentence(app)
    app = fold("against", differs="scale", b_factor=2.0)
    assert app.sent["rows"].header["slider"] is None, "the browser knows the softmax alone"
    trace = shown().trace
    assert_close(rows(app)["× 2"].nan_to_num(), (2 * trace.scaled - 1).sigmoid() * trace.mask)
    for other, colours in (("dot", "sequential"), ("delta", "diverging")):
        maps = fold("against", differs="variant", b_variant=other, words=ALL_WORDS)
        assert maps.sent["comparison"].header["maps"][0]["kind"] == colours


def test_numbers_tell_the_sum_and_the_part_of_each_head():
    app = fold("numbers")
    assert app.sent["sum_picture"].header["weighed"] == CLAUSE
    assert "The part of each head" in app.told
    assert states_of(shown()) is None


def test_two_sequences_work_a_number_out_as_it_says():
    batch = batch_of(Settings(variant="sigmoid", vectors="random", d_model=10), batch="a b | c d e")
    work = cross_words.working(batch, 1, 0, 0)
    assert work.text.endswith(f"valid keys; {CLAUSE}.")
    assert "exp" not in " ".join(work.columns)
    assert work.total == pytest.approx(sum(map(float, work.columns["weight · v"])), abs=1e-6)
    strongest = opened("cross", variant="sigmoid").all_words
    assert " adds most, by its weight of 0." in strongest


def test_its_files_are_offered():
    offered = labels(asked("explore", LINK | {"fold": "numbers"}))
    assert {"Weights · head 0, CSV", "PyTorch script"} <= offered


BENT = """

def bent(scores: Tensor, shift: float) -> Tensor:
    return hardsigmoid(scores - shift)
"""


def test_its_script_gives_its_numbers_by_functions_of_its_file_and_of_torch_too(tmp_path):
    settings = {"mask": ("causal",), "config": (("shift", 2.0),), "s": S}
    assert_same(computed(variant="sigmoid", **settings), tmp_path)
    others = {
        "from torch import Tensor": "from torch import Tensor\nfrom torch.nn.functional import "
        "hardsigmoid",
        'name = "sigmoid"': 'name = "bent"',
        "(hide(scores, mask) - self.config.shift).sigmoid()": "bent(hide(scores, mask), "
        "self.config.shift)",
    }
    source = SIGMOID + BENT
    for part, other in others.items():
        source = source.replace(part, other)
    with added(source, tmp_path):
        found = assert_same(computed(variant="bent", **settings), tmp_path)
    assert (found["trace"].weights == 0).any()


def test_a_link_to_it_is_saved_and_shown_in_a_notebook(tmp_path):
    attention.save_link(f"explore?variant=sigmoid&s={S.replace(' ', '+')}", tmp_path / "a.html")
    assert "Its weights are no shares" in unescape((tmp_path / "a.html").read_text("utf-8"))
    drawn = attention.show(play.arcs(viewed("explore", **LINK)))
    assert "Its weights are no shares" in unescape(drawn._repr_html_())


LESSON = """---
title: Sigmoid
figure: {figure}
link: "s=tea is good&variant=sigmoid&query=1&step=weights&differs=variant&b_variant=dot"
question: Which?
choices: [tea, good]
answer: good
because: It is good.
---
Each weight for itself.
"""


def test_a_lesson_shows_it_in_each_figure(tmp_path, monkeypatch):
    monkeypatch.setenv(OWN_LESSONS_VARIABLE, str(tmp_path))
    made = runs.result_of(Settings("tea is good", variant="sigmoid")).layer_trace.weights
    for figure, key in (("picture", "picture"), ("how", "rows"), ("against", "rows")):
        (tmp_path / "1.md").write_text(LESSON.format(figure=figure), "utf-8")
        app = opened("guide", lesson="own")
        if figure == "picture":
            assert_close(app.sent[key].parts["weights"], made[0])
        else:
            assert "weight" in {row["kind"] for row in app.sent[key].header["rows"]}
    (tmp_path / "1.md").write_text(LESSON.format(figure="heads"), "utf-8")
    assert "head_grid" in opened("guide", lesson="own").sent


def test_it_does_not_race_unasked():
    assert race.networks() == RACING
