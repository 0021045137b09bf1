"""The atlas as a page: tiles, passports, heads found, two side by side, and a name that breaks."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import torch
from torch.testing import assert_close

from attention.analysis.heads import NAMINGS
from attention.analysis.names import holds, targets_of
from attention.app.cached.runs import run_model
from attention.atlas import files
from attention.atlas.blocks import blocks_of
from attention.subjects.atlas import numbers, words
from attention.subjects.atlas import scene as scenes
from attention.subjects.guide.chosen_lesson import check
from attention.trained import sources
from tests.cases import over
from tests.running import App, opened
from tests.subjects.atlas import making
from tests.trained.packaged import packaged

CONSTRUCTED = {"model": "constructed", "s": "x b c d the x b"}


def tiles(app: App) -> dict[str, Any]:
    return app.sent["head_atlas"].header


def passports(app: App) -> list[dict[str, Any]]:
    every: list[dict[str, Any]] = app.sent["passport"].header["passports"]
    return every


def own(app: App) -> dict[str, Any]:
    return app.sent["own_sentence"].header


# Tiles


def test_it_opens_on_the_effects_that_differ_most_and_on_the_head_that_most_is_lost_without() -> (
    None
):
    app = opened("atlas", **CONSTRUCTED)
    assert tiles(app)["shade"] == "needed by capitals"
    assert tiles(app)["chosen"] == 2  # 1.0, of two heads a layer
    assert [each["name"] for each in passports(app)] == ["1.0"]
    assert passports(app)[0]["title"] == "Needed by capitals."
    assert "full colour: 45 points" in tiles(app)["shades"][0]["legend"]
    assert [link.proto.label for link in app.get("page_link")][-1] == "Atlas"


def test_tiles_show_any_number_of_the_passports() -> None:
    app = opened("atlas", **CONSTRUCTED)
    names = [shade["name"] for shade in tiles(app)["shades"]]
    shown = app.sent["head_atlas"].numbers.reshape(len(names), 4)
    expected = {
        "needed by capitals": [0.0, 0.002, -0.42, 0.016],
        "cost elsewhere": [-0.035] * 4,
        "weight on the token before it": [0.1, 0.12, 0.24, 0.26],
        "copying": [-0.13, 0.37, -0.13, 0.37],
        "unexplained": [0.05, 0.05, 0.83, 0.83],
    }
    for name, each in expected.items():
        assert_close(shown[names.index(name)], torch.tensor(each))
    looks = shown[names.index("looks one word back")]
    assert looks[:1].tolist() == pytest.approx([0.97])
    assert looks[1:].isnan().all()
    app.tell("head_atlas", "shade", "unexplained")
    assert (tiles(app)["shade"], app.query_params["tiles"]) == ("unexplained", "unexplained")
    assert tiles(app)["said"] == ["5 %", "5 %", "83 %", "83 %"]
    app.tell("head_atlas", "shade", "nothing")
    assert tiles(app)["shade"] == "unexplained"


def test_a_clicked_tile_is_in_the_link_and_another_one_stands_beside_it() -> None:
    app = opened("atlas", **CONSTRUCTED)
    app.tell("head_atlas", "head", 0)
    assert app.query_params == CONSTRUCTED | {"head_by": "the chosen one"}
    assert [each["name"] for each in passports(app)] == ["0.0"]
    app.tell("head_atlas", "other", 2)
    assert app.query_params["second_head"] == "1.0"
    assert [each["name"] for each in passports(app)] == ["0.0", "1.0"]
    first, *_ = app.sent["passport"].header["differences"]
    assert first == "Answers on capitals without the head: 0.0 points in 0.0, −42.0 points in 1.0."
    kinds = [[kind["kind"] for kind in each["kinds"]] for each in passports(app)]
    assert kinds[0] == kinds[1]
    app.tell("head_atlas", "other", -1)
    assert "second_head" not in app.query_params
    app.tell("head_atlas", "head", 4)
    assert tiles(app)["chosen"] == 0


@over(
    "case",
    [
        ("needed by capitals", ["1.0"], "Surely so of 1 of 4 heads."),
        ("needed by verbs", [], "Surely so of none of 4 heads."),
        ("looks one word back", ["0.0"], "Surely so of 1 of 4 heads."),
        (
            "cost elsewhere",
            ["0.0", "0.1", "1.0", "1.1"],
            "Surely so of 4 of 4 heads.",
        ),
        ("copying", ["0.1", "1.1"], "Surely so of 2 of 4 heads."),
        ("unexplained", ["1.0", "1.1", "0.0", "0.1"], "The 4 greatest of 4 heads."),
    ],
)
def test_heads_are_listed_that_the_number_of_the_tiles_surely_holds_of(
    case: tuple[str, list[str], str],
) -> None:
    shade, names, said = case
    app = opened("atlas", **CONSTRUCTED, tiles=shade)
    assert [f"{head // 2}.{head % 2}" for head in tiles(app)["listed"]] == names
    assert tiles(app)["listedWords"] == said


def test_a_list_ends_after_twenty_heads_and_says_so() -> None:
    opened_atlas = numbers.Opened(making.atlas(layers=5, heads=5))
    shades = {shade.name: shade for shade in opened_atlas.shades}
    for name, said in (
        (
            "cost elsewhere",
            "Surely so of 25 of 25 heads, the first 20.",
        ),
        ("unexplained", "The 20 greatest of 25 heads."),
    ):
        shown = scenes.map_of(opened_atlas, shades[name], [(0, 0)])
        assert (len(shown.listed), shown.listed_words) == (20, said)


# A passport


def test_a_passport_shows_dots_names_with_their_nulls_kin_and_what_is_not_explained() -> None:
    (needed,) = passports(opened("atlas", **CONSTRUCTED, layer=1))
    assert needed["fallen"]["before"], needed["fallen"]["after"] == ("75 %", "12 %")
    assert len(needed["kinds"][0]["dots"]) == making.PER_KIND
    assert {half for _, half in needed["kinds"][0]["dots"]} == {0, 1}
    assert needed["kinds"][0]["turned"] == pytest.approx([-0.21, -0.14])
    assert needed["kinds"][0]["turnedSaid"] == "−14.0 points"
    beside = "by a step as large in one random direction 21 points"
    assert beside in needed["told"][0]
    assert [kind["needed"] for kind in needed["kinds"]] == [True, False, False]
    assert len(needed["hangs"]) == len(needed["controls"]) == 3
    assert needed["alike"][0]["name"] == "0.0"
    assert [bar["said"] for bar in needed["bars"]] == ["83 %", "29 %"]
    assert [bar["said"] for bar in needed["copies"]] == ["53 %", "1.0 %", "2 %", "2 %"]
    (named,) = passports(opened("atlas", **CONSTRUCTED, head_by="the chosen one"))
    (name,) = named["names"]
    assert (name["title"], name["holds"]) == ("Looks one word back", True)
    assert [bar["said"] for bar in name["bars"]] == ["97 %", "97 %", "13 %", "17 %"]
    assert named["looked"] == name["example"]
    assert named["looked"]["told"] == "From “x” it looks most at “c”: 60 %."
    (failed,) = passports(opened("atlas", **CONSTRUCTED, head=1))
    assert [name["holds"] for name in failed["names"]] == [False]


def test_its_kin_are_a_click_away_and_its_links_open_the_window_on_it() -> None:
    app = opened("atlas", **CONSTRUCTED, layer=1)
    app.tell("passport", "head", 0)
    assert passports(app)[0]["name"] == "0.0"
    (one,) = passports(opened("atlas", **CONSTRUCTED, layer=1))
    for link in (one["link"], one["hangs"][0]["link"], own(app)["link"]):
        page, _, query = link.partition("?")
        assert (page, check(parse_qs(query), page)) == ("model", [])
    window = opened("model", **CONSTRUCTED, layer=1)
    link = window.sent["to_passport"].header["link"]
    assert link[0] == "Passport of head 1.0"
    page, _, query = link[1].partition("?")
    assert (page, check(parse_qs(query), page)) == ("atlas", [])
    back = opened("atlas", **{name: text for name, [text] in parse_qs(query).items()})
    assert (passports(back)[0]["name"], back.values["s"]) == ("1.0", CONSTRUCTED["s"])
    assert "to_passport" not in opened("model", model="grammar").sent


# One's own sentence


def test_a_head_is_tried_on_ones_own_sentence_with_its_weights_and_its_effect() -> None:
    app = opened("atlas", **CONSTRUCTED, layer=1)
    run = run_model("constructed", CONSTRUCTED["s"])
    weights = run.inputs[1].trace().weights[0]
    assert_close(app.sent["own_sentence"].numbers.reshape(weights.shape), weights)
    assert own(app)["effect"].startswith("Without head 1.0 “c” falls from ")
    before, after = (bar["mean"] for bar in own(app)["bars"])
    assert after < before
    app.choose("s", "x b c x")
    assert own(app)["words"] == ["[start]", "x", "b", "c", "x"]


def test_a_name_holds_on_one_sentence_and_breaks_on_another_and_the_link_says_so() -> None:
    app = opened("atlas", **CONSTRUCTED, layer=1)
    app.tell("own_sentence", "name", "induction")
    assert app.query_params == CONSTRUCTED | {"layer": "1", "head_name": "induction"}
    assert own(app)["verdict"].endswith(": 2 of 2 words that could. So it holds here.")
    assert own(app)["marks"] == [-1, -1, -1, -1, -1, -1, 1, 1]
    app.tell("own_sentence", "name", "previous")
    assert own(app)["breaks"]
    assert "So it fails here. At “" in own(app)["verdict"]
    again = opened("atlas", **app.query_params)
    assert own(again) == own(app)
    app.choose("s", "x b c d")
    app.tell("own_sentence", "name", "induction")
    assert "no word of this sentence can" in own(app)["verdict"]
    assert (own(app)["holds"], own(app)["breaks"]) == (False, False)
    app.tell("own_sentence", "name", "no such name")
    assert own(app)["tried"] == "induction"


def test_the_evidence_on_a_name_is_a_link_that_names_sentence_head_and_name() -> None:
    app = opened("atlas", model="constructed", s="x b b")
    assert own(app)["evidence"] == ""  # head 1.0 has no name
    app.tell("head_atlas", "head", 0)
    page, _, query = own(app)["evidence"].partition("?")
    assert (page, check(parse_qs(query), page)) == ("atlas", [])
    said = {name: text for name, [text] in parse_qs(query).items()}
    assert said == {
        "model": "constructed",
        "s": "x b b",
        "layer": "0",
        "head": "0",
        "head_by": "the chosen one",
        "head_name": "previous",
    }
    assert own(opened("atlas", **said)) == own(app)


@over("name", [*NAMINGS])
def test_a_name_is_counted_as_the_names_of_passports_are(name: str) -> None:
    run = run_model("constructed", "the cats see a dog and the cats see the dog")
    (block,) = blocks_of(run)
    for layer_input in run.inputs:
        every = layer_input.trace().weights
        for weights in every:
            tried = numbers.tried_on(weights, run.pieces, name, block.seen)
            kept = run.pieces.kept(not NAMINGS[name].sinks)
            targets = targets_of(NAMINGS[name], run.pieces, block.seen)
            share, _ = holds(weights[None], targets, kept)
            if not len(share):
                assert tried.asking == []
                continue
            assert sum(tried.right) / len(tried.right) == pytest.approx(float(share))
            assert tried.holds == bool(share > 0.5)
            greatest = weights[tried.asking][:, kept].amax(-1)
            assert weights[tried.asking, tried.looks].tolist() == greatest.tolist()


def test_no_name_is_tried_on_a_head_that_looks_at_another_sentence(tmp_path: Path) -> None:
    packaged("en-pt")
    files.write(making.atlas("en-pt", layers=8, heads=8), files.path_of(tmp_path, "en-pt"))
    app = opened("atlas", model="en-pt", s="The cat sat.", layer=7, head_name="previous")
    assert own(app)["queries"] != own(app)["words"]
    assert own(app)["names"] == []
    assert own(app)["verdict"].startswith("This head looks from one sentence at another")
    weights = run_model("en-pt", "The cat sat.").inputs[7].trace().weights[0]
    assert_close(app.sent["own_sentence"].numbers.reshape(weights.shape), weights)


# States


def test_a_model_without_passports_says_the_command_that_makes_them() -> None:
    app = opened("atlas", model="grammar")
    assert "passport" not in app.sent
    assert "python -m attention.atlas grammar" in app.missing[0]


def test_passports_of_a_model_that_is_not_installed_are_told_of(tmp_path: Path) -> None:
    files.write(making.atlas("somebody/big"), files.path_of(tmp_path, "somebody/big"))
    app = opened("atlas", **CONSTRUCTED)
    assert any("somebody/big" in note and sources.installing() in note for note in app.notes)


@over(
    "case",
    [
        (b"none", "must be an atlas of heads: JSON is malformed: invalid character (byte 4)."),
        ({"layers": 3}, "it is of constructed, 6 heads in 3."),
        ({"heads": 1}, "it is of constructed, 2 heads in 2."),
        ({"model": "grammar"}, "it is of grammar, 4 heads in 2."),
        (None, "constructed.json.gz cannot be read: No such file or directory."),
    ],
)
def test_a_file_that_holds_no_passports_of_the_model_is_told_in_words(
    case: tuple[dict[str, Any] | bytes | None, str], tmp_path: Path
) -> None:
    content, problem = case
    path = files.path_of(tmp_path, "constructed")
    path.unlink(missing_ok=True)
    if content is None:
        path.symlink_to("nowhere")
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        files.write(making.atlas(**content), path)
    app = opened("atlas", **CONSTRUCTED)
    assert [note for note in app.notes if note.endswith(problem)]
    assert "passport" not in app.sent


def test_a_refused_file_is_read_once_until_it_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, reading = [], files.packed_in
    monkeypatch.setattr(files, "packed_in", lambda path: read.append(path) or reading(path))
    path = files.path_of(tmp_path, "constructed")
    path.write_bytes(gzip.compress(b"{}"))
    app = opened("atlas", **CONSTRUCTED)
    assert any("must be an atlas of heads" in note for note in app.notes)
    app.run()
    opened("atlas", **CONSTRUCTED)
    assert read.count(path) == 1
    files.write(making.atlas(title="mended"), path)
    app.run()
    assert passports(app)[0]["place"].endswith("of mended")
    assert read.count(path) == 2


def test_kin_that_a_file_has_made_up_are_not_opened(tmp_path: Path) -> None:
    made = making.atlas()
    (alike,) = made.passports[2].alike
    kin = (replace(alike, layer=10**12),)
    lying = replace(made, passports=(replace(made.passports[0], alike=kin), *made.passports[1:]))
    files.write(lying, files.path_of(tmp_path, "constructed"))
    app = opened("atlas", **CONSTRUCTED, head_by="the chosen one")
    app.tell("passport", "head", passports(app)[0]["alike"][0]["head"])
    assert tiles(app)["chosen"] == 0


def test_a_sentence_that_nobody_has_typed_is_one_of_the_models_own(tmp_path: Path) -> None:
    packaged("pt-en")
    files.write(making.atlas("pt-en", 8, 8), files.path_of(tmp_path, "pt-en"))
    app = opened("atlas", model="pt-en", layer=6)
    (sample,) = sources.about("pt-en").samples
    assert app.values["s"] == sample.text
    assert own(app)["words"][:3] == ["O", "gato", "preto"]
    app.choose("model", "constructed")
    assert own(app)["words"][1:] == sources.about("constructed").samples[0].text.split()
    app.choose("s", "a b a")
    app.choose("model", "pt-en")
    assert app.values["s"] == "a b a"
    assert opened("atlas", model="pt-en", s="Bom dia.").values["s"] == "Bom dia."


def test_without_words_the_passport_stays_and_asks_for_some() -> None:
    app = opened("atlas", model="constructed", s=" ")
    assert passports(app)
    assert app.missing == ["Type a sentence above: it shows what this head does there."]


def test_a_sentence_with_too_many_pieces_to_be_seen_is_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(words, "MOST_PIECES", 7)
    app = opened("atlas", **CONSTRUCTED)
    assert app.notes == ["This sentence has 8 pieces; a head is tried on up to 7."]
    assert "own_sentence" not in app.sent


def test_a_link_that_names_what_is_not_here_shows_the_nearest_and_says_so() -> None:
    link = {"tiles": "<img src=x>", "second_head": "9.9", "layer": 60, "head": 7}
    app = opened("atlas", **CONSTRUCTED, **link)
    assert passports(app)[0]["name"] == "1.1"
    assert any("Tiles cannot show “<img src=x>” here" in note for note in app.notes)
    assert any("There is no head “9.9”" in note for note in app.notes)
    for second in ("x", "1.", ".1", "1.0.0", "²."):
        app = opened("atlas", **CONSTRUCTED, second_head=second)
        assert len(passports(app)) == 1
