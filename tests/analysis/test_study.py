"""The study of associations: how agreement is added up, which method is trusted, its paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from attention.analysis import study
from attention.analysis.study import Comparison, Difference, Effects, Figure, Study, most_trusted
from benchmarks import study as made
from benchmarks import study_parts as parts
from benchmarks import study_statistics as statistics
from benchmarks.study_tables import PAPER, PLACE, TABLES, filled

ROWS = np.random.default_rng(3).permuted(np.tile(np.arange(1.0, 8), (7, 1)), axis=1)


def sentence(sign: float = 1.0) -> dict[str, np.ndarray]:
    """Seven pieces, the first a sink. Raw weights rank as erasure, or the other way round."""
    recency = np.tile(np.arange(7.0), (7, 1))
    return {
        "raw-mean": sign * ROWS[None] + 10,
        "alti": ROWS[None] ** 2,
        "recency": recency[None],
        "sinks": np.arange(7) == 0,
        "states, masked": ROWS,
        "drops, masked": -ROWS,
    }


def halved(*signs: float) -> made.Over:
    """Sentences to confirm on, each behind the same one to choose on."""
    return over(*(sign for sign in signs for _ in range(2)))


def over(*signs: float) -> made.Over:
    return made.Over([sentence(sign) for sign in signs], causal=False)


STATES = made.Kind("states", "masked")


def test_rows_without_sinks_are_averaged_over_sentences_with_an_interval():
    """Six rows of five keys a sentence. One of two sentences at 1, one at -1: 0, from -1 to 1."""
    found = made.compared(halved(1, -1), STATES)
    assert found.rows == 12
    assert found.agreement["raw-mean"] == pytest.approx((0, -1, 1))
    assert made.compared(halved(1, 1), STATES, sinks=True).rows == 14
    same = made.compared(halved(1, 1, 1), STATES)
    assert same.agreement["raw-mean"] == pytest.approx((1, 1, 1))
    base = same.agreement["recency"].value
    assert abs(base) < 0.9
    assert same.above["raw-mean"][:3] == pytest.approx([1 - max(0, base)] * 3)
    assert "recency" not in same.above


def test_a_fall_has_a_sign_and_a_movement_has_a_size():
    """The score rises by x: as a fall it ranks the other way round."""
    falls = made.compared(halved(1), made.Kind("fall", "masked")).agreement
    assert falls["raw-mean"].value == pytest.approx(-1)
    sizes = made.compared(halved(1), made.Kind("logit", "masked")).agreement
    assert sizes["raw-mean"].value == pytest.approx(1)


def test_the_best_method_and_baseline_are_chosen_on_one_half_alone():
    """Raw weights are right where one chooses, ALTI where one confirms."""
    chosen = sentence(1) | {"alti": -ROWS[None]}
    found = made.compared(made.Over([chosen, sentence(-1)], False), STATES)
    assert found.method == "raw-mean"
    assert found.agreement["raw-mean"].value == pytest.approx(-1)
    assert found.beside["alti"].value == pytest.approx(2)


def test_halves_are_every_other_sentence_and_share_none():
    assert statistics.halves([0, 1, 2, 3, 4]) == ([0, 2, 4], [1, 3])


def test_p_is_corrected_for_the_number_of_differences_as_in_holms_steps():
    """.01 · 4, .02 · 3, .03 · 2 and .5: the third is not below the second."""
    ps = {"c": 0.03, "a": 0.01, "d": 0.5, "b": 0.02}
    assert statistics.holm(ps) == pytest.approx({"c": 0.06, "a": 0.04, "d": 0.5, "b": 0.06})
    assert statistics.holm({"a": 0.4, "b": 0.5, "c": 0.6}) == {"a": 1, "b": 1, "c": 1}
    assert statistics.holm({"a": 0.04}) == {"a": 0.04}


def test_p_is_twice_the_share_of_samples_on_the_rarer_side():
    """Of nine samples two lie below 0, and one is added: 2 · 3 / 10. No difference is 1."""
    samples = np.array([-1.0, -2.0, 1, 2, 3, 4, 5, 6, 7])
    assert statistics.p_of(samples) == pytest.approx(0.6)
    assert statistics.p_of(-samples) == pytest.approx(0.6)
    assert statistics.p_of(np.ones(9)) == pytest.approx(0.2)
    assert statistics.p_of(np.full(9, 1e-17)) == 1


def test_a_paired_difference_is_narrow_where_both_vary_together():
    """Over two sentences one name is 0 and 1, the other .1 more in each: .1 in every sample."""
    above = np.array([[0.0, 0.1], [1.0, 1.1]])
    both = statistics.sampled(statistics.Sums(above, np.ones((2, 2))))
    one, other = (statistics.Sampled(both.whole[at], both.samples[:, at]) for at in (0, 1))
    assert statistics.figure(*one) == pytest.approx((0.5, 0, 1))
    apart = statistics.differences({"other": other}, one)["other"]
    assert apart[:3] == pytest.approx((0.1, 0.1, 0.1))
    assert apart.is_above
    assert apart.p < 0.001
    back = statistics.differences({"one": one}, other)["one"]
    assert back.is_below
    assert not back.is_above


def test_nothing_is_gained_by_a_baseline_below_zero():
    """-.2 lies above -.5, and below no order at all: -.2 above max(0, -.5)."""
    low, lower = (statistics.Sampled(np.array(rho), np.full(9, rho)) for rho in (-0.2, -0.5))
    found = statistics.differences({"low": low}, lower, at_least=0.0)["low"]
    assert found.value == pytest.approx(-0.2)
    assert statistics.differences({"low": low}, lower)["low"].value == pytest.approx(0.3)


def test_kept_parts_are_of_all_code_that_works_them_out():
    """Another version of a module that parts depend on makes them anew, others do not."""
    names = {str(file.relative_to(parts.ROOT / "attention")) for file in parts.makers()}
    assert {"core/functional.py", "trained/models.py", "changing/residual.py"} <= names
    assert {"analysis/associations/weights.py", "analysis/associations/baselines.py"} <= names
    assert not {"analysis/study.py", "analysis/names.py"} & names


def test_effects_are_compared_by_their_sums():
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


def of(way: str, agreement: Mapping[str, float], p: float, about: str = "states") -> Comparison:
    """A comparison whose halves agree, with the same p for each difference."""
    figures = {name: Figure(rho, rho - 0.05, rho + 0.05) for name, rho in agreement.items()}
    found = Comparison(about, way, False, 11, agreement, figures, {}, {})

    def beside(other: float) -> dict[str, Difference]:
        return {
            name: Difference(agreement[name] - other, 0, 0, p)
            for name in agreement
            if name in ("raw-mean", "alti")
        }

    base = max(0.0, agreement[found.baseline])
    return replace(found, above=beside(base), beside=beside(agreement[found.method]))


@pytest.fixture
def studies(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {"raw-mean": 0.25, "alti": 0.5, "recency": 0.3, "nearness": 0.1}
    ways = [of("masked", numbers | {"raw-mean": 0.6}, 0.01), of("hidden", numbers, 0.01)]
    comparisons = [*ways, of("hidden", numbers | {"raw-mean": 0.503}, 0.5, "logit")]
    some = Study(True, 14, comparisons, [0], {}, {}, Effects(0, {}))
    encoder = Study(False, 10, ways, [0], {}, {}, Effects(0, {}))
    monkeypatch.setattr(study, "STUDIES", {"goes on": some, "reads": encoder})


@pytest.mark.usefixtures("studies")
def test_the_trusted_method_is_the_one_that_does_least_badly_whichever_way_is_taken():
    """Raw weights lead by .1 where words are masked, and lie below a baseline where hidden."""
    found = most_trusted("goes on")
    assert (found.method, found.sentences, found.is_above) == ("alti", 7, True)
    assert found.words == (
        "**ALTI** lies furthest above orders that ask no layer of the model, in the worst way of "
        "erasure for it, about the vectors of the words: ρ = 0.50 [0.45, 0.55] masked (less than "
        "Raw weights, mean over layers, 0.60 [0.55, 0.65]) and 0.50 [0.45, 0.55] hidden, over 7 "
        "sentences that it was not chosen on [95 % interval]. The best of those orders come to "
        "0.30 [0.25, 0.35] (recency) and 0.30 [0.25, 0.35] (recency)."
    )
    logit = most_trusted("goes on", "logit")
    assert (logit.method, logit.is_above) == ("raw-mean", False)
    assert logit.words.endswith("(recency). It is not sure that the method does better.")


def test_a_method_below_a_baseline_that_lies_below_zero_has_no_margin_over_it():
    one = of("hidden", {"raw-mean": -0.1, "alti": 0.2, "recency": -0.5}, 0.5)
    assert (one.margin("raw-mean"), one.margin("alti")) == pytest.approx((-0.1, 0.2))


@pytest.mark.usefixtures("studies")
def test_a_model_that_was_not_studied_has_the_study_of_its_kind():
    for decoder, model in ((True, "goes on"), (False, "reads")):
        found = most_trusted("mine", decoder=decoder)
        assert found.model == model
    assert most_trusted("mine") is None
    assert most_trusted("reads", "logit") is None
    with pytest.raises(ValueError, match="one of states, logit, fall, got 'taste'"):
        most_trusted("reads", "taste")


def test_the_paper_has_every_table_and_each_is_that_of_the_study():
    text = PAPER.read_text("utf-8")
    assert filled(text, study.STUDIES) == text
    assert study.written(study.STUDIES) == study.FILE.read_text("utf-8")
    places = {(model, table) for _, model, table, _ in PLACE.findall(text)}
    for model, found in study.STUDIES.items():
        of_scores = {table for table in TABLES if table.split()[0] in ("logit", "fall", "in")}
        expected = {*TABLES} if found.decoder else {*TABLES} - of_scores
        assert {table for name, table in places if name == model} == expected


def test_what_the_paper_says_beside_its_tables_is_so():
    minilm, smollm2 = (study.STUDIES[name] for name in ("minilm", "smollm2"))
    assert (minilm.sentences, smollm2.sentences, statistics.SAMPLES) == (200, 200, 10_000)
    assert {one.main().method for one in (minilm, smollm2)} == {"raw-mean"}
    assert {way.method for way in minilm.ways()} == {"raw-mean", "alti"}  # hangs on the way
    assert smollm2.recency["rollout"] < -0.7


def test_the_paper_opens_with_its_limits():
    """With sinks counted no method is surely above the baselines, but for the fall of a score."""
    _, _, first, *_ = PAPER.read_text("utf-8").split("\n\n")
    for one in study.STUDIES["smollm2"].comparisons:
        if one.sinks:
            sure = any(each.is_above for each in one.above.values())
            assert sure == (one.about == "fall")
            assert study.ABOUT[one.about] in first
    fall = most_trusted("smollm2", "fall")
    assert fall.agreement in first
