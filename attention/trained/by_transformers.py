"""A folder whose layout is not known here -> a model that transformers runs, where it is installed.

Code of a folder is never run, no pickle is read, and nothing is asked of another host: its settings
are JSON for a class that transformers has, its weights safetensors.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from attention.core.limits import limits
from attention.trained.hooked import parts_of
from attention.trained.models import Parts
from attention.trained.network import Network

POSITIONS = ("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length")
GOES_ON = ("ForCausalLM", "LMHeadModel")
SPARED = "pooler."  # weights that may be missing: nothing here asks for a pooled vector
QUANTISED = "quantization_config"


def is_installed() -> bool:
    """True if transformers is there; it is not imported for that."""
    return importlib.util.find_spec("transformers") is not None


class Family(NamedTuple):
    """A family of models as transformers has it: its settings, and the class that runs them."""

    config: Any
    kind: Any

    @property
    def source(self) -> str:
        """Description of where it is from, for visitors."""
        return f"Of the family {self.config.model_type}, run by transformers"

    @property
    def limit(self) -> int:
        """Number of pieces that it takes, the most there may be where it does not say."""
        found = (getattr(self.config, name, None) for name in POSITIONS)
        said = next((each for each in found if isinstance(each, int) and each > 0), None)
        return limits().tokens if said is None else said

    @property
    def padding(self) -> int:
        """The piece that pads a sentence, -1 where there is none."""
        said = getattr(self.config, "pad_token_id", None)
        return -1 if said is None else int(said)

    @property
    def filler(self) -> int:
        """A piece that is no padding."""
        return 1 if self.padding == 0 else 0

    @property
    def ends(self) -> list[int]:
        """The pieces that say that a text is over."""
        said = getattr(self.config, "eos_token_id", None)
        return [each for each in (said if isinstance(said, list) else [said]) if each is not None]


def family_of(settings: Mapping[str, Any], known: Collection[str]) -> Family:
    """The family that a config.json names. known: layouts that need no transformers.

    Raises ValueError where transformers is not installed, has none of that name, or what it needs
    is not done here.
    """
    name = settings.get("model_type")
    told = f"its layout must be one of {', '.join(known)}"
    if not is_installed():
        raise ValueError(
            f"{told}, got {name!r}, which transformers may run: "
            'pip install "attention-explorer[transformers]"'
        )
    if settings.get(QUANTISED):
        raise ValueError(f"its weights must be plain numbers, config.json has {QUANTISED}")
    from transformers import CONFIG_MAPPING, AutoModel, AutoModelForCausalLM, __version__

    if not isinstance(name, str) or name not in CONFIG_MAPPING:
        never = "; code of its own is never run" if "auto_map" in settings else ""
        raise ValueError(f"{told}, or a family of transformers {__version__}, got {name!r}{never}")
    try:
        config = CONFIG_MAPPING[name].from_dict({**settings})
    except Exception as error:  # each family checks in its own way
        raise ValueError(f"config.json must hold settings of {name}: {_line(error)}") from error
    if getattr(config, "is_encoder_decoder", False):
        raise ValueError(
            f"{name} is an encoder and a decoder, which do not open as a model: "
            "attention.capture() keeps a run of them"
        )
    architectures = settings.get("architectures")
    named = str(architectures[0]) if isinstance(architectures, list) and architectures else ""
    auto = AutoModelForCausalLM if named.endswith(GOES_ON) else AutoModel
    if type(config) not in auto._model_mapping:
        raise ValueError(f"transformers {__version__} must have a model of {name} for text")
    kind = auto._model_mapping[type(config)]  # the class itself: code of a folder is not asked for
    return Family(config, kind[0] if isinstance(kind, tuple) else kind)


def load(family: Family, weights: Mapping[str, Tensor]) -> tuple[Parts, Network]:
    """The parts of a model of a family with weights by their names, and what runs them.

    Raises ValueError where these do not fit, or it cannot be run so.
    """
    try:
        network = Network(_whole(family, weights), family.filler)
        return parts_of(network, _positions(network, family), family.ends), network
    except Exception as error:  # a family that nobody here has seen
        name = family.config.model_type
        raise ValueError(f"{name} cannot be run by transformers here: {_line(error)}") from error


def read_weights(files: Iterable[Path]) -> dict[str, Tensor]:
    """All tensors of safetensors files. Raises ValueError where one is not whole."""
    weights: dict[str, Tensor] = {}
    for file in files:
        try:
            weights |= load_file(file)
        except (OSError, SafetensorError) as error:
            raise ValueError(f"{file.name} must be a whole safetensors file: {error}") from error
    return weights


def _positions(network: Network, family: Family) -> int:
    """Number of pieces that there are positions for: some families count them from behind that of
    the padding."""
    most = min(limits().tokens, family.limit)
    for limit in (most, most - family.padding - 1):
        with contextlib.suppress(IndexError, RuntimeError):
            network.embed(torch.full((1, limit), family.filler))
            return limit
    raise ValueError(f"it must take {most} pieces, as config.json says, it does not")


def _whole(family: Family, weights: Mapping[str, Tensor]) -> nn.Module:
    """The model with its weights, with attention as torch has it, else as the family has."""
    try:
        return _with(family, weights, "sdpa")
    except ValueError:
        return _with(family, weights, "eager")


def _with(family: Family, weights: Mapping[str, Tensor], attention: str) -> nn.Module:
    made, told = family.kind.from_pretrained(
        None,
        config=family.config,
        state_dict={**weights},
        dtype=torch.float32,
        attn_implementation=attention,
        output_loading_info=True,
    )
    missing = [name for name in told["missing_keys"] if SPARED not in name]
    wrong = [str(name) for name in (*missing, *told["mismatched_keys"])]
    if wrong:
        raise ValueError(f"its files must have all weights; missing or misshapen: {wrong[:3]}")
    network: nn.Module = made
    return network


def _line(error: Exception) -> str:
    """An error's words in one line."""
    return (" ".join(str(error).split()) or type(error).__name__)[:300]
