"""Results that are kept for all visitors."""

from __future__ import annotations

import threading

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attention.app.cached import kept
from attention.app.cached.overviews import rows_in_all_layers
from tests.running import viewed

LONG = 30.0  # seconds


def test_the_results_asked_for_last_are_kept_up_to_so_many():
    asked: list[int] = []

    @kept(2)
    def square(n: int) -> int:
        asked.append(n)
        return n * n

    assert [square(n) for n in (3, 5, 3, 7, 3, 5)] == [9, 25, 9, 49, 9, 25]
    assert asked == [3, 5, 7, 5], "5 made room for 7"
    square.cache_clear()
    assert square(3) == 9
    assert asked[-1] == 3


def test_results_are_kept_up_to_so_many_bytes_and_none_that_is_larger_alone():
    asked: list[int] = []

    @kept(nbytes=100)
    def zeros(count: int) -> Tensor:
        asked.append(count)
        return torch.zeros(count)  # of 4 bytes each

    for count in (11, 13, 11, 13, 3, 11, 29, 29):
        assert zeros(count).numel() == count
    assert asked == [11, 13, 3, 11, 29, 29]

    @kept(nbytes=10)
    def letters(count: int) -> bytes:
        return b"x" * count

    assert len(letters(7) + letters(5)) == 12
    assert letters.cache.currsize == 5


def test_a_key_says_what_a_result_depends_on():
    @kept(7, key=lambda name, teller: name)
    def told(name: str, teller: str) -> str:
        return f"{name} by {teller}"

    assert [told("a", "x"), told("a", "y"), told("b", "y")] == ["a by x", "a by x", "b by y"]


def test_the_rows_of_each_query_are_kept_apart():
    view = viewed("model", s="the cat sat on the mat", model="minilm", special="ignored")
    first, second = (rows_in_all_layers(view, query) for query in (2, 3))
    assert not torch.equal(first, second)
    assert_close(rows_in_all_layers(view, 2), first)


def test_who_asks_for_what_is_being_worked_out_waits_for_it():
    begun, over, asked = threading.Event(), threading.Event(), list[int]()

    @kept(7, together=True)
    def slow(n: int) -> int:
        asked.append(n)
        begun.set()
        assert over.wait(LONG)
        return n

    threads = [threading.Thread(target=slow, args=(3,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert begun.wait(LONG)
    over.set()
    for thread in threads:
        thread.join(LONG)
    assert asked == [3]


@pytest.mark.parametrize("bounds", [{}, {"entries": 3, "nbytes": 5}])
def test_a_bound_is_either_of_entries_or_of_bytes(bounds):
    with pytest.raises(ValueError, match="expected entries or nbytes"):
        kept(**bounds)
