"""Adding: what lacks a part, or has a name that is taken, is refused where it is declared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from torch import Tensor

from attention.analysis.associations import METHODS, Followed, Method
from attention.analysis.associations.method import register as register_method
from attention.analysis.heads import MEASURES, NAMINGS, Measure, by_name
from attention.app.state.pages import PAGES, Page
from attention.core.variants import VARIANTS, DotProduct, Variant
from attention.core.variants import register as register_variant
from attention.trained.layouts import LAYOUTS, Layout
from attention.training import TASKS
from attention.training.tasks.base import Task
from attention.training.tasks.base import register as register_task


def variant() -> None:
    @register_variant
    class Squared(Variant):
        """Scores that are squared."""

        name = "squared"
        title = "Squared"
        formula = "y_i"


def variant_of_untold_weights() -> None:
    @register_variant
    class Unsaid(DotProduct):
        """Scores as weights."""

        name = "unsaid"

        def weigh(self, scores: Tensor, mask: Tensor | None) -> Tensor:
            return scores


def variant_of_a_name_that_is_taken() -> None:
    register_variant(VARIANTS["dot"])


def method() -> None:
    @register_method
    class Greatest(Method):
        """The greatest weight."""

        name = "greatest"
        title = "Greatest weights"
        source = "nobody"

        def number(self, followed: Followed) -> Tensor:
            return followed.hidden


def task() -> None:
    @register_task
    class Reverse(Task):
        name = "reverse"
        before = "Backwards."
        handicaps = ("no mask",)


def layout() -> None:
    class Tea(Layout):
        """Tea."""

        model_type = "tea"
        source = "nobody"
        prefix = ""


def layout_of_a_family_alike() -> None:
    class Ernie(LAYOUTS["bert"]):
        """ERNIE."""

        model_type = "ernie"


def measure() -> None:
    Measure("last", "the last token")


def measure_of_a_name_that_is_taken() -> None:
    by_name(MEASURES["first"], MEASURES["first"])


def page() -> None:
    Page("tea", "", "how sweet it is", purpose="", words=("tea",))


LACKING: dict[Callable[[], None], str] = {
    variant: "variant Squared lacks its source and scores",
    variant_of_untold_weights: "variant Unsaid must have both weigh and weighing, or neither",
    variant_of_a_name_that_is_taken: "variant 'dot' is registered already",
    method: "method of association Greatest lacks its definition and steps",
    task: "task Reverse lacks its title, usual, curves, after, batch, example, learners, tests and "
    "docstring",
    layout: "layout Tea lacks its reference, settings, embedding and layer",
    layout_of_a_family_alike: "layout Ernie lacks its source and reference",
    measure: "measure 'last' must have words, and a number or targets",
    measure_of_a_name_that_is_taken: r"each measure must have a name of its own, got \['first'\]",
    page: "page 'tea' lacks its title, purpose and explanation of tea",
}


@pytest.mark.parametrize("declare", LACKING, ids=lambda declare: declare.__name__)
def test_a_missing_part_is_named_where_it_is_declared(declare):
    known = [[*each] for each in (VARIANTS, METHODS, TASKS, LAYOUTS, MEASURES, NAMINGS)]
    with pytest.raises(ValueError, match=f"^{LACKING[declare]}$"):
        declare()
    assert [[*each] for each in (VARIANTS, METHODS, TASKS, LAYOUTS, MEASURES, NAMINGS)] == known


def test_each_page_has_a_name_of_its_own_and_a_file():
    names = [page.name for page in PAGES]
    assert len({*names}) == len(names)
    for page in PAGES:
        assert (Path(__file__).parents[1] / page.path).is_file(), page.name
