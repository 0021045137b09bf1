"""Streamlit alone, as docs/upstream.md says: once one of these fails, ours can go."""

from __future__ import annotations

import asyncio
import contextlib
import re
import runpy
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import websockets
from streamlit import net_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.deploy.cutting import cutting
from tests.serving import ROOT, running

pytestmark = pytest.mark.soak

REPORTS = (ROOT / "docs" / "upstream.md").read_text("utf-8").split("\n## ")[1:]
Serve, Open = Callable[[str], int], Callable[..., Any]
PHONE = {"width": 390, "height": 800}


def script_of(words: str) -> str:
    """The script of the one report whose title has these words in it."""
    (report,) = (report for report in REPORTS if words in report.partition("\n")[0])
    return report.split("```python\n")[1].split("```")[0]


def test_the_reports_name_files_and_names_that_there_are():
    for report in REPORTS:
        *_, goes = report.rpartition("**Goes:**")
        named = re.findall(r"`([^`]+)`", goes)
        files = [ROOT / each for each in named if re.match(r"(attention|tests|\.streamlit)/", each)]
        assert files, report.partition("\n")[0]
        assert all(file.exists() for file in files), goes
        text = "".join(file.read_text("utf-8") for file in files if file.is_file())
        for name in (each for each in named if each.isidentifier()):
            assert re.search(rf"\b{name}\b", text), (name, goes)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[[str], int]]:
    """Serves the script of a report by Streamlit as it is, and gives the port."""
    with contextlib.ExitStack() as stack:

        def serve(words: str) -> int:
            (tmp_path / "app.py").write_text(script_of(words), "utf-8")
            command = [sys.executable, "-m", "streamlit", "run", "app.py"]
            port, _ = stack.enter_context(running(command, subprocess.DEVNULL, tmp_path))
            return port

        yield serve


@contextlib.asynccontextmanager
async def connected(port: int, *names: str) -> AsyncIterator[tuple[Callable[[], Any], ...]]:
    """A websocket as Streamlit's page opens it; gives what waits for its next message, and what
    asks for a run."""
    async with websockets.connect(
        f"ws://127.0.0.1:{port}/_stcore/stream",
        subprotocols=[websockets.Subprotocol(name) for name in ("streamlit", *names)],
        origin=websockets.Origin(f"http://127.0.0.1:{port}"),
    ) as socket:

        async def ask(**asked: str) -> None:
            await socket.send(BackMsg(rerun_script=asked).SerializeToString())

        async def come() -> ForwardMsg:
            return ForwardMsg.FromString(await asyncio.wait_for(socket.recv(), 30))

        if not names:
            await ask(query_string=QUERY)
        yield come, ask


QUERY = "&".join(f"n{number}=" for number in range(1001))


def test_a_run_that_was_cut_is_told_as_a_finished_one(served):
    async def visit(port: int) -> tuple[str, int]:
        session = ""
        async with connected(port) as (come, _):
            while (message := await come()).delta.new_element.markdown.body != "first":
                session = message.new_session.initialize.session_id or session
        async with connected(port, "token", session) as (come, _):
            message = await come()
            return message.WhichOneof("type"), message.script_finished

    told = asyncio.run(visit(served("A run that was cut")))
    assert told == ("script_finished", ForwardMsg.FINISHED_SUCCESSFULLY)


def test_a_part_of_a_page_that_was_left_names_that_page(served):
    async def visit(port: int) -> list[tuple[bool, bool]]:
        async with connected(port) as (come, ask):
            while not (menu := (await come()).navigation).app_pages:
                pass
            one, two = (page.page_script_hash for page in menu.app_pages)
            while not (part := (await come()).auto_rerun.fragment_id):
                pass
            while (await come()).WhichOneof("type") != "script_finished":
                pass
            await ask(page_script_hash=two)
            named = []
            while len(named) < 2:
                message = await come()
                if message.WhichOneof("type") == "new_session":
                    page = message.new_session.page_script_hash
                    named.append((page == one, part in message.metadata.run.fragment_ids))
                    await ask(page_script_hash=one, fragment_id=part)
            return named

    told = asyncio.run(visit(served("A part of a page")))
    assert told == [(False, False), (True, True)]


def test_an_address_of_many_parameters_is_ignored(served):
    async def visit(port: int) -> str:
        async with connected(port) as (come, _):
            while not (body := (await come()).delta.new_element.markdown.body):
                pass
        return str(body)

    assert asyncio.run(visit(served("more than 1,000"))) == "0 parameters"


