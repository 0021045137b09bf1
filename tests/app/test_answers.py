"""Messages sent by hand in the place of a browser: nothing fails, nothing changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from attention.app.components.answers import (
    MAX_ANSWERS,
    MAX_EVENTS,
    checked,
)
from attention.app.components.turns import KEYS
from attention.app.state.openings import ALL_WORDS
from tests.app.declarations import declarations
from tests.running import opened

SELECTION = {"query": 1, "stage": "scores"}
TYPED = {"matrix": 0, "row": 0, "column": 1, "text": "2"}
HOW, ALL = {"fold": "how"}, {"words": ALL_WORDS}
HEADS = {"fold": "all heads", "variant": "multihead"}
# Every component that answers: its page, a link, its key, an event, and an answer that fits.
ANSWERS = (
    ("cross", {"mask": "cells"}, "mask_grid", "paint", {"cells": [[0, 1]], "allowed": False}),
    ("explore", {}, "examples", "example", 1),
    ("explore", {}, "selection", "selection", SELECTION),
    ("explore", HOW, "rows", "cell", [1, 1]),
    ("explore", HOW | ALL, "matrices", "cell", [1, 1]),
    ("explore", HEADS, "rows", "row", 1),
    ("explore", HEADS, "rows", "marked", [1]),
    ("explore", HEADS, "rows", "turn", 1),
    ("explore", HEADS | ALL, "head_grid", "head", 1),
    ("explore", {"fold": "against", "differs": "scale"}, "rows", "factor", 0.5),
    ("explore", {"input": "matrices"}, "typed_matrices", "typed", TYPED),
    ("operations", {}, "picture_0", "cell", [0, 1]),
    ("operations", {}, "sizes", "resized", {"stack": "bmm_a", "change": "+ row"}),
)
each_answer = pytest.mark.parametrize(
    ("page", "link", "key", "event", "fitting"),
    [pytest.param(*answer, id=f"{answer[0]} {answer[2]} {answer[3]}") for answer in ANSWERS],
)
EVENTS = sorted({answer[3] for answer in ANSWERS})
MANY = 10**5  # more than the gate lets through
# Answers that fit no page, by the events whose shape they have: those need the page to tell.
SHAPED: tuple[tuple[set[str], tuple[Any, ...]], ...] = (
    ({"factor"}, (11.5, -0.5)),
    ({"factor", "example", "head", "row", "turn"}, (10**4000, -2, 10**9)),
    ({"marked", "cell"}, ([0, 10**9], [0, -1], [10**4000, -1])),
    ({"marked"}, ([0, 1, 10**9],)),
    ({"typed"}, ({**TYPED, "matrix": 9}, {**TYPED, "row": -1}, {**TYPED, "column": 10**4000})),
    ({"resized"}, ({"stack": "s", "change": "+ row"}, {"stack": "bmm_a", "change": "+ all"})),
    ({"paint"}, ({"cells": [[0, 10**9]], "allowed": False},)),
    (
        {"selection"},
        (
            *({"query": query, "stage": "none"} for query in (-1, 10**9, 10**4000)),
            *({"query": 4096, "stage": stage} for stage in ("<b>", "", "x" * 9000)),
        ),
    ),
    (
        set(),
        (
            *("", "nope", None, float("nan"), [float("nan"), 0], [0, float("nan")]),
            *([True, True], [[[[]]]]),
            *([0, -0.5], [0.5, 0.5], [0, 0.5, 1], [["1"]] * MANY, [["1"] * 9000]),
            *({"cells": [[0, 1]] * many, "allowed": False} for many in (MANY, 5001)),
            *({"cells": cells, "allowed": False} for cells in ([[0]], None)),
            *({"cells": [[0, 1]], "allowed": 0}, {"values": SELECTION}, {"query": 1}),
            *({"query": 1, "stage": ["scores"]}, {"query": 1.0, "stage": "scores"}),
            SELECTION | {"s": "x"},
        ),
    ),
)
WRONG = [(wrong, shaped) for shaped, answers in SHAPED for wrong in answers]
NO_EVENTS = (
    *("", "{", "null", "1", '{"event": "head", "value": 1}', '[{"event": "head"}]'),
    *('[{"value": 1}, 1, null, [1]]', '[{"event": ["head"], "value": 1}]'),
    '[{"event": "__class__", "value": 1}]',
    *(
        f'[{{"event": "head", "value": {value}}}]'
        for value in ("1", "[true, 1]", "[1]", "[1, 1, 1]")
    ),
    *("[" * 50_000, "9" * 50_000, " " * MAX_ANSWERS + '[{"event": "head", "value": 1}]'),
)
FIELDS = {
    **{"trigger_value": True, "bool_value": True, "double_value": 1.0, "int_value": 1},
    **{"string_value": "x", "json_value": '{"selection": 1, "paint": 1}', "bytes_value": b"x"},
}


def events(event: str, *values: object) -> str:
    return json.dumps([{"event": event, "value": [1, value]} for value in values])


def of_events(component: str) -> str:
    """The id under which the events of a component are sent; component: its own."""
    return f"$$STREAMLIT_INTERNAL_KEY_{component}__events"


def stating(*states: tuple[str, str, object]) -> BackMsg:
    message = BackMsg()
    message.rerun_script.query_string = "s=a"
    for name, field, value in states:
        widget = message.rerun_script.widget_states.widgets.add(id=name)
        setattr(widget, field, value)
    return message


def let_through(*states: tuple[str, str, object]) -> list[tuple[str, object]]:
    """The field and the value of each state that gets past the gate."""
    _, data = checked(stating(*states).SerializeToString())
    if data is None:
        return []
    widgets = BackMsg.FromString(data).rerun_script.widget_states.widgets
    return [(kind, getattr(one, kind)) for one in widgets for kind in [one.WhichOneof("value")]]


def told(sent: str) -> object:
    """Part of a component's events that gets past the gate, None: nothing."""
    passed = let_through((of_events("$$ID-1-a"), "json_trigger_value", sent))
    return json.loads(str(passed[0][1])) if passed else None


