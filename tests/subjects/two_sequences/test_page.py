"""The page "Two sequences": one sentence over another, and batches with their padding."""

from __future__ import annotations

from typing import Any

import pytest
from torch.testing import assert_close

from attention.pipeline import Settings
from attention.subjects.two_sequences import crossing
from attention.subjects.two_sequences import words as cross_words
from attention.subjects.two_sequences.words import PAD, CrossSettings
from tests.cases import over
from tests.running import App, Sent, numbers_of, opened
from tests.subjects.play.how.making import no_vectors
from tests.trained.packaged import packaged

MASKS = ("causal", "length")
BATCH = {"cross": "batch"}


def batch(**link: Any) -> App:
    return opened("cross", cross="batch", **link)


def rows(app: App) -> list[Sent]:
    """The matrices of each sequence."""
    return [part for key, part in app.sent.items() if key.startswith("sequence_")]


# Two sentences


def test_the_page_opens_on_bonjour_le_monde_over_hello_world_whatever_the_sentence():
    app = opened("cross", s="the bank raised its rates")
    shown = app.sent["picture"].header
    assert shown["tokens"] == ["bonjour", "le", "monde"]
    assert (shown["keys"], shown["keysKnown"]) == (["hello", "world"], [True, True])
    assert app.told[0] == "Most crosses from “hello” to “bonjour”, 78 % of its weight."
    words = app.sent["examples"].header["words"]
    assert words.startswith("Queries: 3 tokens. Memory: 2 tokens.")
    assert {"target", "memory"} <= app.controls.keys()
    assert "s" not in app.controls
    app = opened("cross", target="a b", memory="c").press("Swap")
    assert (app.values["target"], app.values["memory"]) == ("c", "a b")
    shown = app.take("which animal walks / the cat walks on the street").sent["picture"].header
    assert shown["tokens"] == ["which", "animal", "walks"]
    assert shown["keys"][:3] == ["the", "cat", "walks"]


@over(
    "link, words",
    [
        ({"memory": '"'}, "The memory is empty"),
        ({"target": "", "memory": ""}, "The first sentence has no words yet"),
        (BATCH | {"target": ""}, "A batch needs"),
    ],
)
def test_it_is_said_which_sentence_is_empty(link, words):
    (info,) = opened("cross", **link).missing
    assert info.startswith(words)


# A batch


def test_a_batch_of_sentences_has_its_padding_by_name_and_the_librarys_numbers():
    settings: dict[str, Any] = {"variant": "multihead", "vectors": "random", "d_model": 10}
    settings |= {"head": 3, "mask": MASKS, "positions": "rotary"}
    own = (
        BATCH
        | {"dropout": 0.5, "dropout_seed": 3, "batch_lens": "0 2 0"}
        | {"target": "a b c", "batch": "hello world | a b c |"}
    )
    app = opened("cross", **settings, **own)
    made = cross_words.compute_batch(Settings(**settings), CrossSettings(**own), no_vectors)
    names = [["hello", "world", PAD], ["a", "b", "c"], [PAD] * 3]
    for index, (row, columns) in enumerate(zip(rows(app)[:3], names, strict=True)):
        assert row.header["parts"][0]["columnNames"] == columns
        assert_close(row.matrices, numbers_of(cross_words.overview(made, index)), equal_nan=True)
    told = [words for words in app.told if words.startswith("Sequence ")]
    assert told[1] == "Sequence 1, “a b c”: valid length 2 of 3"
    assert "No key is valid, so there is nothing to attend to" in app.said
    assert {"variant", "mask", "head", "positions", "dropout_seed"} <= app.controls.keys()
    assert "dropout_seed" not in batch().controls


def test_a_click_chooses_a_number_of_the_output():
    app = batch().tell("sequence_1", "cell", [0, 2])
    assert app.query_params == {"cross": "batch", "sequence": "1", "dimension": "2"}
    assert app.sent["sequence_0"].header["chosen"] is None
    assert app.sent["sequence_1"].header["chosen"] == [0, 2]
    assert "in sequence 1, dimension 2" in app.said


