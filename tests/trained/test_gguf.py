"""GGUF files: tiny ones that a test writes, and the one that a package carries."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attention.trained import sources
from attention.trained.gguf_files import GgufFile, check_gguf, load_gguf
from attention.trained.models import About
from attention.trained.pieces import read_tokenizer
from attention.trained.sampling import next_scores
from attention.trained.writing import begin, longer
from tests.cases import over
from tests.trained.making import SENTENCES, Checkpoint, run_theirs
from tests.trained.packaged import packaged
from tests.trained.test_parity import assert_same_run

ABOUT = About("tiny", "Tiny", "nobody")
GOLDENS = json.loads(Path(__file__).with_name("smollm2.json").read_text("utf-8"))
Get = Callable[[str], Checkpoint]
TOKENIZER = "tokenizer.ggml."


def tensors_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """The tensors of a model as GGUF files have them: dimensions that are rotated together lie side
    by side."""
    config, found = checkpoint.theirs.config, {}
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, parameter in checkpoint.theirs.named_parameters():
        values = parameter.detach().numpy()
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            halves = values.reshape(len(values) // config.head_dim, 2, -1, values.shape[-1])
            values = halves.swapaxes(1, 2).reshape(values.shape)
        found[str(names.get_name(name, (".weight",)))] = values
    return found


def said_of(checkpoint: Checkpoint) -> dict[str, Any]:
    """Contents of a GGUF file for a model and its vocabulary."""
    config = checkpoint.theirs.config
    model = json.loads((checkpoint.folder / "tokenizer.json").read_text("utf-8"))["model"]
    tokens = list(model["vocab"])
    return {
        "llama.embedding_length": config.hidden_size,
        "llama.attention.head_count": config.num_attention_heads,
        "llama.attention.head_count_kv": config.num_key_value_heads,
        "llama.attention.key_length": config.head_dim,
        "llama.attention.layer_norm_rms_epsilon": float(config.rms_norm_eps),
        "llama.block_count": config.num_hidden_layers,
        "llama.feed_forward_length": config.intermediate_size,
        "llama.context_length": config.max_position_embeddings,
        "llama.rope.freq_base": float(config.rope_parameters["rope_theta"]),
        TOKENIZER + "model": "gpt2",
        TOKENIZER + "pre": "smollm",
        TOKENIZER + "tokens": tokens,
        TOKENIZER + "token_type": [3 if "|" in each and "<" in each else 1 for each in tokens],
        TOKENIZER + "merges": [" ".join(pair) for pair in model["merges"]],
    }


ADD = {str: "string", list: "array", bool: "bool", int: "uint32", float: "float32"}


def written(
    file: Path, said: dict[str, Any], tensors: dict[str, Any], architecture: str = "llama"
) -> Path:
    """A file of the library's own writer; None leaves out, and bytes are of no known kind."""
    writer = gguf.GGUFWriter(file, architecture)
    for name, value in said.items():
        if value is not None:
            getattr(writer, f"add_{ADD[type(value)]}")(name, value)
    for name, values in tensors.items():
        kind = gguf.GGMLQuantizationType.Q8_K if values.dtype == np.uint8 else None
        writer.add_tensor(name, values, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.fixture
def tiny(checkpoint: Get, tmp_path: Path) -> Callable[..., Path]:
    """A tiny file, with changes to what it says."""
    made = checkpoint("llama tied")

    def write(architecture: str = "llama", **said: Any) -> Path:
        parts = said_of(made) | said
        return written(tmp_path / "tiny.gguf", parts, tensors_of(made), architecture)

    return write


def refused(file: Path, words: str) -> None:
    for read in (lambda: load_gguf(file, ABOUT), lambda: check_gguf(file)):
        with pytest.raises(ValueError, match=words):
            read()


@over("text", SENTENCES)
def test_a_gguf_file_is_the_model_that_it_was_made_of(tiny, checkpoint, text):
    model, made = load_gguf(tiny(), ABOUT), checkpoint("llama tied")
    pieces = read_tokenizer(made.folder / "tokenizer.json").encode(text).ids
    run = model.run(text)
    assert run.pieces.ids.tolist() == pieces[: model.limit]
    assert_same_run(model, made.theirs, run)
    logits = run_theirs(made.theirs, run.pieces.ids).logits[0]
    assert_close(model.scores(run.hidden), logits, atol=1e-5, rtol=1e-5)


def test_numbers_of_half_the_size_become_float32_and_an_unembedding_of_its_own_is_read(
    checkpoint, tmp_path
):
    made = checkpoint("llama")
    halved = {
        name: values.astype(np.float16) if values.ndim == 2 else values
        for name, values in tensors_of(made).items()
    }
    model = load_gguf(written(tmp_path / "half.gguf", said_of(made), halved), ABOUT)
    expected = torch.from_numpy(halved["output.weight"].astype(np.float32)).T
    assert torch.equal(model.unembedding, expected)


REFUSED: dict[str, dict[str, Any]] = {
    "its architecture must be 'llama', got 'mamba'": {"architecture": "mamba"},
    "must say llama.embedding_length, it does": {"llama.embedding_length": None},
    r"must have a tensor 'blk\.2\.\S+', it has none": {"llama.block_count": 3},
    r"blk\.0\.attn_q\.weight must be \(24, 24\)": {"llama.attention.key_length": 8},
    "all 10 dimensions must be rotated, 4 are": {"llama.rope.dimension_count": 4},
    "must not be stretched, they are .yarn.": {"llama.rope.scaling.type": "yarn"},
    "must have pieces for its merges": {TOKENIZER + "merges": ["a zzz"]},
    "must be of the kind 'gpt2', .*'llama'": {TOKENIZER + "model": "llama"},
    "one of gpt-2, smollm, got 'gpt2', 'qwen9'": {TOKENIZER + "pre": "qwen9"},
    "no piece must be put before": {TOKENIZER + "add_bos_token": True},
}


@over("words", REFUSED)
def test_a_file_that_is_not_known_is_refused_with_a_word(tiny, words):
    refused(tiny(**REFUSED[words]), words)


def test_a_quantisation_that_is_not_known_is_named(checkpoint, tmp_path):
    tensors = {"token_embd.weight": np.zeros((300, 292), np.uint8)}  # of 256 numbers each
    file = written(tmp_path / "unknown.gguf", said_of(checkpoint("llama tied")), tensors)
    for outline in (True, False):
        with pytest.raises(ValueError, match=r"embd\.weight is quantised in an unknown way, Q8_K"):
            GgufFile(file, outline).take("embed_tokens.weight", 300, 256)


@over("kept", [0.0, 0.1, 0.99])
def test_a_file_that_ends_too_early_is_refused(tiny, kept):
    file = tiny()
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * kept)])
    refused(file, r"tiny\.gguf must be a whole GGUF file")