def test_the_gate_takes_answers_for_their_shape_and_the_last_of_many():
    declarations()  # loads all figures
    for *_, event, fitting in ANSWERS:
        assert told(events(event, fitting)) == [{"event": event, "value": [1, fitting]}]
    repeated = json.loads(events("head", *range(1000))) + json.loads(events("factor", 1, 2.5))
    last = [{"event": "head", "value": [1, 999]}, {"event": "factor", "value": [1, 2.5]}]
    assert told(json.dumps(repeated)) == last
    early = json.loads(events("head", 1)) + json.loads(events("factor", *[2.5] * MAX_EVENTS))
    assert told(json.dumps(early)) == last[1:], "so many are looked at, from the last one on"
    for wrong, shaped in WRONG:
        passed = {event for event in EVENTS if told(events(event, wrong))}
        assert passed == shaped, str(wrong)[:80]
    assert not any(map(told, NO_EVENTS))


def test_the_gate_leaves_states_of_widgets_as_they_are_and_takes_none_of_a_component():
    assert let_through(("$$ID-1-s", "string_value", "x")) == [("string_value", "x")]
    KEYS.add("selection")
    for field, value in FIELDS.items():
        assert not let_through(("$$ID-1-selection", field, value))
        assert not let_through((of_events("$$ID-1-selection"), field, value))


@each_answer
def test_an_answer_that_does_not_fit_the_page_changes_nothing(page, link, key, event, fitting):
    def now() -> tuple[object, ...]:
        return app.values, {**app.query_params}, app.selection if "selection" in app.sent else None

    app = opened(page, **link)
    before = now()
    for wrong in [None, *(wrong for wrong, shaped in WRONG if event in shaped)]:
        app.tell(key, event, wrong)
        assert now() == before, str(wrong)[:80]
