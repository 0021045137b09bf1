"""Every kind of message that Streamlit's protocol knows, made by hand."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.proto.ClientState_pb2 import ClientState

from attention.app.components.answers import (
    BOUNDS,
    MAX_DROPPED,
    MAX_FILES,
    MAX_ID,
    MAX_MESSAGE,
    MAX_PARTS,
    MAX_RATE,
    MAX_WIDGETS,
    MESSAGE_BYTES,
    checked,
    only_of_pages,
)
from attention.hosting import metrics
from attention.hosting.websocket_filter import WebsocketFilter

KINDS = set(BackMsg.DESCRIPTOR.fields_by_name)
REFUSED = {
    "clear_cache",  # empties what all visitors share
    "set_run_on_save",
    "load_git_info",  # calls git
    "debug_disconnect_websocket",
    "debug_shutdown_runtime",
}


def of_kind(kind: str) -> BackMsg:
    """The least message of a kind that a page of ours could send."""
    if kind == "backend_operation_request":
        return BackMsg(backend_operation_request={"deferred_file": {"file_id": "a"}})
    if BackMsg.DESCRIPTOR.fields_by_name[kind].message_type:
        message = BackMsg()
        getattr(message, kind).SetInParent()
        return message
    return BackMsg(**{kind: True})


def passes(message: BackMsg) -> bool:
    kind, data = checked(message.SerializeToString())
    assert kind == message.WhichOneof("type")
    assert data in (None, message.SerializeToString())
    return data is not None


def test_every_kind_that_the_protocol_knows_is_let_through_or_refused_by_name():
    assert {*BOUNDS} | REFUSED == KINDS, "decide of a new kind if a page of ours sends it"
    assert not {*BOUNDS} & REFUSED
    operations = BackendOperationRequest.DESCRIPTOR.oneofs_by_name["payload"].fields
    assert {field.name for field in operations} == {
        *("deferred_file", "install_skills", "dismiss_skills_nudge", "dataframe_chunk")
    }
    assert {*ClientState.DESCRIPTOR.fields_by_name} == {
        *("query_string", "widget_states", "page_script_hash", "page_name", "fragment_id"),
        *("is_auto_rerun", "cached_message_hashes", "context_info", "is_history_navigation"),
    }


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_only_kinds_that_a_page_sends_pass(kind):
    assert passes(of_kind(kind)) == (kind not in REFUSED)


@pytest.mark.parametrize("payload", ["install_skills", "dismiss_skills_nudge", "dataframe_chunk"])
def test_of_operations_only_a_download_passes(payload):
    assert not passes(BackMsg(backend_operation_request={payload: {}}))
    assert not passes(BackMsg(backend_operation_request={}))


def test_each_kind_has_a_bound_of_its_own():
    files = [BackMsg(file_urls_request={"file_names": [""] * n}) for n in (1, 16, 17, 250_000)]
    assert list(map(passes, files)) == [True, True, False, False]
    assert MAX_FILES == 16
    for names in ({"page_script_hash"}, {"page_name"}, {"fragment_id"}):
        for letters in (MAX_ID, MAX_ID + 1):
            run = dict.fromkeys(names, "x" * letters)
            assert passes(BackMsg(rerun_script=run)) == (letters == MAX_ID)
    for number in (MAX_WIDGETS, MAX_WIDGETS + 1):
        widgets = [{"id": f"$$ID-{each}-s", "bool_value": True} for each in range(number)]
        run = {"widget_states": {"widgets": widgets}}
        assert passes(BackMsg(rerun_script=run)) == (number == MAX_WIDGETS)


def test_nothing_is_repeated_more_often_than_a_page_does():
    """At any depth, and of many widgets together."""
    for number in (100, MAX_PARTS):
        names, value = [""] * number, {"uploaded_file_info": [{}] * number}
        for run in (
            {"cached_message_hashes": names},
            {"widget_states": {"widgets": [{"id": "a", "string_array_value": {"data": names}}]}},
            {"widget_states": {"widgets": [{"id": "a", "file_uploader_state_value": value}]}},
        ):
            assert passes(BackMsg(rerun_script=run)) == (number == 100)
    some = {"id": "a", "double_array_value": {"data": [0.0] * 100}}
    assert not passes(BackMsg(rerun_script={"widget_states": {"widgets": [some] * 50}}))


def test_what_is_no_message_does_not_pass():
    long = BackMsg(rerun_script={"query_string": "x" * MAX_MESSAGE}).SerializeToString()
    for none in (b"\xff" * 100, b"", long):
        assert checked(none) == ("none", None)


RATE = 20.0  # messages a second


def visit(*messages: BackMsg) -> tuple[list[str | None], list[dict[str, Any]], float]:
    """A websocket of these messages: kinds that the server gets, what is sent, seconds waited."""
    sent: list[dict[str, Any]] = []
    got: list[str | None] = []
    coming = [
        {"type": "websocket.receive", "bytes": message.SerializeToString()} for message in messages
    ]
    waited = [0.0]

    async def receive() -> dict[str, Any]:
        return coming.pop(0) if coming else {"type": "websocket.disconnect", "code": 1001}

    async def send(message: Any) -> None:
        sent.append(message)

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        while (message := await receive())["type"] == "websocket.receive":
            got.append(BackMsg.FromString(message["bytes"]).WhichOneof("type"))

    async def sleep(seconds: float) -> None:
        waited[0] += seconds

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(asyncio, "sleep", sleep)
        gate = functools.partial(only_of_pages, rate=RATE)
        scope = {"type": "websocket", "path": "/", "headers": []}
        asyncio.run(WebsocketFilter(app, gate)(scope, receive, send))
    return got, sent, waited[0]


def test_a_message_that_is_dropped_is_counted_and_a_websocket_that_repeats_it_is_closed():
    def dropped() -> float:
        labels = {"kind": "clear_cache"}
        return metrics.REGISTRY.get_sample_value("attention_dropped_messages_total", labels) or 0.0

    before, run, clear = dropped(), of_kind("rerun_script"), of_kind("clear_cache")
    got, sent, _ = visit(*[clear] * MAX_DROPPED, run)
    assert (got, sent, dropped() - before) == (["rerun_script"], [], MAX_DROPPED)
    got, sent, _ = visit(*[clear] * (MAX_DROPPED + 1), run)
    assert got == []
    assert [(message["type"], message["code"]) for message in sent] == [("websocket.close", 1008)]


LONG = BackMsg(rerun_script={"query_string": "&".join(["x" * 200] * (MESSAGE_BYTES // 200 + 1))})


@pytest.mark.parametrize(
    ("message", "rate"),
    [
        (of_kind("rerun_script"), RATE),
        (LONG, RATE / 2),  # counts as two
        *((of_kind(kind), MAX_RATE) for kind in sorted({*BOUNDS} - {"rerun_script"})),
    ],
    ids=lambda each: each.WhichOneof("type") if isinstance(each, BackMsg) else "",
)
def test_messages_of_ten_seconds_come_at_once_and_further_ones_wait(message, rate):
    many = int(10 * rate)
    got, _, waited = visit(*[message] * many)
    assert (len(got), waited) == (many, pytest.approx(0.0, abs=0.1))
    waits = visit(*[message] * (many + 3))[2]  # 1, 2 and 3 turns, as time stands
    assert waits == pytest.approx(6 / rate, abs=0.5)
