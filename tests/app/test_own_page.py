"""The page Own run: a file is read once, and what it takes is bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from torch.testing import assert_close

import attention
from attention.analysis import glances
from attention.analysis import heads as analysed
from attention.app.results import opened as files
from attention.app.shell import command
from attention.capture import Recording
from attention.display import heads, opened_run
from attention.hosting.uploads import Uploads
from tests.app.test_every_page import TAG
from tests.capture.making import OwnAttention, inputs, model
from tests.display.test_showing import saved, tensors_of
from tests.running import App, opened

LAYERS, HEADS, TOKENS = 2, 3, 5
MB = 1 << 20


def weights_file(kind: Any = numpy.uint8) -> bytes:
    """A file in which the head at (1, 2) looks at the first token and all others at themselves."""
    weights = numpy.broadcast_to(numpy.eye(TOKENS), (LAYERS, HEADS, TOKENS, TOKENS)).astype(kind)
    weights[1, 2] = numpy.eye(TOKENS)[0]
    return saved(numpy.savez, weights=weights, tokens=numpy.array([*"abcde"]))


BAD = saved(numpy.savez, weights=numpy.eye(3), tokens=numpy.array(["a"]))


@pytest.fixture(autouse=True)
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes in bytes of the files that were read, in order."""
    found: list[int] = []
    read_own = files.read_own

    def counted(content: bytes) -> Any:
        found.append(len(content))
        return read_own(content)

    monkeypatch.setattr(files, "read_own", counted)
    return found


def give(app: App, content: bytes) -> App:
    """Open a file."""
    app.file_uploader(key="own_file").set_value(("weights.npz", content, "")).run()
    return app


def test_a_file_is_read_once_however_often_its_page_runs(reads: list[int]) -> None:
    content = weights_file()
    app = give(opened("own"), content)
    assert app.sent["picture"].parts["weights"].equal(torch.eye(TOKENS))
    app.tell("glance", "head", 5)
    chosen = torch.zeros(TOKENS, TOKENS)
    chosen[:, 0] = 1
    assert app.sent["picture"].parts["weights"].equal(chosen)
    app.choose("sort", "entropy")
    assert reads == [len(content)]
    another = weights_file(numpy.float32)
    give(app, another)
    assert reads == [len(content), len(another)]


def recorded(tmp_path: Path, tokens: int = 7, **said: Any) -> tuple[Recording, bytes]:
    """A run of three layers, of which two are kept by two heads each, and its file."""
    with attention.capture(layers=[0, 2], heads=[0, 2]) as run:
        model(OwnAttention(**said), OwnAttention(), OwnAttention(**said))(inputs(1, tokens))
    run.save(tmp_path / "run.safetensors", tokens=["<b>", *map(str, range(1, tokens))])
    return run.one(), (tmp_path / "run.safetensors").read_bytes()


def test_a_run_of_any_model_is_shown_by_its_own_numbers_of_layers_and_heads(tmp_path: Path) -> None:
    run, content = recorded(tmp_path, is_causal=True)
    app = give(opened("own"), content)
    assert app.sent["picture"].header["tokens"][0] == "<b>"
    assert_close(app.sent["picture"].parts["weights"], run.weights(run.attentions[0].number, 0))
    app.tell("glance", "head", 3)
    last = run.attentions[1].number
    assert_close(app.sent["picture"].parts["weights"], run.weights(last, 2))
    assert f"layer {last} head 2" in app.said
    assert not TAG.search(app.said)


def asked(app: App, **more: Any) -> dict[str, Any]:
    """A question of a browser that shows the map."""
    none = {"tiles": [], "texts": [], "row": -1, "block": [], "words": "", "side": 0, "far": []}
    its = {"map": app.sent["street_map"].header["map"], "shown": [], "query": 600}
    return none | its | more


