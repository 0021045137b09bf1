"""Means over texts: claims about their intervals, by numbers that can be worked out by hand."""

import pytest

from attention.atlas.passport import Mean
from attention.atlas.statistics import clear_of, mean_of, share_of, student
from tests.properties import given
from tests.properties import strategies as st


def test_a_mean_of_few_lies_within_as_many_standard_errors_as_student_says():
    # deviations -2, 0, 2: variance 8 / 2 = 4, standard error sqrt(4 / 3); t of 2 is 4.3027
    found = mean_of([1.0, 3.0, 5.0])
    assert (found.mean, found.count) == (3.0, 3)
    assert found.high - found.mean == pytest.approx(4.30265 * (4 / 3) ** 0.5, rel=1e-5)
    assert found.mean - found.low == pytest.approx(4.30265 * (4 / 3) ** 0.5, rel=1e-5)


@pytest.mark.parametrize(
    ("freedom", "deviations"),
    [(1, 12.7062), (2, 4.30265), (5, 2.57058), (10, 2.22814), (30, 2.04227), (109, 1.98197)],
)
def test_students_intervals_are_those_of_the_tables(freedom, deviations):
    assert student(freedom) == pytest.approx(deviations, rel=1e-5)


def test_a_mean_of_one_text_has_no_width_and_is_clear_of_nothing():
    assert mean_of([7.0]) == Mean(7.0, 7.0, 7.0, 1)
    assert clear_of(mean_of([7.0]), 0) == 0


def test_a_share_has_the_interval_of_wilsons_score():
    # half of 4: (2 + z² / 2) / (4 + z²) ± z / (4 + z²) sqrt(1 + z² / 4)
    found, squared = share_of(2, 4), 1.96**2
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.5 - 1.96 / (4 + squared) * (1 + squared / 4) ** 0.5)
    assert found.high == pytest.approx(1 - found.low)


def test_a_share_of_none_is_not_known_to_be_none():
    # of 0 counted among n the upper end is z² / (n + z²)
    assert share_of(0, 17).low == 0
    assert share_of(0, 17).high == pytest.approx(1.96**2 / (17 + 1.96**2))
    assert share_of(17, 17).high == 1


@given(st.integers(1, 500), st.data())
def test_a_share_lies_in_its_interval_within_0_and_1(of, data):
    found = share_of(data.draw(st.integers(0, of)), of)
    assert 0 <= found.low <= found.mean <= found.high <= 1


def test_a_number_lies_above_below_or_within_an_interval():
    assert clear_of(mean_of([2.0, 2.1]), 1) == 1
    assert clear_of(mean_of([2.0, 2.1]), 5) == -1
    assert clear_of(mean_of([2.0, 3.0]), 1) == 0  # of two texts, 12.7 standard errors of a half


def test_nothing_is_told_without_a_text():
    with pytest.raises(ValueError, match="at least one text, got none"):
        mean_of([])
    with pytest.raises(ValueError, match="got 0 of 0"):
        share_of(0, 0)
    with pytest.raises(ValueError, match="got 3 of 2"):
        share_of(3, 2)
