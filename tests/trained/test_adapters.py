"""Adapters: what PEFT writes is read as PEFT applies it, and anything else is refused."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from attention.trained import adapters, sources
from attention.trained.adapters import read_adapter, write_adapter
from attention.trained.checkpoints import load_folder
from attention.trained.models import About, Transformer
from attention.training.tuning import tune
from tests.cases import over
from tests.trained.making import Checkpoint, change_json, transformers
from tests.trained.packaged import packaged
from tests.trained.test_gguf import said_of, written
from tests.trained.test_gguf import tensors_of as weights_of
from tests.trained.test_sources import own

# PEFT asks models of transformers for a name that is going away
pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")

ABOUT = About("tiny", "Tiny", "nobody")
Get = Callable[[str], Checkpoint]
TARGETS = {
    "llama": ["q_proj", "v_proj", "down_proj"],
    "qwen2": ["k_proj", "o_proj", "gate_proj"],
    "gpt2": ["c_attn", "c_fc"],
}


def loaded(folder: Path) -> Transformer:
    model = load_folder(folder, ABOUT)
    assert isinstance(model, Transformer)
    return model


@over("family", TARGETS)
@over("rank_stabilised", [False, True])
def test_an_adapter_of_peft_gives_the_scores_of_peft(family, rank_stabilised, checkpoint, tmp_path):
    peft = pytest.importorskip("peft", reason="needs peft (requirements-dev.txt)")
    folder = checkpoint(family).folder
    theirs: Any = transformers().AutoModelForCausalLM.from_pretrained(folder)
    settings = peft.LoraConfig(
        **{"r": 3, "lora_alpha": 7, "use_rslora": rank_stabilised, "init_lora_weights": False},
        target_modules=TARGETS[family],
        fan_in_fan_out=family == "gpt2",
        task_type="CAUSAL_LM",
    )
    torch.manual_seed(5)
    adapted = peft.get_peft_model(theirs, settings)
    adapted.save_pretrained(tmp_path)
    base = loaded(folder)
    ours = read_adapter(tmp_path, base.stored.prefix).upon(base)
    run = ours.run("the cat sat on the mat")
    merged = adapted.merge_and_unload()
    for name, tensor in ours.stored.tensors.items():
        if (expected := merged.state_dict().get(base.stored.prefix + name)) is not None:
            assert_close(tensor, expected, rtol=1e-6, atol=1e-6)
    with torch.no_grad():
        expected = merged(input_ids=run.pieces.ids[None]).logits[0]
    assert_close(ours.scores(run.hidden), expected, rtol=1e-5, atol=1e-5)
    assert (run.hidden - base.run_pieces(run.pieces).hidden).abs().max() > 1e-3


def test_an_adapter_that_is_written_here_opens_in_peft_and_shares_all_that_it_does_not_change(
    checkpoint, tmp_path
):
    peft = pytest.importorskip("peft", reason="needs peft (requirements-dev.txt)")
    base = loaded(checkpoint("llama").folder)
    *_, last = tune(base, [("the cat sat on the", " mat")], steps=2, rate=0.1, layers=[1])
    write_adapter(last.adapter, tmp_path, base.stored.prefix)
    tuned = read_adapter(tmp_path, base.stored.prefix).upon(base)
    theirs: Any = transformers().AutoModelForCausalLM.from_pretrained(checkpoint("llama").folder)
    adapted = peft.PeftModel.from_pretrained(theirs, tmp_path)
    run = tuned.run("the cat sat")
    with torch.no_grad():
        expected = adapted(input_ids=run.pieces.ids[None]).logits[0]
    assert_close(tuned.scores(run.hidden), expected, rtol=1e-5, atol=1e-5)
    assert len(tuned.storages.keys() - base.storages) == 3  # W_q, W_k and W_v of layer 1


def _without(key: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        tensors = load_file(folder / adapters.WEIGHTS)
        save_file(
            {name: each for name, each in tensors.items() if key not in name},
            folder / adapters.WEIGHTS,
        )

    return change


def _with(name: str, *shape: int) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        tensors = load_file(folder / adapters.WEIGHTS)
        save_file(tensors | {name: torch.ones(shape)}, folder / adapters.WEIGHTS)

    return change


def _set(**values: Any) -> Callable[[Path], None]:
    return lambda folder: change_json(folder / adapters.CONFIG, **values)


LAYER = "base_model.model.model.layers.0."
REFUSED: dict[str, Callable[[Path], object]] = {
    "must have peft_type = \"LORA\", got 'IA3'": _set(peft_type="IA3"),
    "must have bias = \"none\", got 'all'": _set(bias="all"),
    "must have use_dora = false, got True": _set(use_dora=True),
    r"must have modules_to_save = null or .*, got \['lm_head'\]": _set(modules_to_save=["lm_head"]),
    r"must have rank_pattern = null or .*, got \{'k_proj': 8\}": _set(rank_pattern={"k_proj": 8}),
    "must have init_lora_weights = true or .*, got 'pissa'": _set(init_lora_weights="pissa"),
    "must have r, a whole number of at least 1, .*, got None and 4": _set(r=None),
    "must have r, .* and lora_alpha, a number, got 4 and nan": _set(lora_alpha=math.nan),
    "must be a whole safetensors file": lambda folder: (folder / adapters.WEIGHTS).unlink(),
    "must have both lora_A and lora_B, got one": _without("layers.0.self_attn.q_proj.lora_B"),
    "of matrices alone, got .*magnitude": _with(f"{LAYER}self_attn.q_proj.magnitude", 3),
    "of matrices alone, got .*embedding_A": _with(f"{LAYER}embed_tokens.lora_embedding_A", 4, 9),
    r"lora_A.weight \(4, d_in\) .*, got .* \(5, 24\)": _with(
        f"{LAYER}self_attn.q_proj.lora_A.weight", 5, 24
    ),
    r"must be for a matrix \(24, 24\), got one for \(24, 23\)": _with(
        f"{LAYER}self_attn.q_proj.lora_A.weight", 4, 23
    ),
    "the base must have a matrix 'layers.7.self_attn.q_proj' to adapt": lambda folder: [
        _with(f"{LAYER.replace('0', '7')}self_attn.q_proj.lora_{half}.weight", *shape)(folder)
        for half, shape in (("A", (4, 24)), ("B", (24, 4)))
    ],
}


@over("problem", REFUSED)
def test_anything_but_lora_of_the_base_s_matrices_is_refused(problem, checkpoint, tmp_path):
    base = loaded(checkpoint("llama").folder)
    first = next(tune(base, [("the cat sat on the", " mat")]))
    write_adapter(first.adapter, tmp_path, base.stored.prefix)
    assert json.loads((tmp_path / adapters.CONFIG).read_text())["r"] == 4
    read_adapter(tmp_path, base.stored.prefix).upon(base)
    REFUSED[problem](tmp_path)
    with pytest.raises(ValueError, match=problem):
        read_adapter(tmp_path, base.stored.prefix).upon(base)


# Models that were tuned from others


def _adapter(of: Path, folder: Path) -> Path:
    """An adapter that one step of a tuning has made."""
    base = sources.load(of)
    assert isinstance(base, Transformer)
    *_, last = tune(base, [("the cat sat on the", " mat")], steps=1, layers=[0])
    write_adapter(last.adapter, folder, base.stored.prefix)
    return folder


NO_BASE = "before tuned=… there must be a base=… whose files can be had"
# Names that the owner gives, models with their bases that are there then, reasons for others.
PAIRS: dict[str, tuple[str, dict[str, str], str]] = {
    "two folders": ("base={llama},tuned={step}", {"llama": "", "step": "llama"}, ""),
    "an adapter": ("base={llama},tuned={adapter}", {"llama": "", "adapter": "llama"}, ""),
    "two GGUF files": ("base={one},tuned={two}", {"one": "", "two": "one"}, ""),
    "several of one base, and another model": (
        "{gpt2}, base={llama} ,tuned={step},tuned={adapter}",
        {"gpt2": "", "llama": "", "step": "llama", "adapter": "llama"},
        "",
    ),
    "a packaged base": ("base=minilm,tuned={copy}", {"copy": "minilm"}, ""),
    "no base": ("tuned={step}", {}, f"'tuned={{step}}' cannot be had: {NO_BASE}"),
    "an adapter alone": ("{adapter}", {}, "its base: ATTENTION_MODELS=base=A,tuned={adapter}"),
    "a base and another model": (
        "base={llama},{step}",
        {"llama": ""},
        "'{step}' cannot be had: behind a base there must be tuned=…: base={llama},tuned={step}",
    ),
    "a base that is nowhere": ("base={step}/none,tuned={step}", {}, NO_BASE),
    "a base without files": ("base=constructed,tuned={step}", {}, NO_BASE),
    "a base that is left out": ("-minilm,base=minilm,tuned={copy}", {}, NO_BASE),
    "another shape": (
        "base={llama},tuned={qwen2}",
        {"llama": ""},
        "its layers.0.self_attn.k_proj.bias must be none as its base's, got (8,)",
    ),
    "other pieces": ("base={llama},tuned={pieces}", {"llama": ""}, "its pieces must be its base's"),
    "an adapter of another model": (
        "base={gpt2},tuned={adapter}",
        {"gpt2": ""},
        "the base must have a matrix 'model.layers.0.self_attn.k_proj' to adapt, it has none",
    ),
}


@over("case", PAIRS)
def test_an_owner_names_a_base_and_what_was_tuned_from_it(case, monkeypatch, checkpoint, tmp_path):
    folders = {name: checkpoint(name).folder for name in ("llama", "gpt2", "qwen2")}
    for name in ("step", "pieces"):
        folders[name] = shutil.copytree(folders["llama"], tmp_path / name, dirs_exist_ok=True)
    folders["copy"] = tmp_path / "copy"
    if "copy" in PAIRS[case][0] and not folders["copy"].exists():
        packaged("minilm")
        folders["copy"].symlink_to(sources.MINILM.path)
    pieces = json.loads((folders["pieces"] / "tokenizer.json").read_text("utf-8"))
    vocabulary = pieces["model"]["vocab"]
    (one, at), (two, other) = [*vocabulary.items()][-2:]
    vocabulary |= {one: other, two: at}
    (folders["pieces"] / "tokenizer.json").write_text(json.dumps(pieces), "utf-8")
    folders["adapter"] = _adapter(folders["llama"], tmp_path / "adapter")
    tied = checkpoint("llama tied")
    for name in ("one", "two"):
        folders[name] = written(tmp_path / f"{name}.gguf", said_of(tied), weights_of(tied))
    named, bases, told = PAIRS[case]
    monkeypatch.setattr(sources, "_OWN", sources.OwnModels())
    names = own(monkeypatch, named.format(**folders))
    assert {name: sources.base_of(name) for name in names} == bases
    assert len(sources.problems()) == bool(told) + (case == "a base that is nowhere")
    assert not told or told.format(**folders) in sources.problems()[-1]
    for name in names:
        assert sources.load(name).run("the cats").hidden.isfinite().all()