def test_a_long_run_is_a_map_that_answers_with_what_a_browser_asks_for(tmp_path: Path) -> None:
    run, content = recorded(tmp_path, tokens=601)
    app = give(opened("own"), content)
    whole = run.weights(run.attentions[0].number, 0)
    sent = app.sent["street_map"]
    assert (sent.header["rows"], sent.header["columns"], sent.header["done"]) == (601, 601, 601)
    assert sent.header["row"] == 600
    assert_close(sent.numbers, whole[600])
    assert len(sent.rest) == sum(tile["height"] * tile["width"] for tile in sent.header["tiles"])
    best = whole[600].topk(12)
    assert [link["key"] for link in sent.header["greatest"]] == best.indices.tolist()

    far = asked(app, tiles=[[-1, 1, 0]], texts=[[0, 0]], row=89, words="<b>", far=[500, 1])
    sent = app.tell("street_map", "ask", far).sent["street_map"]
    assert sent.turn == 1
    assert_close(sent.numbers, torch.cat([whole[64:128, :64].flatten(), whole[89]]))
    assert sent.header["texts"][0]["texts"][:2] == [" <b>", " 1"]
    assert sent.header["found"]["positions"] == [0]
    links = [(link["query"] - link["key"], link["key"]) for link in sent.header["links"]]
    assert all(abs(apart) >= 500 and key for apart, key in links)

    sent = app.tell("street_map", "ask", asked(app, block=[1, 300, 299])).sent["street_map"]
    query, key = sent.header["cell"]
    assert_close(whole[query, key], whole[600:, 598:600].max())
    before = sent.header["map"]
    app.tell("glance", "head", 1)
    sent = app.sent["street_map"]
    assert sent.header["map"] != before
    assert_close(sent.numbers, run.weights(run.attentions[0].number, 2)[600])
    assert "picture" not in app.sent


def test_a_map_answers_nothing_that_is_not_there_or_too_much(tmp_path: Path) -> None:
    app = give(opened("own"), recorded(tmp_path, tokens=601)[1])
    tiles: list[Any] = [[[0, 3, 0]], [[-2, 0, 0]], [[0, -1, 0]], [[64, 0, 0]], [[0, 0, 0]] * 65]
    before = app.sent["street_map"]
    every = (
        *({"tiles": each} for each in tiles),
        {"texts": [[1, 0]]},
        {"texts": [[0, 1]]},
        {"row": 601},
        {"block": [0, 601, 0]},
        {"block": [0, 0]},
        {"words": "x" * 201},
        {"side": 1},
        {"far": [-1, 0]},
        {"far": [0, 2]},
        {"map": "another 0 0"},
    )
    for turn, wrong in enumerate(every, 1):
        sent = app.tell("street_map", "ask", asked(app, **wrong)).sent["street_map"]
        assert (sent.header, sent.rest, sent.turn) == (before.header, before.rest, turn), wrong


def test_a_run_that_lies_or_takes_too_long_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, content = recorded(tmp_path)
    lies = content.replace(b'\\"groups\\": [0', b'\\"groups\\": [9')
    assert lies != content
    (note,) = give(opened("own"), lies).notes
    assert note.startswith("This file cannot be shown: the file does not fit: group must be")
    monkeypatch.setattr(opened_run, "MAX_WORK", 1000.0)
    (note,) = give(opened("own"), content).notes
    assert "keep fewer by `layers=` or `heads=`" in note
    monkeypatch.setattr(opened_run, "MAX_CELLS", 48)
    (note,) = give(opened("own"), content).notes
    assert "a run may have up to 48 cells in a head, got 7 by 7" in note


def test_the_command_opens_a_run_of_any_size_and_the_page_is_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr("streamlit.web.cli.main", lambda options, **_: asked.append(options))
    monkeypatch.setenv(opened_run.RUN_VARIABLE, "")
    monkeypatch.setattr(opened_run, "MAX_WORK", 1000.0)
    run, content = recorded(tmp_path)
    command.main(["open", str(tmp_path / "run.safetensors"), "--server.port", "8600"])
    assert asked[0][2:] == ["--server.port", "8600"]
    files.owners_run.clear()
    app = opened("own")
    assert_close(app.sent["picture"].parts["weights"], run.weights(run.attentions[0].number, 0))
    files.owners_run.clear()
    (tmp_path / "run.safetensors").write_bytes(content[:-1])
    for wrong in (["open"], ["open", str(tmp_path / "run.safetensors")], ["open", "nowhere"]):
        with pytest.raises(SystemExit, match="file"):
            command.main(wrong)
    (note,) = opened("own").notes
    assert note.startswith("This file cannot be shown: the file must be")
    monkeypatch.undo()
    files.owners_run.clear()


