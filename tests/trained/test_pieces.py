"""A sentence in pieces, as a person reads them; and pieces as a text again."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from attention.trained.checkpoints import load_folder
from attention.trained.models import About, Pieces, Transformer
from attention.trained.pieces import Reader, read_tokenizer
from tests.cases import over
from tests.hostile import HOSTILE
from tests.properties import given
from tests.properties import strategies as st
from tests.trained.making import POSITIONS, Checkpoint

Loaded = Callable[[str], Transformer]
BYTES = "bert with a head"  # whose pieces are of bytes, between <s> and </s>
UNIQUE = "unhappiest café 猫 the cat"


@pytest.fixture(scope="module")
def loaded(checkpoint: Callable[[str], Checkpoint]) -> Loaded:
    """A model of one of the families, read once."""

    @functools.cache
    def read(name: str) -> Transformer:
        return load_folder(checkpoint(name).folder, About("tiny", "Tiny", "nobody"))

    return read


SHOWN = {
    "the cat café": "the·cat·café",
    "a 猫\x00 €": "a·⟨E7⟩⟨8C⟩⟨AB⟩⟨00⟩·⟨E2⟩⟨82⟩⟨AC⟩",
    "a  b\n\tc": "a··b↵⇥c",
}


@over("text", SHOWN)
def test_pieces_of_bytes_are_shown_as_the_text_they_are_or_as_bytes(loaded, text):
    assert "".join(loaded("gpt2").pieces(text).texts) == SHOWN[text]


def test_pieces_of_words_keep_their_marks_and_what_is_unknown_its_name(loaded):
    pieces = loaded("bert").pieces("the unhappiest 猫 cat")
    assert pieces.texts[:2] == ("[CLS]", "the")
    assert pieces.texts[-3:] == ("[UNK]", "cat", "[SEP]")
    middle = pieces.texts[2:-3]
    assert "".join(text.removeprefix("##") for text in middle) == "unhappiest"
    assert all(text.startswith("##") for text in middle[1:])
    assert len(middle) > 1
    assert pieces.words == (None, 0, *[1] * len(middle), 2, 3, None)


@over("name", ["bert", BYTES, "gpt2"])
def test_only_special_tokens_that_nobody_wrote_belong_to_no_word_and_what_does_not_fit_is_counted(
    loaded, name
):
    model, around = loaded(name), 0 if name == "gpt2" else 1
    ends, pieces = [True] * around, model.pieces(UNIQUE)
    assert pieces.special == ends + [False] * (len(pieces.ids) - 2 * around) + ends
    words = ["", "", "", "", ""]
    for text, word in zip(pieces.texts, pieces.words, strict=True):
        if word is not None:
            words[word] += text.removeprefix("##")
    assert [word.removeprefix("·") for word in words[::2]] == [
        "unhappiest",
        "[UNK]" if name == "bert" else "⟨E7⟩⟨8C⟩⟨AB⟩",
        "cat",
    ]
    written = {BYTES: "<mask>", "gpt2": "<|endoftext|>"}.get(name, "[MASK]")
    pieces = model.pieces(f"the {written} cat")
    assert pieces.words[pieces.texts.index(written)] is not None
    special = 2 * around
    for count in (1, POSITIONS - special, POSITIONS - special + 1, 9 * POSITIONS, 5000):
        pieces = model.pieces(" the" * count)
        assert len(pieces.ids) == min(count + special, POSITIONS)
        assert pieces.left_out == max(0, count + special - POSITIONS)
    assert model.run(" the" * 5000).hidden.shape == (POSITIONS, 24)


@pytest.mark.parametrize("name", ["bert", BYTES, "gpt2"])
@over("text", [*HOSTILE, "\ud800 cat", "\U0010ffff", "cat" * 2000])
def test_any_text_is_read_or_has_no_words(loaded, name, text):
    model = loaded(name)
    pieces = model.pieces(text)
    assert len(pieces.ids) == len(pieces.texts) == len(pieces.words) <= model.limit
    assert all(shown and not set(shown) & {"\x00", "\n", "\ufffd"} for shown in pieces.texts)
    if all(pieces.special):
        with pytest.raises(ValueError, match="the sentence has no words yet"):
            model.run(text)
    else:
        assert model.run(text).hidden.isfinite().all()
        assert text.strip() or {*"".join(pieces.texts)} <= {"·", *"<s>/"}


def test_pieces_that_are_cut_again_count_all_that_were_left_out():
    pieces = Pieces(torch.arange(7), tuple("abcdefg"), (None, 0, 1, 2, 3, 4, None), left_out=3)
    kept = pieces.cut(5)
    assert (kept.texts, kept.words, kept.left_out) == (tuple("abcdg"), (None, 0, 1, 2, None), 5)


# Pieces -> text


@given(st.text(max_size=60).filter(lambda text: text.isprintable()))
def test_what_pieces_of_bytes_say_is_the_text_they_come_from(loaded, text):
    model = loaded("gpt2")
    pieces = model.pieces(text)
    if not pieces.left_out:
        assert model.text_of(pieces.ids.tolist()) == text


def test_a_chosen_piece_makes_a_sentence_of_the_same_pieces_and_that_one(loaded):
    model, sentence = loaded("gpt2"), "the cat"
    before = model.pieces(sentence).ids.tolist()
    known = model.pieces(" the café, sat<|endoftext|>\n").ids.tolist()
    for piece in known:
        said = model.text_of([piece], before)
        assert said
        assert said.replace(" ", "·").replace("\n", "↵") == model.shown([piece])[0]
    for piece in model.pieces(" sat<|endoftext|>").ids.tolist():
        again = model.pieces(sentence + str(model.text_of([piece], before)))
        assert again.ids.tolist() == [*before, piece]


def test_a_part_of_a_character_says_nothing_until_the_rest_is_chosen(loaded):
    model = loaded("gpt2")
    parts = model.pieces("猫").ids.tolist()
    assert [model.text_of(parts[:count]) for count in range(4)] == ["", None, None, "猫"]
    assert model.text_of([100_000]) is None
    assert model.shown([100_000]) == ("⟨no piece 100000⟩",)


def test_what_pieces_of_words_say_depends_on_what_stands_before(loaded):
    model = loaded("bert")
    before = model.pieces("the").ids.tolist()[1:-1]
    cat, *rest = model.pieces("cat unhappiest").ids.tolist()[1:-1]
    assert model.text_of([cat], before) == " cat"
    assert model.text_of([cat]) == "cat"
    assert model.text_of(rest, before) == " unhappiest"
    assert model.text_of(rest[1:2], before) == model.shown(rest)[1].removeprefix("##")


def test_the_mark_of_a_space_in_pieces_of_sentencepiece_is_shown_as_one(tmp_path):
    made = Tokenizer(models.BPE({"▁": 0, "▁c": 1, "c": 2}, [("▁", "c")]))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    made.save(str(tmp_path / "tokenizer.json"))
    reader = Reader(read_tokenizer(tmp_path / "tokenizer.json"), 9)
    assert reader("c c").texts == ("·c", "·c")
    assert reader.text_of([1], [1]) == " c"