@pytest.mark.parametrize("words", ["A session that is over", "A file that comes after"])
def test_what_belongs_to_a_session_that_is_over_is_kept(words):
    command = [sys.executable, "-c", script_of(words)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout == "kept\n"


def test_a_value_of_another_kind_ends_a_session():
    command = [sys.executable, "-c", script_of("A value of another kind")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout == "1 failed\n1 failed\n"
    assert ran.stderr.count("Traceback (most recent call last)") >= 2


AS_SHIPPED = net_util.get_external_ip


def test_a_page_of_another_host_makes_the_server_ask_a_third_one(monkeypatch, tmp_path):
    asked: list[str] = []
    monkeypatch.setattr(net_util, "get_external_ip", AS_SHIPPED)  # the app has replaced it here
    monkeypatch.setattr(net_util, "_external_ip", None)
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, **_: asked.append(url))
    (tmp_path / "ask.py").write_text(script_of("third one"), "utf-8")
    runpy.run_path(str(tmp_path / "ask.py"))
    assert "https://checkip.amazonaws.com" in asked


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    """Opens an address in a context of its own; gives the page once it says a text."""
    with contextlib.ExitStack() as stack:

        def page_of(address: str | int, text: str, **view: Any) -> Any:
            context = browser.new_context(**view)
            stack.callback(context.close)
            page = context.new_page()
            page.goto(address if isinstance(address, str) else f"http://127.0.0.1:{address}")
            page.get_by_text(text, exact=True).wait_for()
            return page

        yield page_of


def rest(page: Any) -> None:
    """Until no run has been under way for some looks."""
    from tests.browser.browsing import expect_rest

    expect_rest(page)


ONCE_AWAY = """task => new Promise((resolve) => {
  const app = document.querySelector("[data-testid=stApp]")
  const state = () => app.dataset.testConnectionState
  let away = false
  new MutationObserver(() => {
    if (!away && state() !== "CONNECTED") {
      away = true
      for (const { shadowRoot } of document.querySelectorAll("*"))
        shadowRoot?.querySelector("button")?.click()
    }
    if (away && state() === "CONNECTED") resolve()
  }).observe(app, { attributes: true })
  window.cut()
})"""


# Faster than the first of them is answered, and each with a message of its own.
CLICK_ALL = """async (names) => {
  const roots = [...document.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])
  const buttons = [document, ...roots].flatMap((root) => [...root.querySelectorAll("button")])
  for (const name of names) {
    buttons.find(({ textContent }) => textContent.trim() === name).click()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}"""


@pytest.mark.browser
def test_the_callback_of_a_value_is_cut_by_the_message_after_it(served, open_page):
    page = open_page(served("The callback of a value"), "n is 0, heard 0")
    rest(page)
    page.get_by_label("n", exact=True).fill("5")
    page.get_by_label("n", exact=True).press("Enter")
    page.get_by_role("button", name="go on").click()
    page.get_by_text("n is 5, heard 0", exact=True).wait_for()
    rest(page)
    assert page.get_by_text("n is 5, heard 0", exact=True).count() == 1


@pytest.mark.browser
def test_of_two_triggers_that_wait_for_a_run_the_first_is_lost(served, open_page):
    page = open_page(served("Of two triggers"), "heard []")
    rest(page)
    page.evaluate(CLICK_ALL, ["press"])
    page.get_by_text("heard [1]", exact=True).wait_for()
    page.evaluate(CLICK_ALL, ["press"] * 2)
    page.get_by_text("heard [1, 3]", exact=True).wait_for()


@pytest.mark.browser
def test_a_choice_is_lost_where_the_run_that_names_it_anew_is_cut(served, open_page):
    page = open_page(served("A choice is lost"), "n is None")
    page.get_by_role("radio").click()
    page.get_by_role("button", name="name it anew").click()
    page.get_by_role("radio", name="1 (new)", checked=False).wait_for()
    page.get_by_text("n is 1", exact=True).wait_for()


@pytest.mark.browser
def test_a_field_loses_what_is_typed_while_the_server_is_away(served, open_page):
    port = served("A field loses")
    with cutting(f"http://127.0.0.1:{port}") as (address, cut):
        page = open_page(address, "You said .")
        page.expose_function("cut", cut)
        page.get_by_label("Say something").click()
        page.keyboard.type("ab")
        page.evaluate(ONCE_AWAY)
        page.keyboard.type("cd")
        assert page.get_by_label("Say something").input_value() == "ab"


@pytest.mark.browser
def test_what_a_component_triggers_while_the_server_is_away_is_lost(served, open_page):
    port = served("What a component triggers")
    with cutting(f"http://127.0.0.1:{port}") as (address, cut):
        page = open_page(address, "pressed 0 times")
        page.expose_function("cut", cut)
        page.evaluate(ONCE_AWAY)
        page.get_by_role("button", name="press").click()
        page.get_by_text(re.compile("pressed [12] times")).wait_for()
        assert page.get_by_text("pressed 1 times", exact=True).count() == 1


@pytest.mark.browser
def test_a_page_in_its_folder_runs_without_the_frame(served, open_page, tmp_path):
    (tmp_path / "pages").mkdir()
    for name in ("one", "two"):
        (tmp_path / "pages" / f"{name}.py").write_text(
            f"import streamlit as st\nst.write('page {name}')"
        )
    page = open_page(f"http://127.0.0.1:{served('A page in')}/two", "page two")
    rest(page)
    assert page.get_by_text("the frame has run").count() == 0


@pytest.mark.browser
def test_a_refused_upload_is_told_as_an_axios_error(served, open_page):
    page = open_page(served("A refused upload"), "File")
    file = {"name": "a.txt", "mimeType": "text/plain", "buffer": b"x"}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_text("Error: AxiosError: Request failed with status code 507").wait_for()


@pytest.mark.browser
def test_on_a_phone_the_menu_stays_open_over_the_chosen_page(served, open_page):
    page = open_page(served("On a phone"), "page one", viewport=PHONE)
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").last.click()
    page.get_by_text("page two", exact=True).wait_for()
    rest(page)
    assert page.get_by_test_id("stSidebar").bounding_box()["x"] == 0


@pytest.mark.browser
def test_one_choice_in_the_menu_is_several_steps_in_the_history(served, open_page):
    page = open_page(served("several steps"), "page one")
    before = page.evaluate("history.length")
    page.get_by_test_id("stSidebarNavLink").last.click()
    page.get_by_text("page two", exact=True).wait_for()
    page.wait_for_function("location.href.endsWith('/two?n=1')")
    assert page.evaluate("history.length") == before + 2
