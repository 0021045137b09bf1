"""Heads with a name, on the window of a model."""

from __future__ import annotations

from attention.analysis.names import names_of
from attention.display import trained
from attention.display.switches import NAMES
from tests.running import App, opened
from tests.trained.packaged import packaged

SENTENCE = "the animal did not cross the street because it was too tired"


def visit(name: str = "minilm", **link: object) -> App:
    packaged(name)
    return opened("model", **{"model": name, "s": SENTENCE, "query": 9, "more": NAMES} | link)


def table(app: App, column: str) -> dict[str, list[str]]:
    (found,) = (table for table in app.tables if column in table)
    return found


def test_the_window_says_of_a_head_with_a_name_where_it_usually_looks() -> None:
    (named,) = (
        one for one in names_of("minilm") if (one.name, one.layer, one.head) == ("noun", 1, 3)
    )
    told = visit(lens="looks").sent["model_window"].header["told"]
    assert f"{100 * named.share:.0f} % of {named.over}" in told[1 * 12 + 3]
    assert "usually" not in told[3 * 12 + 11]


def test_a_name_leads_to_its_head_on_its_best_sentence() -> None:
    name = "minilm"
    app = visit()
    shown = table(app, "looks most at")[""]
    best = trained.best_named(names_of(name))
    assert shown == [named.name for named in best]
    at = len(shown) - 1
    app.tell("named_heads", "example", at)
    window = app.sent["model_window"].header
    assert divmod(window["chosen"], window["heads"]) == (best[at].layer, best[at].head)
    assert app.values["s"] == best[at].best


def test_a_model_that_was_not_measured_has_no_names() -> None:
    app = visit("pt-en")
    assert "named_heads" not in app.sent
