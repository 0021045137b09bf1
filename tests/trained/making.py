"""Tiny checkpoints of every layout, with random weights, as transformers saves them."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers.trainers import BpeTrainer, WordPieceTrainer
from torch import Tensor, nn

from attention.core.functional import Trace
from attention.trained.layouts import LAYOUTS
from attention.trained.models import Edit, Model, Run

CORPUS = [
    "the cat sat on the mat and looked at the cat on the other mat",
    "é is in café, été and née: a river of naïve words, running to the unhappiest ending",
]
POSITIONS = 40
SENTENCES = (
    "the cat sat",
    "A naïve café's unhappiest cat, running!",
    "猫は привет 😀 שלום 👩‍👩‍👧 \t mat\n\ncat  10,000",
    "the cat " * POSITIONS,
)


def transformers() -> Any:
    """The library that trained models are compared with; a test that asks for it skips without."""
    return pytest.importorskip("transformers", reason="needs transformers (requirements-dev.txt)")


def trained(
    model: models.Model, special: list[str], trainer: Any = BpeTrainer, **more: Any
) -> Tokenizer:
    """A tokenizer that has learned its pieces from `CORPUS`."""
    made = Tokenizer(model)
    for name in [name for name in more if hasattr(made, name)]:
        setattr(made, name, more.pop(name))
    more = {"vocab_size": 75, "special_tokens": special, "show_progress": False} | more
    made.train_from_iterator(CORPUS, trainer(**more))
    return made


def wordpiece() -> Tokenizer:
    """As BERT's: words and ##ings between [CLS] and [SEP]."""
    return trained(
        models.WordPiece(unk_token="[UNK]"),
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
        WordPieceTrainer,
        normalizer=normalizers.BertNormalizer(),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        decoder=decoders.WordPiece(),
        post_processor=processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2)),
    )


def bytelevel(special: list[str], **more: Any) -> Tokenizer:
    """As GPT-2's: any text at all, in pieces of bytes."""
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
    more |= {"pre_tokenizer": cut, "decoder": decoders.ByteLevel(), "vocab_size": 300}
    return trained(models.BPE(), special, initial_alphabet=cut.alphabet(), **more)


def gpts() -> Tokenizer:
    """Pieces of bytes, and nothing put around them."""
    return bytelevel(["<|endoftext|>"])


def robertas() -> Tokenizer:
    """Pieces of bytes between <s> and </s>."""
    around = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return bytelevel(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], post_processor=around)


def t5s() -> Tokenizer:
    """As T5's: words in parts, the first of each with a blank, and </s> behind them."""
    end = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    more = {"pre_tokenizer": pre_tokenizers.Metaspace(), "decoder": decoders.Metaspace()}
    special = ["<pad>", "</s>", "<unk>"]
    return trained(models.BPE(unk_token="<unk>"), special, post_processor=end, **more)


class Family(NamedTuple):
    """A tokenizer, and what transformers has for a family: its model, its settings here, and those
    that its library no longer writes into config.json."""

    tokenizer: Callable[[], Tokenizer]
    model: str
    config: dict[str, Any]
    more: Mapping[str, Any] = {}


# sizes by the names in `Layout.settings`
TINY = {"d_model": 24, "d_head": 8, "positions": POSITIONS, "layers": 2, "layers of the decoder": 1}
TINY |= {f"heads{of}": 3 for of in ("", " of the decoder")} | {"groups": 1}
TINY |= {f"hidden{of}": 40 for of in ("", " of the encoder", " of the decoder")}


def tiny(name: str, tokenizer: Callable[[], Tokenizer] | None = None, /, **config: Any) -> Family:
    """A tiny model of a layout: as it declares its settings, but for these."""
    layout = LAYOUTS[name]
    sizes = {key: TINY[size] for size, key in layout.settings.items() if size in TINY}
    if "padding" in layout.settings:
        sizes[layout.settings["positions"]] += layout.defaults[layout.settings["padding"]] + 1
    decodes = layout.reference.endswith("ForConditionalGeneration")
    usual = t5s if decodes else gpts if layout.reference.endswith(GOES_ON) else robertas
    return Family(tokenizer or usual, layout.reference, sizes | config)


