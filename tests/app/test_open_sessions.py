"""Links that reach a session that is open already, as by Back: no page shows an error."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from attention.app.state import session
from attention.app.state.pages import Page
from attention.app.state.view import View
from attention.subjects.guide.chapters import CARRIED
from tests.app.test_every_page import every_page
from tests.hostile import links
from tests.running import opened

FEW = 4  # runs: as the browser has it, with its own link, put right, and with the side anew
UNTITLED = "Lesson"  # of a link that carries none that can be read
MANY, VERY_MANY = 10, 300  # links into one session; the more are left to `make soak`


@every_page
@pytest.mark.parametrize("many", [MANY, pytest.param(VERY_MANY, marks=pytest.mark.soak)])
def test_no_link_into_an_open_session_brings_an_error(page, many, monkeypatch):
    draw = random.Random(page.name)
    app = opened(page.name)
    for _, link in links(draw, many):
        app.step_to(page.name, link, monkeypatch)
        carries = page.name == "guide" and link.get("lesson") == CARRIED
        assert app.page_shown == page.name
        assert app.heading[0] == UNTITLED if carries else app.heading[0], link


def test_a_step_of_the_history_to_any_page_ends_after_few_runs(monkeypatch):
    runs: list[str] = []
    enter = session.enter

    def counted(page: Page) -> View:
        runs.append(page.name)
        return enter(page)

    monkeypatch.setattr(session, "enter", counted)
    app = opened("explore")
    for page, link in links(random.Random("history"), 30):
        runs.clear()
        app.step_to(page, link, monkeypatch)
        assert len(runs) <= FEW, (page, link)


def test_texts_typed_into_boxes_of_another_server_are_taken_and_nothing_else_is(monkeypatch):
    sent = {"s:7": "typed", "s2:12345": "", "target:8": "x" * 9999, "mask:7": "causal", "s": "y"}
    sent |= {"s2:" + "9" * 5000: "y", "no setting:7": "y"}
    states = [WidgetState(id=f"$$ID-abc-{key}", string_value=text) for key, text in sent.items()]
    context = SimpleNamespace(session_state=SimpleNamespace(get_widget_states=lambda: states))
    monkeypatch.setattr(session, "get_script_run_ctx", lambda: context)
    boxes = session._boxes_elsewhere()
    assert {name: (box.version, box.held) for name, box in boxes.items()} == {
        "s": (7, "typed"),
        "s2": (12345, ""),
    }
