"""What a page holds that AppTest has run, without a browser."""

from __future__ import annotations

import json
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from streamlit.testing.v1 import AppTest


def said(app: AppTest) -> str:
    """All the page's raw HTML, where a visitor's words may stand escaped."""
    return "\n".join(item.proto.body for item in app.get("html"))


def choice(app: AppTest, name: str) -> Any:
    """The buttons to choose a setting by."""
    return next(item for item in app.get("button_group") if item.key == name)


def messages(app: AppTest) -> list[tuple[dict[str, Any], bytes]]:
    """What the scripts of our components receive: headers, and the bytes behind each."""
    found = []
    for component in app.get("bidi_component"):
        if data := component.proto.bytes:
            end = 4 + int.from_bytes(data[:4], "little")
            found.append((json.loads(data[4:end]), data[end:]))
    return found


def headers(app: AppTest) -> list[dict[str, Any]]:
    """The headers alone."""
    return [header for header, _ in messages(app)]


def offer(app: AppTest) -> dict[str, Any]:
    """The examples there are to take, and the words before them."""
    return dict(_offer(app)[1])


def take(app: AppTest, example: str) -> AppTest:
    """Click one of the examples, as the browser tells the server, and run."""
    component, data = _offer(app)
    states = app._tree.get_widget_states()
    event = [{"event": "example", "value": data["texts"].index(example)}]
    name = f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{component.proto.id}__events"
    states.widgets.append(WidgetState(id=name, json_trigger_value=json.dumps(event)))
    app.query_params.clear()  # as in a browser, the widgets have taken the link over
    app._run(states)
    return app


def _offer(app: AppTest) -> tuple[Any, dict[str, Any]]:
    for component in app.get("bidi_component"):
        data = json.loads(component.proto.json or "{}")
        if "texts" in data:
            return component, data
    raise AssertionError("the page has no examples")