def test_an_owner_names_a_gguf_file_and_a_broken_one_leaves_the_others(tiny, monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "_OWN", sources.OwnModels())
    file, broken = tiny(), tmp_path / "broken.gguf"
    broken.write_bytes(file.read_bytes()[:-9])
    monkeypatch.setenv(sources.OWN_MODELS_VARIABLE, f"{broken},{file}")
    sources.fetch()
    assert sources.names()[-1] == "tiny"
    assert "broken" not in sources.names()
    (problem,) = sources.problems()
    assert problem.startswith(f"{str(broken)!r} cannot be had: broken.gguf must be a whole GGUF")
    assert sources.load("tiny").run("the cat").hidden.isfinite().all()


# The model of the package


def test_smollm2_cuts_texts_as_its_reference_does():
    model = packaged("smollm2")
    assert len(GOLDENS["pieces"]) > 40
    for text, ids in GOLDENS["pieces"].items():
        assert model.pieces(text).ids.tolist() == ids, text


@torch.no_grad()
def test_smollm2_gives_the_reference_s_numbers_and_writes_its_words():
    model = packaged("smollm2")
    assert (len(model.layers), model.layers[0].attention.heads) == (30, 9)
    assert model.layers[0].attention.groups == 3
    for text, expected in GOLDENS["next"].items():
        probabilities = next_scores(model, model.run(text)).softmax(-1)
        for piece, probability in expected.items():
            assert_close(float(probabilities[int(piece)]), probability, atol=1e-4, rtol=1e-3)
        assert int(probabilities.argmax()) == int(next(iter(expected)))
    for text, written_on in GOLDENS["greedy"].items():
        written_so_far = begin(model, model.pieces(text).ids.tolist())
        for piece in written_on:
            assert int(written_so_far.scores.argmax()) == piece
            written_so_far = longer(model, written_so_far, piece)
