"""The study of associations: how agreement is added up, which method is trusted, its paper."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from attention.analysis import study
from attention.analysis.study import Comparison, Effects, Figure, Study, most_trusted
from benchmarks import study as made
from benchmarks.study_tables import PAPER, PLACE, TABLES, filled

ROWS = np.random.default_rng(3).permuted(np.tile(np.arange(1.0, 8), (7, 1)), axis=1)


def sentence(sign: float = 1.0) -> dict[str, np.ndarray]:
    """Seven pieces, the first a sink. Raw weights rank as erasure does, or the other way round;
    norms as raw weights."""
    recency = np.tile(np.arange(7.0), (7, 1))
    return {
        "raw": sign * ROWS[None] + 10,
        "norm": sign * ROWS[None] ** 3 + 1000,
        "alti": -(ROWS[None] ** 2),
        "recency": recency[None],
        "sinks": np.arange(7) == 0,
        "states, masked": ROWS,
        "drops, masked": -ROWS,
    }


def over(*signs: float) -> made.Over:
    return made.Over([sentence(sign) for sign in signs], causal=False)


def test_rows_without_sinks_are_averaged_over_sentences_with_an_interval() -> None:
    """Six rows of five keys a sentence. One of two sentences at 1, one at -1: 0, from -1 to 1."""
    found = made.compared(over(1, -1), made.Kind("states", "masked"))
    assert found.rows == 12
    assert found.agreement["raw"] == pytest.approx((0, -1, 1))
    assert made.compared(over(1, 1), made.Kind("states", "masked"), sinks=True).rows == 14
    same = made.compared(over(1, 1, 1), made.Kind("states", "masked"))
    assert same.agreement["raw"] == pytest.approx((1, 1, 1))
    base = same.agreement["recency"].value
    assert abs(base) < 0.9
    assert same.above["raw"] == pytest.approx([1 - base] * 3)
    assert "recency" not in same.above


def test_a_fall_has_a_sign_and_a_movement_has_a_size() -> None:
    """ALTI is -x², the score rises by x: they agree as numbers and as sizes."""
    falls = made.compared(over(1), made.Kind("fall", "masked")).agreement
    assert (falls["alti"].value, falls["raw"].value) == pytest.approx((1, -1))
    sizes = made.compared(over(1), made.Kind("logit", "masked")).agreement
    assert (sizes["alti"].value, sizes["raw"].value) == pytest.approx((1, 1))


def test_identical_rows_are_said_to_be_identical() -> None:
    assert made.alike(over(1, -1)) == [["raw", "norm"]]


def test_effects_are_compared_by_their_sums() -> None:
    """Direct effects 1 and -1, total ones 3 and 1: |total - direct| is 2 and 2 over 1 and 1."""
    numbers = {"zero": [[-3.0, -1.0]], "mean": [[-1.0, 1.0]], "direct": [[1.0, -1.0]]}
    heads = {
        name: np.array(each) for name, each in (numbers | {"direct, mean": [[1.0, -1.0]]}).items()
    }
    found = made.of_effects([heads, heads]).figures
    assert found["Σ|total − direct| / Σ|direct|, to zero"] == pytest.approx((2, 2, 2))
    assert found["Σ|total − direct| / Σ|direct|, to mean"] == pytest.approx((0, 0, 0))
    assert found["Σ|total| / Σ|direct|, to zero"] == pytest.approx((2, 2, 2))
    assert found["zero and mean"].value == pytest.approx(1)


def of(agreement: Mapping[str, float], low: float, about: str = "states") -> Comparison:
    figures = {name: Figure(rho, rho - 0.05, rho + 0.05) for name, rho in agreement.items()}
    above = {name: Figure(low + 0.1, low, low + 0.2) for name in ("raw", "alti")}
    return Comparison(about, "hidden", False, 11, figures, above)


@pytest.fixture
def studies(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {"raw": 0.25, "alti": 0.5, "recency": 0.3, "nearness": 0.1}
    comparisons = [of(numbers, 0.02), of(numbers | {"raw": 0.503}, -0.01, "logit")]
    some = Study(True, 7, comparisons, [0], {}, {}, [], {}, {}, Effects(0, {}))
    encoder = Study(False, 5, comparisons[:1], [0], {}, {}, [], {}, {}, Effects(0, {}))
    monkeypatch.setattr(study, "STUDIES", {"goes on": some, "reads": encoder})


@pytest.mark.usefixtures("studies")
def test_the_trusted_method_is_the_best_one_with_the_best_baseline_beside() -> None:
    found = most_trusted("goes on")
    assert found is not None
    assert (found.method, found.baseline, found.sentences) == ("alti", "recency", 7)
    assert found.words == (
        "**ALTI** agrees most with erasure about the vectors of the words: ρ = 0.50 over 7 "
        "sentences (95 % interval 0.45 to 0.55). *Recency*, which asks no layer of the model, "
        "comes to 0.30."
    )
    logit = most_trusted("goes on", "logit")
    assert logit is not None
    assert (logit.method, logit.as_good, logit.is_above) == ("raw", ("alti",), False)
    assert logit.words.startswith("**Raw weights** and **ALTI** agree most with erasure")
    assert logit.words.endswith("0.30, and it is not sure that the method does better.")


@pytest.mark.usefixtures("studies")
def test_a_model_that_was_not_studied_has_the_study_of_its_kind() -> None:
    for decoder, model in ((True, "goes on"), (False, "reads")):
        found = most_trusted("mine", decoder=decoder)
        assert found is not None
        assert found.model == model
    assert most_trusted("mine") is None
    assert most_trusted("reads", "logit") is None
    with pytest.raises(ValueError, match="one of states, logit, fall, got 'taste'"):
        most_trusted("reads", "taste")


def test_the_paper_has_every_table_and_each_is_that_of_the_study() -> None:
    text = PAPER.read_text("utf-8")
    assert filled(text, study.STUDIES) == text
    assert study.written(study.STUDIES) == study.FILE.read_text("utf-8")
    places = {(model, table) for _, model, table, _ in PLACE.findall(text)}
    for model, found in study.STUDIES.items():
        of_scores = () if found.decoder else ("logit", "fall", "logit by layer")
        assert {table for name, table in places if name == model} == {*TABLES} - {*of_scores}
