"""SmolLM2 as transformers runs it: the numbers of smollm2.json that tests compare with.

`python -m tests.trained.against_transformers` writes them anew over the texts that stand there; not
among the tests since transformers needs accelerate to read the file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor

from attention.trained import sources

GOLDENS = Path(__file__).with_name("smollm2.json")
WRITTEN = 20


def written_by(theirs: Any, ids: Tensor) -> list[int]:
    """Pieces that transformers writes behind some, the likeliest each time."""
    cache, new, found = transformers.DynamicCache(), ids, []
    for _ in range(WRITTEN):
        new = theirs(new[None], past_key_values=cache, logits_to_keep=1).logits[0, -1:].argmax(-1)
        found.append(int(new))
    return found


def goldens(tokenizer: Any, theirs: Any, before: dict[str, Any]) -> dict[str, Any]:
    """Reference results over the texts of those before."""
    ids = {text: torch.tensor(tokenizer(text)["input_ids"]) for text in before["next"]}
    likeliest = {}
    for text in ids:
        found = theirs(ids[text][None], logits_to_keep=1).logits[0, -1].softmax(-1).topk(5)
        pairs = zip(found.indices.tolist(), found.values.tolist(), strict=True)
        likeliest[text] = {str(piece): round(probability, 5) for piece, probability in pairs}
    return {
        "pieces": {text: tokenizer(text)["input_ids"] for text in before["pieces"]},
        "next": likeliest,
        "greedy": {text: written_by(theirs, ids[text]) for text in before["greedy"]},
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
    """Write the numbers anew."""
    torch.set_num_threads(1)
    read: dict[str, Any] = {
        "pretrained_model_name_or_path": sources.SMOLLM2.path,
        "gguf_file": sources.SMOLLM2_FILE,
    }
    tokenizer = transformers.AutoTokenizer.from_pretrained(**read)
    theirs: Any = transformers.AutoModelForCausalLM.from_pretrained(**read, dtype=torch.float32)
    before = json.loads(GOLDENS.read_text("utf-8"))
    GOLDENS.write_text(one_a_line(goldens(tokenizer, theirs.eval(), before)), "utf-8")


if __name__ == "__main__":
    main()
