"""Tabs of the window of a model: heads in numbers, why a head looks where it does, names."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch.testing import assert_close

from attention.analysis import causes as analysed
from attention.analysis.names import WORDS
from attention.analysis.questions import EXCHANGED, MEAN
from attention.atlas import files
from attention.atlas.earned import names_of
from attention.core.printing import percent
from attention.figures.chart import Chart
from attention.figures.matrices import Matrices
from attention.subjects.model import effect_words, layer_words, scene
from attention.subjects.model.known_heads import KNOWN_CAUSES
from attention.subjects.model.words import LAYERS, NAMES, PARTS, REASONS
from tests.cases import over
from tests.running import App, opened, viewed
from tests.subjects.model.shown import part
from tests.subjects.steps.making import shown as read
from tests.trained.built import offer, writer
from tests.trained.packaged import packaged, run_model

SENTENCE, OTHER = "she sat by the river bank", "she sat by the money bank"


def visit(**link: object) -> App:
    """The page with its work done."""
    packaged(str(link.setdefault("model", "minilm")))
    return opened("model", **{"s": SENTENCE, "more": PARTS} | link).finished()


def chosen(app: App) -> tuple[int, int]:
    """The layer and the head that the window shows."""
    header = app.sent["model_window"].header
    layer, head = divmod(header["chosen"], header["heads"])
    return layer, head


@over("intervention", [MEAN, EXCHANGED])
def test_each_head_is_a_square_in_the_colour_of_its_effect_and_can_be_chosen(
    intervention: str,
) -> None:
    app = visit(intervention=intervention, second=OTHER, layer=5, head=3)
    drawn, first = app.sent["effects"].header, app.table_with("total")[""][0]
    squares, outline = drawn["data"][0]["z"], drawn["layout"]["shapes"][0]
    assert (len(squares), len(squares[0])) == (12, 6)
    assert (outline["x0"], outline["y0"]) == (4.5, 2.5)
    assert chosen(app.tell("effects", "point", 17)) == (1, 5)
    layer, head = chosen(app.tell("strongest", "example", 0))
    assert first == f"layer {layer} head {head}"
    assert squares[head][layer] == max(map(max, squares))


@pytest.mark.usefixtures("hurried")
def test_an_example_is_two_sentences_and_the_head_that_tells_them_apart() -> None:
    known = KNOWN_CAUSES[0]
    packaged("smollm2")
    app = opened("model", model="smollm2", s="a", more=PARTS).tell("known_causes", "example", 0)
    assert chosen(app) == (known.layer, known.head)
    assert (app.values["s"], app.values["second"]) == (known.s, known.second)
    assert app.selection["query"] == known.query


def test_a_decoder_shows_total_and_direct_effects_votes_and_the_guesses_of_its_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(writer(tmp_path), monkeypatch)
    link = {"model": "writer", "s": "the cat sat", "second": "the mat sat", "more": PARTS}
    app = opened("model", **link, intervention=EXCHANGED).finished()
    squares, dots = app.sent["effects"].header["data"]
    direct = dict(zip(zip(dots["y"], dots["x"], strict=True), dots["marker"]["color"], strict=True))
    table = app.table_with("direct")
    for name, *told in zip(table[""], table["total"], table["direct"], strict=True):
        _, layer, _, head = name.split()
        at = int(head), int(layer)
        expected = squares["z"][at[0]][at[1]], direct[at]
        assert [*map(read, told)] == pytest.approx(expected, abs=1e-4)
    assert app.table_with("vote")
    app.choose("more", LAYERS)
    assert len(app.sent["guesses"].header["data"]) == 2


def test_weights_lengths_and_the_score_are_of_the_chosen_query_and_key() -> None:
    link = {"model": "minilm", "s": SENTENCE, "layer": 3, "head": 1, "query": 6}
    model, run = packaged("minilm"), run_model("minilm", SENTENCE)
    shown = scene.reasons(viewed("model", **link, key=5))
    lengths = part(shown, "lengths", Matrices)
    rows, *_ = effect_words.length_rows(run, 3, 1, 6)
    assert_close(lengths.matrices[0].numbers, rows)
    assert lengths.chosen == (0, 5)
    *_, terms = analysed.score_parts(model, run, 3, 1, 6, 5)
    for bars in part(shown, "parts", Chart).figure.data:
        assert sum(bars.y) == pytest.approx(float(terms.sum()), abs=1e-3)
    app = visit(**link, more=REASONS).tell("lengths", "cell", (1, 2))
    assert app.query_params["key"] == "2"
    assert app.sent["lengths"].header["chosen"] == [0, 2]


@over(
    "case",
    [
        ({"intervention": EXCHANGED, "second": "two words"}, "first has 8, the second 4"),
        ({"intervention": EXCHANGED}, "Type the second sentence"),
        ({"s": "one " * 70}, "up to 64 pieces; this one has 72"),
    ],
)
def test_what_cannot_be_worked_out_is_told_and_the_rest_stays(
    case: tuple[dict[str, str], str],
) -> None:
    link, words = case
    app = visit(**link)
    assert words in app.said
    assert "model_window" in app.sent


# Names of heads


def test_a_head_has_the_names_in_the_window_that_hold_in_its_passport_and_no_other() -> None:
    app = visit(more=NAMES, lens="looks", query=2)
    told = app.sent["model_window"].header["told"]["looks"]
    passports = files.read(files.packaged()["minilm"]).passports
    for one, words in zip(passports, told, strict=True):
        said = {name for name in WORDS if f"at {WORDS[name]} (" in words}
        assert said == {name.name for name in one.names if name.holds}
        for name in one.names:
            times = sum(half.mean * half.count for half in name.halves)
            count = sum(half.count for half in name.halves)
            share = f"at {WORDS[name.name]} ({percent(times / count)} of {count} sentences)"
            assert (share in words) == name.holds


def test_a_name_leads_to_its_head_on_a_sentence_that_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit(more=NAMES, lens="looks", query=2)
    *_, last = best = layer_words.best_named(names_of("minilm"))
    assert app.table_with("looks most at")[""] == [named.name for named in best]
    app.tell("named_heads", "example", len(best) - 1)
    assert (*chosen(app), app.values["s"]) == (last.layer, last.head, last.shown)
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    assert "named_heads" not in visit(more=NAMES).sent, "there are no passports"
