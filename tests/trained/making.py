"""Tiny checkpoints of every layout, with random weights, as transformers saves them."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers.trainers import BpeTrainer, WordPieceTrainer
from torch import Tensor, nn

from attention.core.functional import Trace
from attention.trained.layouts import LAYOUTS
from attention.trained.models import Edit, Model

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


class Family(NamedTuple):
    """A tokenizer, and what transformers has for a family: its model, and its settings here."""

    tokenizer: Callable[[], Tokenizer]
    model: str
    config: dict[str, Any]


# sizes by the names in `Layout.settings`
TINY = {"d_model": 24, "d_head": 8, "positions": POSITIONS, "layers": 2, "hidden": 40}
TINY |= {"heads": 3, "groups": 1}


def tiny(name: str, tokenizer: Callable[[], Tokenizer] = gpts, /, **config: Any) -> Family:
    """A tiny model of a layout: as it declares its settings, but for these."""
    layout = LAYOUTS[name]
    sizes = {key: TINY[size] for size, key in layout.settings.items() if size in TINY}
    return Family(tokenizer, layout.reference, sizes | config)


GOES_ON = ("LMHeadModel", "ForCausalLM")
GROUPED = {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 4}
LLAMA3 = {"rope_type": "llama3", "rope_theta": 100.0, "factor": 5.0, "low_freq_factor": 0.4}
LLAMA3 |= {"high_freq_factor": 3.0, "original_max_position_embeddings": 23}
LINEAR = {"rope_type": "linear", "rope_theta": 700.0, "factor": 3.0}
PLAIN = {"rope_type": "default", "rope_theta": 700.0}
TIED: dict[str, Any] = {"head_dim": 10, "rms_norm_eps": 1e-3, "tie_word_embeddings": True}
BIASED: dict[str, Any] = {"attention_bias": True, "mlp_bias": True, "head_dim": 14}
STRETCHED: dict[str, Any] = BIASED | {"num_key_value_heads": 3, "rope_parameters": LLAMA3}
ABOVE: dict[str, Any] = {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1}
# every layout once, also one that was added today; then those with settings that change their steps
FAMILIES = {name: tiny(name) for name in LAYOUTS} | {
    "bert": tiny("bert", wordpiece),
    "bert with a head": tiny("bert", robertas, hidden_act="relu")._replace(model="BertForMaskedLM"),
    "gpt2": tiny("gpt2", n_inner=None),
    "gpt2 untied": tiny("gpt2", tie_word_embeddings=False, n_inner=40),
    "llama": tiny("llama", **GROUPED),
    "llama tied": tiny("llama", **TIED, rope_parameters=PLAIN),
    "llama stretched": tiny("llama", **STRETCHED),
    "mistral": tiny("mistral", sliding_window=5, rope_parameters=LINEAR),
    "qwen3": tiny("qwen3", **GROUPED | {"head_dim": 6} | ABOVE),
}
# those that say which piece comes next
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
        for parameter in theirs.parameters():
            parameter += torch.randn(parameter.shape, generator=generator) * 0.2
    theirs.save_pretrained(folder, **saving)
    tokenizer.save(str(folder / "tokenizer.json"))
    return Checkpoint(folder, theirs, family)


@torch.no_grad()
def run_theirs(theirs: nn.Module, ids: Tensor) -> Any:
    """All that transformers tells of a run over ids (pieces,)."""
    return theirs(ids[None], output_hidden_states=True, output_attentions=True)


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
