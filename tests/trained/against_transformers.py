"""SmolLM2 beside transformers, which reads the same file.

`python -m tests.trained.against_transformers`: the pieces of 1,000 lines, not among the tests since
transformers needs accelerate to read the file. With `--write`, the numbers that the tests compare
with are written anew, by transformers.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor

from attention.trained import sources
from tests.trained.sentences import ENGLISH, PORTUGUESE
from tests.trained.test_parity import SCRIPTS

GOLDENS = Path(__file__).with_name("smollm2.json")
PROMPTS = [
    "The capital of France is",
    "When Mary and John went to the store, John gave a drink to",
    "The keys to the cabinet",
]
MIXED = ["x", "12", "3", "foo", "<|im_start|>", "\t", "²", "it's", "\n", "don't", "“q”", "ı", "🇩🇪"]
WRITTEN = 20


def lines() -> list[str]:
    """1,000 lines of varied text, the same each time."""
    draw = random.Random(0)
    ranges = [(32, 127)] * 6 + [(0xA0, 0x250), (0x370, 0x5FF), (0x4E00, 0x4E80), (0x1F600, 0x1F640)]
    characters = [chr(code) for first, last in ranges for code in range(first, last)]
    characters += ["\t", "\n", "\r", "\u2003", "\u200d", "\u0301"]
    made = [*SCRIPTS, *ENGLISH, *PORTUGUESE]
    while len(made) < 400:
        made.append(" ".join(draw.sample(made[:110], 2))[draw.randint(0, 9) :])
    while len(made) < 850:
        made.append("".join(draw.choices(characters, k=draw.randint(1, 60))))
    while len(made) < 1000:
        made.append((" " * draw.randint(0, 3)).join(draw.choices(MIXED, k=12)))
    return made


def written_by(theirs: Any, ids: Tensor) -> list[int]:
    """Pieces that transformers writes behind some, the likeliest each time."""
    cache, new, found = transformers.DynamicCache(), ids, []
    for _ in range(WRITTEN):
        new = theirs(new[None], past_key_values=cache, logits_to_keep=1).logits[0, -1:].argmax(-1)
        found.append(int(new))
    return found


def goldens(tokenizer: Any, theirs: Any) -> dict[str, Any]:
    """Reference results that the tests compare with."""
    texts = [*SCRIPTS, *ENGLISH[::2], *PORTUGUESE[::2], *lines()[400:850:45], *lines()[850::15]]
    ids = {text: torch.tensor(tokenizer(text)["input_ids"]) for text in PROMPTS}
    likeliest = {}
    for text in PROMPTS:
        found = theirs(ids[text][None], logits_to_keep=1).logits[0, -1].softmax(-1).topk(5)
        pairs = zip(found.indices.tolist(), found.values.tolist(), strict=True)
        likeliest[text] = {str(piece): round(probability, 5) for piece, probability in pairs}
    return {
        "pieces": {text: tokenizer(text)["input_ids"] for text in texts},
        "next": likeliest,
        "greedy": {text: written_by(theirs, ids[text]) for text in PROMPTS},
    }


def one_a_line(made: dict[str, dict[str, Any]]) -> str:
    """JSON with a line for each text."""
    sections = []
    for section, texts in made.items():
        found = ((json.dumps(text, ensure_ascii=False), json.dumps(texts[text])) for text in texts)
        lines = ",\n".join(f"  {text}: {numbers}" for text, numbers in found)
        sections.append(f" {json.dumps(section)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(sections) + "\n}\n"


@torch.no_grad()
def main() -> None:
    """Print how many lines are in other pieces; with `--write`, write the numbers anew."""
    torch.set_num_threads(1)
    source, model = sources.SMOLLM2, sources.load("smollm2")
    read: dict[str, Any] = {
        "pretrained_model_name_or_path": source.path,
        "gguf_file": sources.SMOLLM2_FILE,
    }
    tokenizer = transformers.AutoTokenizer.from_pretrained(**read)
    if "--write" in sys.argv:
        read["dtype"] = torch.float32
        theirs: Any = transformers.AutoModelForCausalLM.from_pretrained(**read)
        GOLDENS.write_text(one_a_line(goldens(tokenizer, theirs.eval())), "utf-8")
    texts = lines()
    other = [
        text for text in texts if model.pieces(text).ids.tolist() != tokenizer(text)["input_ids"]
    ]
    if other:
        raise SystemExit(f"{len(other)} of {len(texts)} lines are in other pieces: {other[:3]}")


if __name__ == "__main__":
    main()
