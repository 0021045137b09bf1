"""Links that are saved as files: the figure that the app shows there, or why there is none."""

from __future__ import annotations

import pytest

import attention
from attention.figures.worked_out import page_of_scene
from attention.subjects.play import scene as play
from tests.running import viewed


def test_a_link_is_saved_as_the_figure_that_it_shows(tmp_path):
    attention.save_link("explore?s=a+cat+sat&query=1", tmp_path / "figure.html")
    arcs = play.arcs(viewed("explore", s="a cat sat", query=1))
    expected = page_of_scene(arcs, "Play · a cat sat", 1)
    assert (tmp_path / "figure.html").read_text("utf-8") == expected


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("nowhere?s=a", "a link to one of .*Play.* is expected, not “nowhere"),
        ("cross?s=a", "link must begin with one of explore, model, learning, got 'cross"),
        ("learning?task=race&learn_seed=77", "a finished training is expected, got .*77"),
    ],
)
def test_a_link_without_such_a_figure_is_refused(link, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        attention.save_link(link, tmp_path / "figure.html")
