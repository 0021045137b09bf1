"""Values of widgets sent by hand: of another kind, or of the right one and beyond all bounds."""

from __future__ import annotations

import contextlib
import inspect
import math
import re
from typing import Any

import pytest
import streamlit as st
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.state.session_state import WStates
from streamlit.testing.v1 import AppTest

from attention.app.shell import server
from attention.app.state.pages import PAGES
from attention.app.streamlit_fixes import widget_values
from tests.running import TIMEOUT, opened
from tests.serving import ROOT

# Every widget of Streamlit that the app draws, once, and twice where its value may be of two kinds.
WIDGETS = {
    "text_input": 'st.text_input("a", "x", key="text_input", max_chars=5, on_change=hear)',
    "text_area": 'st.text_area("a", "x", key="text_area", on_change=hear)',
    "number_input": 'st.number_input("a", 0, 10, 3, key="number_input", on_change=hear)',
    "number_input real": 'st.number_input("a", 0.0, 9.0, 3.0, key="number_input real")',
    "slider": 'st.slider("a", 0.0, 9.0, 3.0, key="slider", on_change=hear)',
    "select_slider": 'st.select_slider("a", [1, 2, 4], 2, key="select_slider", on_change=hear)',
    "segmented_control": 'st.segmented_control("a", ["u", "v"], key="segmented_control")',
    "pills": 'st.pills("a", [1, 2], selection_mode="multi", key="pills", on_change=hear)',
    "selectbox": 'st.selectbox("a", ["u", "v"], key="selectbox", on_change=hear)',
    "multiselect": 'st.multiselect("a", ["u", "v"], key="multiselect", on_change=hear)',
    "toggle": 'st.toggle("a", key="toggle", on_change=hear)',
    "expander": 'st.expander("a", key="expander", on_change="rerun")',
    "popover": 'st.popover("a", key="popover", on_change="rerun")',
    "button": 'st.button("a", key="button", on_click=hear)',
    "download_button": 'st.download_button("b", "x", key="download_button", on_click=hear)',
    "form_submit_button": 'st.form("f").form_submit_button("a", key="form_submit_button")',
    "file_uploader": 'st.file_uploader("a", key="file_uploader", on_change=hear)',
}
BUTTONS = ("button", "download_button", "form_submit_button")
SWITCHES = ("toggle", "expander", "popover")
SCRIPT = "\n".join(
    [
        "import streamlit as st",
        "hear = lambda: st.session_state.update(heard=True)",
        *WIDGETS.values(),
        f"st.session_state.told = {{name: st.session_state[name] for name in {[*WIDGETS]}}}",
        'st.session_state.called = st.session_state.pop("heard", False)',
    ]
)
DEFAULTS: dict[str, Any] = {
    **{"text_input": "x", "text_area": "x", "number_input": 3, "number_input real": 3.0},
    **{"slider": 3.0, "select_slider": 2, "segmented_control": None, "pills": []},
    **{"selectbox": "u", "multiselect": [], "file_uploader": None},
    **dict.fromkeys(BUTTONS + SWITCHES, False),
}
WITHOUT_VALUE = {"link_button"}
# A kind of value, and a value: those that take it, with what they have then.
SENT: list[tuple[str, Any, dict[str, Any]]] = [
    ("trigger_value", True, dict.fromkeys(BUTTONS, True)),
    ("bool_value", True, dict.fromkeys(SWITCHES, True)),
    ("int_value", 7, {"number_input": 7, "number_input real": 7}),
    ("double_value", 7.0, {"number_input": 7, "number_input real": 7.0}),
    *((kind, value, {}) for kind, value in (("int_value", 2**62), ("int_value", -1))),
    *(("double_value", value, {}) for value in (math.nan, math.inf, -1e308)),
    ("string_value", "new", {"text_input": "new", "text_area": "new"}),
    ("string_value", "v", {"text_input": "v", "text_area": "v", "selectbox": "v"}),
    ("string_value", "", {"text_input": "", "text_area": ""}),
    ("string_value", "y" * 99, {"text_input": "y" * 5, "text_area": "y" * 99}),
    ("string_array_value", ["4"], {"select_slider": 4}),
    ("string_array_value", ["v"], {"segmented_control": "v", "multiselect": ["v"]}),
    ("string_array_value", ["1", "2"], {"pills": [1, 2]}),
    *(("string_array_value", value, {}) for value in ([], ["9"], ["u", "x"], ["v"] * 99)),
    ("double_array_value", [7.0], {"slider": 7.0}),
    *(("double_array_value", value, {}) for value in ([], [math.nan], [1e308], [1.0, 2.0])),
    *(("int_array_value", value, {}) for value in ([], [1], [-1])),
    *(("json_value", value, {}) for value in ("{", "1", '{"a": 1}', "[" * 9999)),
    *(("json_trigger_value", value, {}) for value in ("{", "[1]", '[{"event": 1, "value": 1}]')),
    ("bytes_value", b"x", {}),
    ("arrow_value", None, {}),
    ("file_uploader_state_value", None, {}),  # of one that is not here a page says so itself
    *((kind, "x", {}) for kind in ("string_trigger_value", "chat_input_value")),
]
# Values of the right kind for some, that no browser would send.
BEYOND: list[tuple[str, Any]] = [
    *(("string_value", value) for value in ("", "\x00", "9" * 9999)),
    *(("string_array_value", value) for value in ([], ["9"])),
    *(("double_array_value", value) for value in ([], [math.nan])),
    *[("double_value", math.nan), ("double_value", 1e308), ("int_value", 2**62)],
    *(("file_uploader_state_value", value) for value in (None, "a file that is not here")),
]


