"""Heads with a name and heads that link two words, on the page "Trained"."""

from __future__ import annotations

import pytest
import torch

from attention.analysis import glances
from attention.analysis.names import names_of
from attention.lessons import trained
from tests.running import App, opened
from tests.trained.packaged import packaged, run_model

SENTENCE = "the animal did not cross the street because it was too tired"


def visit(name: str = "minilm", **link: object) -> App:
    packaged(name)
    return opened("trained", **{"model": name, "s": SENTENCE, "query": 9} | link)


def table(app: App, column: str) -> dict[str, list[str]]:
    (found,) = (table for table in app.tables if column in table)
    return found


def test_a_head_says_which_names_it_has_earned_and_where_it_errs() -> None:
    (named,) = (
        one for one in names_of("minilm") if (one.name, one.layer, one.head) == ("noun", 1, 3)
    )
    (words,) = (
        item.value for item in visit(layer=1, head=3).caption if "usually looks" in item.value
    )
    assert f"{100 * named.share:.0f} % of {named.over}" in words
    assert named.errs in words
    row = run_model("minilm", SENTENCE).inputs[1].trace().weights[3, 9]
    pieces = packaged("minilm").pieces(SENTENCE).texts
    assert f"“{pieces[9]}” looks most at “{pieces[int(row.argmax())]}”" in words
    assert not any("usually looks" in item.value for item in visit(layer=3, head=11).caption)


@pytest.mark.parametrize("name", ["minilm", "smollm2"])
def test_a_name_leads_to_its_head_on_its_best_sentence(name: str) -> None:
    app = visit(name)
    shown = table(app, "looks most at")[""]
    best = trained.best_named(names_of(name))
    assert shown == [named.name for named in best]
    at = len(shown) - 1
    app.tell("named_heads", "example", at)
    assert (app.values["layer"], app.values["head"]) == (best[at].layer, best[at].head)
    assert app.values["s"] == best[at].best


def test_every_tile_has_the_names_that_its_head_has_earned() -> None:
    earned = visit().sent["glance_0"].header["earned"]
    assert len(earned) == 72
    assert "noun, on " in earned[1 * 12 + 3]
    assert earned[3 * 12 + 11] == ""


def test_heads_that_link_two_words_are_ranked_by_the_weight_between_them() -> None:
    app = visit(key=3)
    rows = glances.rows_of(run_model("minilm", SENTENCE), 9)
    found = table(app, "weight")
    layer, head = divmod(int(rows[..., 3].flatten().argmax()), 12)
    assert found[""][0] == f"layer {layer} head {head}"
    assert float(found["weight"][0]) == pytest.approx(float(rows[layer, head, 3]), abs=1e-4)
    assert app.sent["links"].result[0].tolist() == pytest.approx(rows.amax((0, 1)).tolist())
    app.tell("linking_heads", "example", 0)
    assert (app.values["layer"], app.values["head"]) == (layer, head)
    app.tell("links", "cell", (0, 5))
    assert app.query_params["key"] == "5"


def test_without_a_chosen_key_it_is_the_word_that_some_head_looks_at_most() -> None:
    rows = torch.tensor([[[0.9, 0.1, 0.8, 0.7]], [[0.9, 0.3, 0.2, 0.1]]])
    assert trained.most_linked(rows, 2, [True, False, False, False]) == 3
    assert trained.most_linked(rows, 3, [False] * 4) == 2
    assert trained.most_linked(rows, 1, [True, False, False, True]) == 2
    greatest = glances.rows_of(run_model("minilm", SENTENCE), 9).amax((0, 1))
    greatest[[0, 9, 13]] = 0
    assert visit().sent["links"].header["chosen"] == [0, int(greatest.argmax())]


def test_a_model_that_was_not_measured_has_no_names() -> None:
    app = visit("pt-en")
    assert "named_heads" not in app.sent
