"""Low-rank adapters, LoRA (Hu et al. 2022), as PEFT writes them. Data, never code.

A folder has adapter_config.json and adapter_model.safetensors. `read_adapter` reads what changes
matrices alone, W + scale · B A; anything else is refused. `Adapter.upon` puts it upon a model that
is loaded, and shares with it every tensor that does not change.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from attention.trained.checkpoints import read_json
from attention.trained.models import About, Transformer

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
PREFIX = "base_model.model."
# Settings that change what an adapter does, with all that may stand there; others do not count.
PLAIN: Mapping[str, tuple[Any, ...]] = {
    "peft_type": ("LORA",),
    "bias": ("none",),
    "use_dora": (False,),
    "lora_bias": (False,),
    "use_qalora": (False,),
    "init_lora_weights": (True, False, "gaussian", "orthogonal", "eva"),
    **dict.fromkeys(
        (
            *("modules_to_save", "layer_replication", "trainable_token_indices", "rank_pattern"),
            *("alpha_pattern", "target_parameters", "alora_invocation_tokens", "megatron_config"),
        ),
        (None, [], {}),
    ),
}


@dataclass(frozen=True, eq=False)
class Adapter:
    """Changes of matrices, each of a low rank.

    factors: by the name of a matrix in a checkpoint A (rank, d_in) and B (d_out, rank);
    scale: what B A is multiplied by; across: if the matrices are stored as (d_in, d_out).
    """

    factors: Mapping[str, tuple[Tensor, Tensor]]
    scale: float
    across: bool = False

    def change(self, name: str) -> Tensor:
        """The number that is added to each cell of a matrix, in the shape it is stored in."""
        A, B = self.factors[name]
        whole = self.scale * (B @ A)
        return whole.T if self.across else whole

    def check(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Raise ValueError unless all matrices are among these tensors, in their shapes."""
        for name, (A, B) in self.factors.items():
            module = name.removesuffix(".weight")
            if name not in shapes:
                raise ValueError(f"the base must have a matrix {module!r} to adapt, it has none")
            changed = (A.shape[1], B.shape[0]) if self.across else (B.shape[0], A.shape[1])
            if changed != shapes[name]:
                raise ValueError(
                    f"the adapter of {module} must be for a matrix {shapes[name]}, "
                    f"got one for {changed}"
                )

    def upon(self, base: Transformer, about: About | None = None) -> Transformer:
        """The base with these changes; it shares all other tensors.

        about: its description, None: the base's. Raises ValueError where it does not fit.
        """
        tensors = base.stored.tensors
        self.check({name: tuple(tensor.shape) for name, tensor in tensors.items()})
        changed = {name: tensors[name] + self.change(name) for name in self.factors}
        return base.with_tensors(changed, about)


def read_adapter(folder: Path, prefix: str = "") -> Adapter:
    """The adapter in a folder. prefix: that of the base's names, see `models.Stored`.

    Raises ValueError, saying what was expected and what came, for anything but LoRA of matrices.
    """
    config = read_json(folder / CONFIG)
    for key, allowed in PLAIN.items():
        if config.get(key, allowed[0]) not in allowed:
            expected = " or ".join(map(json.dumps, allowed))
            raise ValueError(f"{CONFIG} must have {key} = {expected}, got {config[key]!r}")
    rank, alpha = (config.get(key) for key in ("r", "lora_alpha"))
    if (
        not (isinstance(rank, int) and isinstance(alpha, int | float))
        or rank < 1
        or not math.isfinite(alpha)
    ):
        raise ValueError(
            f"{CONFIG} must have r, a whole number of at least 1, and lora_alpha, a number, "
            f"got {rank!r} and {alpha!r}"
        )
    scale = alpha / (math.sqrt(rank) if config.get("use_rslora") else rank)
    return Adapter(_factors(folder, prefix, rank), scale, bool(config.get("fan_in_fan_out")))


def _factors(folder: Path, prefix: str, rank: int) -> dict[str, tuple[Tensor, Tensor]]:
    """Both factors of each matrix. Raises ValueError where a tensor is anything else."""
    try:
        tensors = load_file(folder / WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise ValueError(f"{WEIGHTS} must be a whole safetensors file: {error}") from error
    halves: dict[str, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        module, dot, half = name.removeprefix(PREFIX).removesuffix(".weight").rpartition(".lora_")
        at = {"A": 0, "B": 1}.get(half)
        if not dot or at is None or tensor.dim() != 2 or tensor.shape[at] != rank:
            raise ValueError(
                f"{WEIGHTS} must have lora_A.weight ({rank}, d_in) and lora_B.weight "
                f"(d_out, {rank}) of matrices alone, got {name} {tuple(tensor.shape)}"
            )
        if not tensor.is_floating_point() or not tensor.isfinite().all():
            raise ValueError(f"{name} must be of finite floats, got {tensor.dtype}")
        halves.setdefault(f"{module.removeprefix(prefix)}.weight", {})[half] = tensor.float()
    for name, pair in halves.items():
        if len(pair) < 2:
            raise ValueError(f"{name} must have both lora_A and lora_B, got one")
    if not halves:
        raise ValueError(f"{WEIGHTS} must have tensors, it has none")
    return {name: (pair["A"], pair["B"]) for name, pair in halves.items()}


def write_adapter(
    adapter: Adapter, folder: str | Path, prefix: str, base: str = "", **about: str
) -> None:
    """Write an adapter as PEFT does, in 16-bit floats.

    prefix: that of the base's names; base: its name at Hugging Face or its folder; about: texts
    that the safetensors file carries.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    modules = [name.removesuffix(".weight") for name in adapter.factors]
    tensors = {
        f"{PREFIX}{prefix}{module}.lora_{half}.weight": tensor.detach().half().contiguous()
        for module, pair in zip(modules, adapter.factors.values(), strict=True)
        for half, tensor in zip("AB", pair, strict=True)
    }
    save_file(tensors, folder / WEIGHTS, {"format": "pt", **about})
    rank = len(next(iter(adapter.factors.values()))[0])
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": adapter.scale * rank,
        "target_modules": [prefix + module for module in modules],
        "bias": "none",
        "fan_in_fan_out": adapter.across,
        "inference_mode": True,
    }
    (folder / CONFIG).write_text(f"{json.dumps(config, indent=1)}\n", "utf-8")
