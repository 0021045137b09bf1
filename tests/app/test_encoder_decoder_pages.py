"""Models that write over a sentence, as an owner's folder of T5 or BART has them, on the pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attention.display import switches
from attention.trained.checkpoints import load_folder
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import About
from tests.running import opened
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
    app = opened("model", model=model.about.name, s=SENTENCE)
    header = app.sent["model_window"].header
    source, read, written = header["sequences"]
    layers = {layer["name"]: layer["sequences"] for layer in header["layers"]}
    assert layers == {
        "encoder 0": [0, 0],
        "encoder 1": [0, 0],
        "decoder 0 self": [1, 1],
        "decoder 0 cross": [2, 0],
    }
    assert read[1:] == written[:-1]
    assert len(source) == len(model.pieces(SENTENCE).ids)


@pytest.mark.parametrize("tab", [switches.REASONS, switches.PARTS, switches.ASSOCIATIONS])
def test_what_a_decoder_cannot_have_is_said(model: EncoderDecoder, tab: str) -> None:
    app = opened("model", model=model.about.name, s=SENTENCE, layer=str(SELF), more=tab)
    split = "This layer is the decoder's, behind an encoder: its score is not split."
    assert (split in app.notes) == (tab == switches.REASONS)


def test_its_output_is_aligned_by_all_heads(model: EncoderDecoder) -> None:
    app = opened("model", model=model.about.name, s=SENTENCE, more=switches.COMPUTED)
    assert "The output" in [each.value for each in app.subheader]
    shown = app.sent["alignment"].header
    assert "the mean of all heads of the last layer" in str(shown)
    assert shown["head"] is None
    written = model.write(SENTENCE)
    assert (shown["rows"], shown["columns"]) == tuple(written.alignment.shape)


@pytest.mark.parametrize("page", ["explore", "compare"])
def test_a_layer_over_what_is_written_is_shown_with_what_it_reads(
    model: EncoderDecoder, page: str
) -> None:
    app = opened(page, model=model.about.name, s=SENTENCE, layer=str(SELF))
    assert not any("looks from one sentence at another" in each.value for each in app.info)
    app = opened(page, model=model.about.name, s=SENTENCE, layer=str(CROSS))
    across = any("looks from one sentence at another" in each.value for each in app.info)
    assert across == (page != "explore")