def test_a_folder_of_runs_has_a_slider_over_the_steps_of_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learning = model(OwnAttention())
    with attention.capture(every=3, into=tmp_path) as captured:
        for step in range(7):
            learning(inputs(1, 5, seed=step))
    monkeypatch.setattr("streamlit.web.cli.main", lambda options, **_: None)
    monkeypatch.setenv(opened_run.RUN_VARIABLE, "")
    command.main(["open", str(tmp_path)])
    files.owners_run.clear()
    app = opened("own")
    for at, step in ((2, None), (0, 0), (1, 3)):
        if step is not None:
            app.select_slider(key="own_step").set_value(step).run()
        weights = Recording.open(captured.files[at]).weights(0, 0)
        assert_close(app.sent["picture"].parts["weights"], weights)
    files.owners_run.clear()


def test_why_a_file_cannot_be_shown_is_found_once_and_said_again(reads: list[int]) -> None:
    app = give(opened("own"), BAD)
    for _ in range(3):
        (note,) = app.notes
        assert note.startswith("This file cannot be shown: weights must be (…, 1, 1), a row for")
        assert "How to write such a file" in app.read_as_markdown
        app.run()
    assert reads == [len(BAD)]
    assert len(app.file_uploader) == 1


def test_however_much_is_wrong_with_a_file_the_page_says_it_shortly() -> None:
    names = {f"a tensor with a long name {n}": None for n in range(9000)}
    empty = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    (note,) = give(opened("own"), tensors_of(dict.fromkeys(names, empty))).notes
    assert "the file must have weights and tokens, it has a tensor with a long name" in note
    assert len(note) < 300


def test_a_file_that_is_put_away_takes_no_room_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    room = Uploads(64, dict)
    monkeypatch.setattr(files, "uploads", lambda: room)
    app = give(opened("own"), weights_file())
    (taken,) = room._taken
    assert taken.nbytes >= LAYERS * HEADS * TOKENS * TOKENS
    del taken
    app.file_uploader(key="own_file").set_value(None).run()
    assert not room._taken


def test_where_there_is_no_room_for_what_is_in_a_file_the_page_says_so_until_there_is(
    monkeypatch: pytest.MonkeyPatch, reads: list[int]
) -> None:
    room = Uploads(8, dict)
    monkeypatch.setattr(files, "uploads", lambda: room)
    others = room.take("another visit", 4 * MB)
    app = give(opened("own"), weights_file())
    (note,) = app.notes
    assert note == (
        "This file cannot be shown: there is no room for it at the moment. Opened files may take "
        "8 MB together, and those from one address no more than they leave free: please try again "
        "later."
    )
    assert reads == [], "it is not unpacked first"
    del others
    app.run()
    assert "picture" in app.sent
    assert app.notes == []


@pytest.mark.parametrize(
    ("refused", "words"),
    [(True, "there is no room for it at the moment"), (False, "please open it again")],
)
def test_a_file_that_the_server_does_not_hold_is_answered_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, refused: bool, words: str
) -> None:
    room = Uploads(8, dict)
    monkeypatch.setattr(files, "uploads", lambda: room)
    kept = MemoryUploadedFileManager.add_file

    def lose(manager: MemoryUploadedFileManager, session: str, file: Any) -> None:
        if refused:
            room.refuse(file.file_id)

    monkeypatch.setattr(MemoryUploadedFileManager, "add_file", lose)
    app = give(opened("own"), weights_file())
    (note,) = app.notes
    assert words in note
    monkeypatch.setattr(MemoryUploadedFileManager, "add_file", kept)
    assert "picture" in app.run().sent


def test_the_session_keeps_nothing_of_the_bytes_of_a_file() -> None:
    assert give(opened("own"), weights_file()).session_state["own_file"].closed


def test_the_example_needs_no_file() -> None:
    app = opened("own")
    app.toggle(key="own_example").set_value(True).run()
    assert app.sent["picture"].parts["weights"].shape == (6, 6)


@pytest.mark.parametrize("keys", [None, [*"vwxyz"]])
def test_positions_are_compared_only_where_queries_and_keys_are_one_sentence(
    keys: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    shape = LAYERS, HEADS, TOKENS, TOKENS
    weights = torch.rand(shape, generator=torch.Generator().manual_seed(1)).softmax(-1)
    named = {"keys": numpy.array(keys)} if keys else {}
    file = saved(numpy.savez, weights=weights.numpy(), tokens=numpy.array([*"abcde"]), **named)
    app = give(opened("own"), file)
    (table,) = app.tables
    there = [*analysed.measures(torch.ones(1, 2, 2), crosses=keys is not None)]
    assert ("previous" in there) is (keys is None)
    assert list(table) == ["", *there]
    seen = glances.glance_of(weights, len(weights), crosses=keys is not None).seen
    assert heads.measure_words(seen) in app.read_as_markdown
