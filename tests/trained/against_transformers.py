"""SmolLM2 beside transformers, which reads the same file.

`python -m tests.trained.against_transformers`: the pieces of 1,000 lines, hidden states and
attentions of 20 sentences, 10 prompts written on, and the time of both. Not among the tests, since
transformers takes some 15 s and 1.2 GB to read the file; it needs accelerate, too. With `--write`,
the numbers that the tests compare with are written anew, by transformers.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor

from attention.trained import sources
from attention.trained.models import Padded, Transformer
from attention.trained.writing import begin, longer
from tests.trained.sentences import ENGLISH, PORTUGUESE
from tests.trained.test_parity import SCRIPTS

GOLDENS = Path(__file__).with_name("smollm2.json")
PROMPTS = [
    "The capital of France is",
    "When Mary and John went to the store, John gave a drink to",
    "The keys to the cabinet",
    *ENGLISH[:7],
]
MIXED = ["x", "12", "3", "foo", "<|im_start|>", "\t", "²", "it's", "\n", "don't", "“q”", "ı", "🇩🇪"]
TOLERANCE, WRITTEN = 1e-4, 20
SIZES = (14, 256)
MOST_TIMES, MOST_TIMES_WRITTEN = 1.3, 1.5  # the time of transformers


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


def sentences(model: Transformer) -> list[Tensor]:
    """20 sentences of 5 to 256 pieces."""
    texts = [*PROMPTS, *SCRIPTS[:8], " ".join(ENGLISH)[:600], " ".join([*ENGLISH, *PORTUGUESE])]
    return [model.pieces(text).ids[:256] for text in texts]


def apart(ours: Tensor, theirs: Tensor) -> float:
    """Distance of two tensors, relative to the second one."""
    return float((ours - theirs).norm() / theirs.norm())


def layers_apart(model: Transformer, theirs: Any, ids: Tensor) -> float:
    """Distance of hidden states and attentions, the worst of all layers."""
    expected = theirs(ids[None], output_hidden_states=True, output_attentions=True)
    runs = [*model.forward(Padded(ids))]
    ours = [*(run.x for run in runs), model.final(runs[-1].output)]
    ours += [run.trace.weights for run in runs]
    pairs = zip(ours, (*expected.hidden_states, *expected.attentions), strict=True)
    return max(apart(made, other[0]) for made, other in pairs)


def scores_of(model: Transformer, ids: Tensor) -> Tensor:
    """The scores of the piece behind some. (1, vocabulary)."""
    return model.scores(model.hidden(Padded(ids))[-1:])


def written_on(model: Transformer, ids: Tensor) -> list[int]:
    """The likeliest pieces behind some, keys and values kept."""
    written = begin(model, ids.tolist())
    for _ in range(WRITTEN):
        written = longer(model, written, int(written.scores.argmax()))
    return [*written.ids[-WRITTEN:]]


def written_anew(model: Transformer, ids: Tensor) -> list[int]:
    """Write as `written_on` does, with nothing kept."""
    for _ in range(WRITTEN):
        ids = torch.cat([ids, scores_of(model, ids).argmax(-1)])
    return ids[-WRITTEN:].tolist()


def written_by(theirs: Any, ids: Tensor) -> list[int]:
    """Write as `written_on` does, with transformers."""
    cache, new, found = transformers.DynamicCache(), ids, []
    for _ in range(WRITTEN):
        new = theirs(new[None], past_key_values=cache, logits_to_keep=1).logits[0, -1:].argmax(-1)
        found.append(int(new))
    return found


def in_turns(*calls: Callable[[], object], rounds: int = 9) -> list[float]:
    """The median time of each call on one thread in seconds of CPU, one after the other in turn."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, taken in zip(calls, times, strict=True):
            begun = time.thread_time()
            call()
            taken.append(time.thread_time() - begun)
    return [statistics.median(taken) for taken in times]


