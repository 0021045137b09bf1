"""The page Own run: a file is read once, and what it takes is bounded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy
import pytest
import torch
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from torch.testing import assert_close

import attention
from attention.analysis import opened_run
from attention.analysis.heads import measures
from attention.app.shell import command
from attention.app.state.pages import page_named
from attention.capture import Recording, folders
from attention.hosting.uploads import Uploads
from attention.subjects.long_run import example
from attention.subjects.long_run import numbers as files
from attention.subjects.long_run import scene as scenes
from attention.subjects.long_run.settings import MEAN, OTHER
from tests.app.test_every_page import TAG
from tests.capture.making import OwnAttention, inputs, model
from tests.running import App, Sent, opened, sent_as
from tests.subjects.long_run import example as making
from tests.subjects.long_run.test_own_weights import saved, tensors_of
from tests.trained.packaged import packaged

LAYERS, HEADS, TOKENS = 2, 3, 5
MB = 1 << 20
REFUSED = "This file cannot be shown: "


def weights_file(kind: Any = numpy.uint8) -> bytes:
    """A file in which the head at (1, 2) looks at the first token and all others at themselves."""
    weights = numpy.broadcast_to(numpy.eye(TOKENS), (LAYERS, HEADS, TOKENS, TOKENS)).astype(kind)
    weights[1, 2] = numpy.eye(TOKENS)[0]
    return saved(numpy.savez, weights=weights, tokens=numpy.array([*"abcde"]))


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


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Uploads:
    """8 MB for the files of all visitors."""
    room = Uploads(8, dict)
    monkeypatch.setattr(files, "uploads", lambda: room)
    return room


def give(app: App, content: bytes | None) -> App:
    """Open a file, or put it away."""
    file = content and ("weights.npz", content, "")
    app.file_uploader(key="own_file").set_value(file).run()
    return app


def weights(app: App) -> torch.Tensor:
    return app.sent["picture"].parts["weights"]


def test_a_file_is_read_once_however_often_its_page_runs(reads):
    content, another = weights_file(), weights_file(numpy.float32)
    app = give(opened("own"), content)
    assert app.session_state["own_file"].closed, "nothing is kept of its bytes"
    assert weights(app).equal(torch.eye(TOKENS))
    app.tell("glance", "head", 5)
    assert weights(app).equal(torch.eye(TOKENS)[:1].expand(TOKENS, -1))
    app.choose("sort", "entropy")
    assert reads == [len(content)]
    give(app, another)
    assert reads == [len(content), len(another)]


def recorded(tmp_path: Path, tokens: int = 7, **said: Any) -> tuple[Recording, bytes]:
    """A run of three layers, of which two are kept by two heads each, and its file."""
    with attention.capture(layers=[0, 2], heads=[0, 2]) as run:
        model(OwnAttention(**said), OwnAttention(), OwnAttention(**said))(inputs(1, tokens))
    run.save(tmp_path / "run.safetensors", tokens=["<b>", *map(str, range(1, tokens))])
    return run.one(), (tmp_path / "run.safetensors").read_bytes()


def test_a_run_of_any_model_is_shown_by_its_own_numbers_of_layers_and_heads(tmp_path):
    run, content = recorded(tmp_path, is_causal=True)
    app = give(opened("own"), content)
    first, last = (one.number for one in run.attentions)
    assert app.sent["picture"].header["tokens"][0] == "<b>"
    assert_close(weights(app), run.weights(first, 0))
    assert_close(weights(app.tell("glance", "head", 3)), run.weights(last, 2))
    assert f"layer {last} head 2" in app.said
    assert not TAG.search(app.said)


def table_of(own: files.Opened) -> dict[str, list[float]]:
    """Measures of the heads of a file as they are shown, but the last row."""
    (table,) = scenes.measured(own, "head")
    shown = sent_as(table.content()).header
    columns = zip(*shown["lines"], strict=True)
    named = dict(zip(["", *shown["columns"]], columns, strict=True))
    del named[""], named["module"]
    return {name: [float(cell) for cell in cells] for name, cells in named.items()}


def test_heads_of_a_long_run_are_measured_on_all_of_it(tmp_path):
    run, _ = recorded(tmp_path, tokens=601)
    own = files.Opened(opened_run.opened_run(run))
    expected = measures(torch.stack([run.weights(0, head) for head in (0, 2)]))
    shown = table_of(own)
    assert shown["entropy"][:2] == pytest.approx(expected["entropy"].tolist(), abs=6e-4)
    first = measures(torch.stack([run.weights(0, head, slice(512), slice(512)) for head in (0, 2)]))
    assert float((first["entropy"] - expected["entropy"]).abs().max()) > 0.01
    title, grid = scenes.every_head(own, 1, 1)
    header = sent_as(grid.content()).header
    assert (header["tokens"], header["chosen"], header["heads"]) == (601, 3, 4)
    assert "spread evenly" not in title.words


def asked(app: App, **more: Any) -> Sent:
    """Answer to a question of a browser that shows the map."""
    none = {"tiles": [], "texts": [], "row": -1, "block": [], "words": "", "side": 0, "far": []}
    header = app.sent["street_map"].header
    its = {"map": header["map"], "shown": [], "query": 600, "key": -1, "place": []}
    return app.tell("street_map", "ask", none | its | more).sent["street_map"]


def test_a_long_run_is_a_map_that_answers_with_what_a_browser_asks_for(tmp_path):
    run, content = recorded(tmp_path, tokens=601)
    app = give(opened("own"), content).tell("glance", "head", 0)
    whole, sent = run.weights(run.attentions[0].number, 0), app.sent["street_map"]
    assert "picture" not in app.sent
    assert [sent.header[name] for name in ("rows", "columns", "done", "row")] == [601] * 3 + [600]
    assert_close(sent.numbers, whole[600])
    assert len(sent.rest) == sum(tile["height"] * tile["width"] for tile in sent.header["tiles"])
    best = whole[600].topk(12)
    assert [link["key"] for link in sent.header["greatest"]] == best.indices.tolist()

    sent = asked(app, tiles=[[-1, 1, 0]], texts=[[0, 0]], row=89, words="<b>", far=[500, 1])
    assert_close(sent.numbers, torch.cat([whole[64:128, :64].flatten(), whole[89]]))
    assert sent.header["texts"][0]["texts"][:2] == [" <b>", " 1"]
    assert sent.header["found"]["positions"] == [0]
    links = [(link["query"] - link["key"], link["key"]) for link in sent.header["links"]]
    assert all(abs(apart) >= 500 and key for apart, key in links)

    query, key = asked(app, block=[1, 300, 299]).header["cell"]
    assert_close(whole[query, key], whole[600:, 598:600].max())
    sent = app.tell("glance", "head", 1).sent["street_map"]
    assert_close(sent.numbers, run.weights(run.attentions[0].number, 2)[600])

    tiles: list[Any] = [[[0, 3, 0]], [[-2, 0, 0]], [[0, -1, 0]], [[64, 0, 0]], [[0, 0, 0]] * 65]
    absurd = (
        *({"tiles": each} for each in tiles),
        *({"texts": [[1, 0]]}, {"texts": [[0, 1]]}, {"row": 601}, {"block": [0, 601, 0]}),
        *({"block": [0, 0]}, {"words": "x" * 201}, {"side": 1}, {"far": [-1, 0]}, {"far": [0, 2]}),
        *({"place": [0, 0, 9]}, {"place": [601, 0, 9, 9]}, {"place": [0, 0, 0, 9]}),
        {"map": "another 0 0"},
    )
    before, turn = app.sent["street_map"], sent.turn
    for at, wrong in enumerate(absurd, turn + 1):
        sent = asked(app, **wrong)
        assert (sent.header, sent.rest, sent.turn) == (before.header, before.rest, at), wrong


SEEN, MAPS = "450,11,440,0,30,30", ("street_map", "street_map_beside")


def long_run(tmp_path: Path) -> tuple[Recording, bytes]:
    """A run of 601 tokens, of which two layers and two heads are kept; 450 says "needle"."""
    with attention.capture(layers=[0, 2], heads=[0, 2]) as run:
        model(*(OwnAttention(is_causal=True) for _ in range(3)))(inputs(1, 601))
    tokens = [f"word{at}" if at != 450 else "=Needle" for at in range(601)]
    run.save(tmp_path / "run.safetensors", tokens=tokens)
    return run.one(), (tmp_path / "run.safetensors").read_bytes()


def test_links_of_all_heads_lead_to_their_cells_and_the_address_carries_what_is_seen(tmp_path):
    run, content = long_run(tmp_path)
    app = give(opened("own", find="needle", apart=0), content)
    header = app.sent["links"].header
    found = run.links(queries=[450], each=2)
    assert [line[0] for line in header["lines"]] == [
        f"layer {layer} head {head}"
        for layer, head in zip(found["layer"], found["head"], strict=True)
    ]
    assert {line[1] for line in header["lines"]} == {"450 =Needle"}
    assert {line[4] for line in header["lines"]} == {"0.mix", "2.mix"}
    for line in (3, 0):
        app.tell("links", "line", line)
        link = found.iloc[line]
        cell = f"{link['query']},{link['key']}"
        assert app.query_params["seen"].startswith(f"{cell},430,")
        sent = app.sent["street_map"].header
        assert sent["map"].endswith(f" {link['layer']} {link['head']}")
        assert sent["lead"].startswith(cell)
    asked(app, query=100, key=7, place=[90, 0, 20, 30])
    assert app.query_params["seen"] == "100,7,90,0,20,30"
    assert app.sent["street_map"].header["lead"] == "", "the browser is there"
    asked(app, query=600, key=3)
    assert "seen" not in app.query_params
    app.text_input(key="find").set_value("absent").run()
    assert "“absent” is not in this run." in app.notes


def test_a_link_leads_to_a_cell_and_a_place_of_the_map_where_there_are_such(tmp_path):
    _, content = long_run(tmp_path)
    app = give(opened("own", seen=SEEN, layer=1, head=1), content)
    assert app.sent["street_map"].header["lead"] == SEEN
    assert app.sent["street_map"].header["map"].endswith(" 2 2")
    for wrong in ("601,0", "1,601", "1,2,3", "1,2,3,4,0,5", "x", "1,2,601,0,3,3"):
        app = give(opened("own", seen=wrong), content)
        assert app.sent["street_map"].header["lead"] == "", wrong


def test_another_head_or_the_mean_of_the_layer_stands_beside(tmp_path):
    run, content = long_run(tmp_path)
    app = give(opened("own", beside=MEAN), content).tell("glance", "head", 2)
    shown, other = app.sent["street_map"], app.sent["street_map_beside"]
    assert shown.header["linked"]
    assert other.header["linked"]
    assert_close(shown.numbers, run.weights(2, 0, 600)[0], atol=1e-4, rtol=1e-3)
    assert_close(other.numbers, run.mean(2, 600)[0], atol=1e-4, rtol=1e-3)
    assert "2.mix" in app.said
    assert other.header["lead"] == ""
    app = opened("own", beside=OTHER, beside_layer=63, beside_head=1, seen=SEEN)
    give(app, content)
    assert [app.sent[name].header["lead"] for name in MAPS] == [SEEN, SEEN]
    other = app.sent["street_map_beside"]
    assert_close(other.numbers, run.weights(2, 2, 600)[0], atol=1e-4, rtol=1e-3)


def test_a_link_asks_for_its_file_by_name_and_hash_and_says_if_another_is_open(tmp_path):
    _, content = long_run(tmp_path)
    app = give(opened("own"), content)
    mark = app.query_params["run"]
    name, digest = mark.split(" ")
    assert (name, digest) == ("weights.npz", hashlib.sha256(content).hexdigest()[:12])
    app = opened("own", run=mark, layer=1, seen=SEEN)
    (asking,) = app.notes
    assert asking == (
        "This link shows a file that it does not carry: “weights.npz”, whose SHA-256 begins with "
        f"{digest}. Open it above."
    )
    assert "glance" not in app.sent, "it is not the example that the link shows"
    give(app, weights_file())
    (note,) = app.notes
    assert f"another file than this: “weights.npz”, whose SHA-256 begins with {digest}" in note
    assert give(app, None).notes == [asking]
    give(app, content)
    assert app.notes == []
    assert app.sent["street_map"].header["map"].endswith(" 2 0")
    hostile = opened("own", run=f"<b>**x** {digest}")
    assert "“<b>**x**”" in hostile.notes[0]
    assert not TAG.search(hostile.said)


def test_a_run_that_takes_too_long_or_too_much_is_refused_in_a_sentence(tmp_path, monkeypatch):
    _, content = recorded(tmp_path)
    for name, bound, words in (
        ("MAX_WORK", 1000.0, "keep fewer by `layers=` or `heads=`"),
        ("MAX_CELLS", 48, "a run may have up to 48 cells in a head, got 7 by 7"),
    ):
        monkeypatch.setattr(opened_run, name, bound)
        (note,) = give(opened("own"), content).notes
        assert words in note


# Opened by the command


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[str]]]:
    """Options with which the command would serve."""
    options: list[list[str]] = []
    monkeypatch.setattr("streamlit.web.cli.main", lambda given, **_: options.append(given))
    monkeypatch.setenv(folders.RUN_VARIABLE, "")
    files.owners_run.clear()
    yield options
    monkeypatch.undo()
    files.owners_run.clear()


def test_the_command_opens_a_run_of_any_size_and_the_page_is_on_it(
    tmp_path, monkeypatch, capsys, served
):
    monkeypatch.setattr(opened_run, "MAX_WORK", 1000.0)
    run, content = recorded(tmp_path)
    file = str(tmp_path / "run.safetensors")
    command.main(["open", file, "--server.port", "8600"])
    first, read, last = capsys.readouterr().out.rstrip().split("\n")
    assert first == "Reading run.safetensors, 0 MB …"
    assert read.split("\r")[1:] == ["1 of 2 layers are read", "2 of 2 layers are read"]
    assert last == "The run is on the page Own run: /own behind the address below."
    assert served[0][2:] == ["--server.port", "8600"]
    told, head, query = files.Opened(opened_run.opened_run(run, bounded=False)).telling
    app = opened("own")
    assert_close(weights(app), run.weights(run.attentions[told].number, (0, 2)[head]))
    assert app.selection["query"] == query
    files.owners_run.clear()
    Path(file).write_bytes(content[:-1])
    for wrong in (["open"], ["open", file], ["open", "nowhere"]):
        with pytest.raises(SystemExit, match="file"):
            command.main(wrong)
    (note,) = opened("own").notes
    assert note.startswith(f"{REFUSED}the file must be")
    Path(file).unlink()
    assert opened("own").notes == [f"{REFUSED}the file of {folders.RUN_VARIABLE} cannot be read."]


@pytest.mark.usefixtures("served")
def test_a_folder_of_runs_has_a_slider_over_the_steps_of_training(tmp_path):
    learning = model(OwnAttention())
    with attention.capture(every=3, into=tmp_path) as captured:
        for step in range(7):
            learning(inputs(1, 5, seed=step))
    command.main(["open", str(tmp_path)])
    app = opened("own")
    last = opened_run.opened_run(Recording.open(captured.files[2]))
    _, head, _ = files.Opened(last).telling
    for at, step in ((2, 6), (0, 0), (1, 3)):
        if at < 2:
            app.select_slider(key="own_step").set_value(step).run()
        run = Recording.open(captured.files[at])
        assert_close(weights(app), run.weights(0, head))
        assert app.notes == []
        shared = opened("own", **app.query_params)
        assert_close(weights(shared), run.weights(0, head))
        assert shared.notes == []


# What cannot be shown


def test_why_a_file_cannot_be_shown_is_found_once_and_said_shortly(reads):
    bad = saved(numpy.savez, weights=numpy.eye(3), tokens=numpy.array(["a"]))
    app = give(opened("own"), bad)
    for _ in range(2):
        (note,) = app.run().notes
        assert note.startswith(f"{REFUSED}weights must be (…, 1, 1), a row for")
        (how,) = app.expander
        assert (how.label, how.proto.expanded) == ("How to write such a file", True)
    assert reads == [len(bad)]
    assert len(app.file_uploader) == 1
    names = {f"a tensor with a long name {n}": None for n in range(9000)}
    empty = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    (note,) = give(opened("own"), tensors_of(dict.fromkeys(names, empty))).notes
    assert "the file must have weights and tokens, it has a tensor with a long name" in note
    assert len(note) < 300


def test_where_there_is_no_room_for_what_is_in_a_file_the_page_says_so_until_there_is(room, reads):
    others = room.take("another visit", 4 * MB)
    app = give(opened("own"), weights_file())
    assert app.notes == [
        f"{REFUSED}there is no room for it at the moment. Opened files may take 8 MB together, and "
        "those from one address no more than they leave free: please try again later."
    ]
    assert reads == [], "it is not unpacked first"
    del others
    app.run()
    assert ("picture" in app.sent, app.notes) == (True, [])


@pytest.mark.parametrize(
    ("refused", "words"),
    [(True, "there is no room for it at the moment"), (False, "please open it again")],
)
def test_a_file_that_the_server_does_not_hold_is_answered_with_a_sentence(
    monkeypatch, room, refused, words
):
    def lose(manager: MemoryUploadedFileManager, session: str, file: Any) -> None:
        if refused:
            room.refuse(file.file_id)

    with monkeypatch.context() as patch:
        patch.setattr(MemoryUploadedFileManager, "add_file", lose)
        app = give(opened("own"), weights_file())
        (note,) = app.notes
        assert words in note
    assert "picture" in app.run().sent


# The example


def test_without_a_file_the_page_opens_on_the_example_and_its_words_are_true():
    app = opened("own", **dict(parse_qsl(example.LINK)))
    header, shown = app.sent["picture"].header, weights(app)
    assert app.sent["glance"].header["heads"] == 6 * 12
    assert header["tokens"][1:-1] == example.SENTENCE.lower().split()
    query = app.selection["query"]
    assert header["tokens"][query] == "it"
    assert header["tokens"][int(shown[query].argmax())] == "animal"
    assert example.WORDS in app.told
    assert "How to write such a file" in [each.label for each in app.expander]
    assert example.WORDS not in give(app, weights_file()).told
    assert (app.sent["glance"].header["chosen"], app.selection["query"]) == (0, 0)


def test_the_example_is_what_capture_keeps_of_the_model():
    pytest.importorskip("transformers", reason="needs transformers (requirements-dev.txt)")
    packaged("minilm")
    made, tokens = making.run()
    kept = Recording.open(example.FILE)
    assert kept.tokens == tokens
    assert len(kept.attentions) == len(made.attentions) == 6
    for one, other in zip(kept.attentions, made.attentions, strict=True):
        assert_close(kept.weights(one.number, 5), made.weights(other.number, 5), atol=5e-3, rtol=0)


def test_whoever_serves_a_run_of_their_own_opens_on_that(monkeypatch):
    opens = page_named("own").opens
    assert opens() == example.LINK
    monkeypatch.setenv(folders.RUN_VARIABLE, "run.safetensors")
    assert opens() == ""
