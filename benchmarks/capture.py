"""`python -m benchmarks.capture`: the cost of `attention.capture` on SmolLM2 of transformers, and
on random models of layers without a softmax.

Time of forward passes with and without in turns, and the memory of all that is kept beside that of
queries, keys and gates; outputs must be the same to the bit. Needs the packaged model and
transformers.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import transformers
from torch import Tensor

from attention.capture.capturing import Captured, capture
from attention.trained import sources

LENGTHS, TURNS = (1024, 4096), 3
MOST_TIMES = 1.15


def smollm2() -> Any:
    """The model in float32, with torch's fused attention."""
    read: dict[str, Any] = {"gguf_file": sources.SMOLLM2_FILE, "dtype": torch.float32}
    path = sources.SMOLLM2.path
    return transformers.AutoModelForCausalLM.from_pretrained(path, **read).eval()


def without_softmax(name: str, **settings: Any) -> Any:
    """A random model of four layers, all heads of which keep a state."""
    torch.manual_seed(0)
    shared = {"vocab_size": 49152, "hidden_size": 512, "num_hidden_layers": 4}
    config = getattr(transformers, name)(**shared, **settings)
    return transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()


GATED = {"layer_types": 4 * ["linear_attention"], "intermediate_size": 1024}
GATED |= {"linear_num_key_heads": 4, "linear_num_value_heads": 8}
STATE_SPACE = {"num_heads": 16, "head_dim": 64, "n_groups": 1, "state_size": 128}
MODELS: dict[str, Callable[[], Any]] = {
    "SmolLM2": smollm2,
    "a gated delta rule": partial(without_softmax, "Qwen3_5TextConfig", **GATED),
    "a state space": partial(without_softmax, "Mamba2Config", **STATE_SPACE),
}


def timed(model: Any, ids: Tensor, captured: bool) -> tuple[float, Tensor, Captured | None]:
    """Seconds of CPU, which others on the machine disturb less; the output, and what was kept."""
    begun = time.process_time()
    run = None
    if captured:
        with capture() as run:
            output = model(ids, use_cache=False, logits_to_keep=1).logits
    else:
        output = model(ids, use_cache=False, logits_to_keep=1).logits
    return time.process_time() - begun, output, run


def kept_bytes(run: Captured) -> tuple[int, int]:
    """Of all that is kept, each tensor once; and of queries, keys and gates alone."""
    parts: dict[int, int] = {}
    both = 0
    for one in run.attentions:
        held = [part for part in vars(one).values() if isinstance(part, Tensor)]
        both += sum(part.nbytes for part in held)
        mask = one.rules.mask
        held += [] if mask is None else [mask.first, mask.stop]
        parts |= {part.data_ptr(): part.untyped_storage().nbytes() for part in held}
    return sum(parts.values()), both


@torch.no_grad()
def main() -> None:
    """Print a line for each length; ends with a word where the cost is too high."""
    failed = []
    for name, length in itertools.product(MODELS, LENGTHS):
        model = MODELS[name]()
        ids = torch.randint(0, 49152, (1, length), generator=torch.Generator().manual_seed(0))
        timed(model, ids, True)
        turns = [[timed(model, ids, captured) for captured in (False, True)] for _ in range(TURNS)]
        plain, with_capture = (statistics.median(turn[k][0] for turn in turns) for k in (0, 1))
        ratio = statistics.median(turn[1][0] / turn[0][0] for turn in turns)
        same = all(torch.equal(turn[0][1], turn[1][1]) for turn in turns)
        run = turns[-1][1][2]
        assert run is not None
        held, both = kept_bytes(run)
        print(
            f"{name}, {length:,} tokens: {plain:.2f} s without, {with_capture:.2f} s with, "
            f"{100 * (ratio - 1):+.1f} %; {held / 1e6:.1f} MB kept, of which inputs "
            f"{both / 1e6:.1f} MB; outputs {'the same' if same else 'DIFFER'}"
        )
        if ratio > MOST_TIMES or not same or held > 1.01 * both:
            failed.append(f"{name}, {length:,} tokens")
    if failed:
        sys.exit(f"too much at {', '.join(failed)}")


if __name__ == "__main__":
    main()