def goldens(tokenizer: Any, theirs: Any) -> dict[str, Any]:
    """Reference results that the tests compare with."""
    texts = [*SCRIPTS, *ENGLISH[::2], *PORTUGUESE[::2], *lines()[400:850:45], *lines()[850::15]]
    ids = {text: torch.tensor(tokenizer(text)["input_ids"]) for text in PROMPTS}
    likeliest = {}
    for text in PROMPTS[:3]:
        found = theirs(ids[text][None], logits_to_keep=1).logits[0, -1].softmax(-1).topk(5)
        pairs = zip(found.indices.tolist(), found.values.tolist(), strict=True)
        likeliest[text] = {str(piece): round(probability, 5) for piece, probability in pairs}
    return {
        "pieces": {text: tokenizer(text)["input_ids"] for text in texts},
        "next": likeliest,
        "greedy": {text: written_by(theirs, ids[text]) for text in PROMPTS[:3]},
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
    """Print how far both are apart; ends with a word where it is too far."""
    torch.set_num_threads(1)
    source, model = sources.SMOLLM2, sources.load("smollm2")
    assert isinstance(model, Transformer)
    read: dict[str, Any] = {
        "pretrained_model_name_or_path": source.path,
        "gguf_file": sources.SMOLLM2_FILE,
    }
    tokenizer = transformers.AutoTokenizer.from_pretrained(**read)
    read["dtype"] = torch.float32
    theirs: Any = transformers.AutoModelForCausalLM.from_pretrained(**read)
    theirs.eval()
    if "--write" in sys.argv:
        GOLDENS.write_text(one_a_line(goldens(tokenizer, theirs)), "utf-8")
    texts = lines()
    other = [
        text for text in texts if model.pieces(text).ids.tolist() != tokenizer(text)["input_ids"]
    ]
    print(f"{len(texts)} lines: {len(other)} in other pieces {other[:3]}")
    many, slow = model.pieces(" ".join([*ENGLISH, *PORTUGUESE])).ids, []
    for size in SIZES:
        ids = many[:size]
        kept = [*model.forward(Padded(ids))]

        def write_ours(kept: Any = kept, new: Tensor = many[size : size + 1]) -> object:
            *_, last = model.forward(Padded(new), after=kept)
            return model.scores(model.final(last.output[-1:]))

        cache = transformers.DynamicCache()
        theirs(ids[None], past_key_values=cache)

        def write_theirs(cache: Any = cache, new: Tensor = many[size : size + 1]) -> object:
            written = theirs(new[None], past_key_values=cache)
            cache.crop(-1)
            return written

        ours, peer, own_token, their_token = in_turns(
            partial(scores_of, model, ids),
            partial(theirs, ids[None], logits_to_keep=1),
            write_ours,
            write_theirs,
        )
        print(f"{size} pieces: {ours:.3f} s, transformers {peer:.3f} s, {ours / peer:.2f} times")
        ratio = own_token / their_token
        print(f"one more: {own_token:.4f} s, transformers {their_token:.4f} s, {ratio:.2f} times")
        if ours > MOST_TIMES * peer or ratio > MOST_TIMES_WRITTEN:
            slow.append(size)
    written = [
        written_on(model, ids) == written_anew(model, ids) == written_by(theirs, ids)
        for ids in (model.pieces(text).ids for text in PROMPTS)
    ]
    print(f"{len(written)} prompts written on by {WRITTEN}: {sum(written)} the same")
    theirs.set_attn_implementation("eager")
    ran = sentences(model)
    worst = max(layers_apart(model, theirs, ids) for ids in ran)
    print(f"{len(ran)} sentences of up to {max(map(len, ran))} pieces: {worst:.1e} apart")
    if other or not all(written) or worst > TOLERANCE:
        raise SystemExit("they are not the same")
    if slow:
        raise SystemExit(f"too slow with pieces: {', '.join(map(str, slow))}")


if __name__ == "__main__":
    main()