GOES_ON = ("LMHeadModel", "ForCausalLM")
GROUPED = {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 4}
GEMMA = GROUPED | {"head_dim": 6, "query_pre_attn_scalar": 11, "final_logit_softcapping": 2.0}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 100.0, "factor": 5.0, "low_freq_factor": 0.4}
LLAMA3 |= {"high_freq_factor": 3.0, "original_max_position_embeddings": 23}
LINEAR = {"rope_type": "linear", "rope_theta": 700.0, "factor": 3.0}
PLAIN = {"rope_type": "default", "rope_theta": 700.0}
TIED: dict[str, Any] = {"head_dim": 10, "rms_norm_eps": 1e-3, "tie_word_embeddings": True}
BIASED: dict[str, Any] = {"attention_bias": True, "mlp_bias": True, "head_dim": 14}
STRETCHED: dict[str, Any] = BIASED | {"num_key_value_heads": 3, "rope_parameters": LLAMA3}
ABOVE: dict[str, Any] = {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1}
CAPPED: dict[str, Any] = {"sliding_window": 3, "attn_logit_softcapping": 1.5}
TURNS: dict[str, Any] = {"sliding_window": 4, "sliding_window_pattern": 2}
NEAR = {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 11}
# every layout once, also one that was added today; then those with settings that change their steps
FAMILIES = {name: tiny(name) for name in LAYOUTS} | {
    "bert": tiny("bert", wordpiece),
    "bert with a head": tiny("bert", wordpiece, hidden_act="relu")._replace(
        model="BertForMaskedLM"
    ),
    "distilbert": tiny("distilbert", wordpiece),
    "gpt2": tiny("gpt2", n_inner=None),
    "gpt2 untied": tiny("gpt2", tie_word_embeddings=False, n_inner=40),
    "llama": tiny("llama", **GROUPED),
    "llama tied": tiny("llama", **TIED, rope_parameters=PLAIN),
    "llama stretched": tiny("llama", **STRETCHED),
    "mistral": tiny("mistral", sliding_window=5, rope_parameters=LINEAR),
    "qwen3": tiny("qwen3", **GROUPED | {"head_dim": 6} | ABOVE),
    "gemma2": tiny("gemma2", **GEMMA | CAPPED),
    "gemma3_text": tiny("gemma3_text", **GEMMA | TURNS),
    "phi3": tiny("phi3", sliding_window=5, pad_token_id=0),
    "t5": tiny("t5", d_kv=6, **NEAR),
    "bart": tiny("bart", robertas, scale_embedding=True)._replace(more={"forced_bos_token_id": 0}),
}
# those that write an output over a sentence, and those that say which piece comes next
WRITING = [
    name for name, each in FAMILIES.items() if each.model.endswith("ForConditionalGeneration")
]
GOING_ON = [name for name, each in FAMILIES.items() if each.model.endswith(GOES_ON)]


class Checkpoint(NamedTuple):
    """A folder of files, the model that transformers wrote into it, and its family."""

    folder: Path
    theirs: Any
    family: Family


def write_checkpoint(folder: Path, name: str, **saving: Any) -> Checkpoint:
    """A model of one of `FAMILIES`, its weights random and large enough for all to matter."""
    family = FAMILIES[name]
    tokenizer = family.tokenizer()
    kind = getattr(transformers(), family.model)
    config = kind.config_class(**family.config, vocab_size=tokenizer.get_vocab_size())
    config._attn_implementation = "eager"
    with torch.random.fork_rng():
        torch.manual_seed(0)  # transformers draws with torch's own generator
        theirs = kind(config).eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in (*theirs.parameters(), *biases_of(theirs)):
            parameter += torch.randn(parameter.shape, generator=generator) * 0.2
    theirs.save_pretrained(folder, **saving)
    change_json(folder / "config.json", **family.more)
    tokenizer.save(str(folder / "tokenizer.json"))
    return Checkpoint(folder, theirs, family)


def biases_of(theirs: nn.Module) -> list[Tensor]:
    """Biases of scores that no training changes."""
    return [each for name, each in theirs.named_buffers() if name == "final_logits_bias"]


@torch.no_grad()
def run_theirs(theirs: nn.Module, ids: Tensor, read: Tensor | None = None) -> Any:
    """All that transformers tells of a run over ids (pieces,), and over what a decoder reads."""
    more = {} if read is None else {"decoder_input_ids": read[None]}
    return theirs(ids[None], output_hidden_states=True, output_attentions=True, **more)


def read_by(run: Run) -> Tensor | None:
    """The ids that a decoder's self-attention reads, None where there is none."""
    found = [each for each in run.inputs if each.layer.decodes and not each.layer.crosses]
    return found[0].pieces.ids if found else None


def change_json(file: Path, **changes: Any) -> None:
    """Settings written into a file of JSON; None takes one out."""
    read = json.loads(file.read_text("utf-8")) | changes
    kept = {name: value for name, value in read.items() if value is not None}
    file.write_text(json.dumps(kept), "utf-8")


def of_trace(edit: Callable[[int, Trace], Trace]) -> Edit:
    """An edit of the trace alone."""
    return lambda layer, run: run.edited(trace=edit(layer, run.trace))


def doubled(part: Any) -> Any:
    """Convert to float64, however the part is put together."""
    if isinstance(part, Tensor):
        return part.double() if part.is_floating_point() else part
    if isinstance(part, nn.Module):
        return copy.deepcopy(part).double()
    if isinstance(part, list | tuple):
        return type(part)(map(doubled, part))
    if isinstance(part, type) or not (dataclasses.is_dataclass(part) or isinstance(part, Model)):
        return part
    made = copy.copy(part)
    vars(made).update({name: doubled(value) for name, value in vars(part).items()})
    return made