def test_what_is_not_here_is_answered_with_a_word_and_the_nearest_shown():
    app = opened("cross", target="a b c", query=7, mask="cells", cells="<img>")
    assert app.selection["query"] == 7, "what is shown instead is said in the browser"
    assert any(note.startswith("No single cells are hidden: ") for note in app.notes)
    lens, *cells = batch(sequence=5, row=3, dimension=70, batch_lens="<b>").notes
    assert lens.startswith("Valid lengths: a length is a whole number, got '<b>'")
    assert cells == [
        "There is no sequence 5 in this batch; showing the last, 2.",
        "There is no row 3 in this batch; showing the last, 2.",
        "There is no dimension 70 in this batch; showing the last, 49.",
    ]
    (long, *_) = opened("cross", **BATCH, batch="cat " * 500).notes
    assert long == "Sequence 0 has 500 tokens; the first 16 are shown."


def test_numbers_open_on_a_published_batch_with_its_outputs_in_sight():
    app = opened("cross").choose("cross", "numbers")
    assert app.query_params == {"cross": "numbers"}
    assert app.told[0] == "Output: 2 3 4 5 | 10 11 12 13"
    assert [row.matrices[-1].tolist() for row in rows(app)] == [
        [pytest.approx([2, 3, 4, 5])],
        [pytest.approx([10, 11, 12, 13])],
    ]
    assert {
        "given_q",
        "given_k",
        "given_v",
        "given_lens",
        "variant",
        "scale",
    } <= app.controls.keys()
    assert not app.controls.keys() & {"target", "batch", "batch_lens", "mask", "vectors"}
    app.tell("sequence_1", "cell", [0, 2])
    assert "Output of “q0” in sequence 1, dimension 2" in app.said
    assert app.take("1; 3").told[0] == "Output: 0 1 2 3 | 4 5 6 7"
    (wrong,) = opened("cross", cross="numbers", given_v="1 <i>").missing
    assert wrong == "values: row 0, column 1 holds '<i>', which is no number."


# A translation


def test_a_translation_looks_from_its_words_at_those_of_the_sentence():
    packaged(cross_words.TRANSLATOR.name)
    app = opened("cross", cross="translated", s="the red car", query=1)
    shown = app.sent["picture"].header
    assert shown["tokens"][:3] == ["o", "carro", "vermelho"]
    assert shown["keys"][:3] == ["the", "red", "car"]
    assert app.sent["picture"].parts["weights"].argmax(-1)[:3].tolist() == [0, 2, 1]
    assert "<p class='told'>o carro vermelho</p>" in app.said
    assert (
        "The lines of “carro” and “vermelho” cross: they look at “car” (91 %) and “red” (99 %), "
        "which stand the other way round in the original."
    ) in app.told
    assert {"s", "cross"} <= app.controls.keys()
    assert not app.controls.keys() & {"target", "memory", "variant"}
    assert cross_words.TRANSLATOR.title in app.heading[-1]
    assert crossing.COPIED not in app.notes
    assert crossing.COPIED in opened("cross", cross="translated", s="heute ist es kalt").notes


def test_a_sentence_and_its_word_come_along_to_its_translation_whatever_the_mask():
    packaged(cross_words.TRANSLATOR.name)
    app = opened("explore", s="we sold the red car", mask="causal").move(query=3)
    app.go("cross")
    assert (app.values["s"], app.values["cross"]) == ("we sold the red car", "translated")
    shown, query = app.sent["picture"].header, app.selection["query"]
    assert shown["tokens"][query] == "vermelho"
    assert shown["keys"][int(app.sent["picture"].parts["weights"][query].argmax())] == "red"
    app.go("model").go("explore")
    assert app.view["model"] == "none", "a page that needs a model has it for itself"
    assert (app.values["mask"], app.selection["query"]) == (["causal"], 3)


def test_without_a_translator_the_page_says_so_and_opens_on_two_sentences(monkeypatch):
    monkeypatch.setattr(cross_words, "names_of_models", lambda: ("none",))
    assert cross_words.translated("") == cross_words.translated("a cat") == ""
    (info,) = opened("cross", cross="translated").missing
    assert info.startswith(f"{cross_words.TRANSLATOR.title} is not installed here.")
