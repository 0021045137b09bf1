"""Models that write over a sentence, as an owner's folder of T5 or BART has them, on the pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attention.figures.picture import AttentionPicture
from attention.subjects.model import scene, window
from attention.subjects.model import words as model_words
from attention.trained.checkpoints import load_folder
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import About
from tests.running import opened, viewed
from tests.subjects.model.shown import part, words
from tests.trained.built import offer
from tests.trained.conftest import checkpoint
from tests.trained.making import Checkpoint

__all__ = ["checkpoint"]

SENTENCE = "the cat sat on it"
SELF, CROSS = 2, 3  # the layers of the decoder, behind two of the encoder


@pytest.fixture(params=["t5", "bart"])
def model(
    request: pytest.FixtureRequest,
    checkpoint: Callable[[str], Checkpoint],
    monkeypatch: pytest.MonkeyPatch,
) -> EncoderDecoder:
    name: str = request.param
    read = load_folder(checkpoint(name).folder, About(name, name, "nobody"))
    assert isinstance(read, EncoderDecoder)
    offer(read, monkeypatch)
    return read


def test_the_window_has_the_sentence_what_is_read_and_what_is_written(
    model: EncoderDecoder,
) -> None:
    view = viewed("model", model=model.about.name, s=SENTENCE)
    shown, figure = scene.computed(view), window.figure_of(view, window.shown_of(view))
    source, read, written = figure.said["sequences"]
    assert {name: sequences for name, *sequences, _ in figure.layers} == {
        "encoder 0": [0, 0],
        "encoder 1": [0, 0],
        "decoder 0 self": [1, 1],
        "decoder 0 cross": [2, 0],
    }
    assert (read[1:], len(source)) == (written[:-1], len(model.pieces(SENTENCE).ids))
    assert "The output" in words(shown)
    alignment = part(shown, "alignment", AttentionPicture).shown
    assert "the mean of all heads of the last layer" in alignment.caption[0]
    assert alignment.trace.weights.shape == model.write(SENTENCE).alignment.shape
    assert alignment.head is None


def test_what_a_decoder_cannot_have_is_said(model: EncoderDecoder) -> None:
    split = "This layer is the decoder's, behind an encoder: its score is not split."
    for tab in (model_words.REASONS, model_words.PARTS, model_words.ASSOCIATIONS):
        app = opened("model", model=model.about.name, s=SENTENCE, layer=SELF, more=tab)
        assert (split in app.notes) == (tab == model_words.REASONS)
    for page, layer in (
        ("explore", SELF),
        ("compare", SELF),
        ("explore", CROSS),
        ("compare", CROSS),
    ):
        app = opened(page, model=model.about.name, s=SENTENCE, layer=layer)
        across = any("looks from one sentence at another" in each for each in app.missing)
        assert across == ((page, layer) == ("compare", CROSS))