@pytest.fixture(autouse=True)
def _as_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the server has it; put back afterwards."""
    for name in ("__getitem__", "set_widget_from_proto"):
        monkeypatch.setattr(WStates, name, getattr(WStates, name))
    server.options()


def state_of(name: str, kind: str, value: Any) -> WidgetState:
    """State of a widget as a browser sends it. name: its id."""
    state = WidgetState(id=name)
    if not hasattr(field := getattr(state, kind), "SetInParent"):
        setattr(state, kind, value)
        return state
    field.SetInParent()
    if kind == "file_uploader_state_value" and value:
        field.uploaded_file_info.add(file_id=value)
    elif isinstance(value, list):
        field.data.extend(value)
    elif value is not None:
        field.data = value
    return state


def every_widget() -> AppTest:
    """An app with every widget."""
    return AppTest.from_string(SCRIPT, default_timeout=TIMEOUT).run()


def send_to_all(app: AppTest, kind: str = "", value: Any = None) -> AppTest:
    """Give all widgets one value in a message; without a kind each has its first one again."""
    known = app._session_state._state
    ids = [str(known.get_widget_id_from_key(name)) for name in WIDGETS]
    states = [state_of(name, kind, value) if kind else WidgetState(id=name) for name in ids]
    return app._run(WidgetStates(widgets=states))


def test_a_widget_takes_values_of_its_kind_within_its_bounds_and_keeps_its_own_else(caplog):
    app = every_widget()
    for kind, value, taken in SENT:
        for sent, expected in ((kind, DEFAULTS | taken), ("", DEFAULTS)):
            send_to_all(app, sent, value)
            assert not app.exception, (kind, value)
            assert app.session_state["told"] == expected, (kind, value)
            assert app.session_state["called"] <= bool(taken), (kind, value)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_each_widget_that_the_app_draws_is_among_these():
    files = [*(ROOT / "attention").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
    named = {name for file in files for name in re.findall(r"\.([a-z_]+)", file.read_text("utf-8"))}
    drawn = set()
    for name in named & {*dir(st)}:
        if callable(drawer := getattr(st, name)) and not isinstance(drawer, type):
            with contextlib.suppress(ValueError):
                given = inspect.signature(drawer).parameters
                drawn |= {name} if given.keys() & {"on_change", "on_click"} else set()
    assert drawn - WITHOUT_VALUE == {name.split()[0] for name in WIDGETS}


def test_streamlit_alone_fails_from_then_on():
    """Once this fails, `attention/app/streamlit_fixes/widget_values.py` can go."""
    WStates.__getitem__ = widget_values._get
    WStates.set_widget_from_proto = widget_values._set
    app = send_to_all(every_widget(), "double_value", 1.0)
    assert app.exception
    assert app._run(WidgetStates()).exception


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_no_page_fails_whatever_its_widgets_are_sent(page, hurried):
    app = opened(page)
    shown = [state.id for state in app._tree.get_widget_states().widgets]
    for kind, value in BEYOND:
        app._run(WidgetStates(widgets=[state_of(name, kind, value) for name in shown]))
