"""The example of Own run, made anew: `python -m tests.subjects.long_run.example --write`.

It is the run that the page tells to make: MiniLM as transformers has it, within
`attention.capture()`, in half precision.
"""

from __future__ import annotations

import sys

import torch

from attention.capture import Recording
from attention.capture.capturing import capture
from attention.subjects.long_run import example
from attention.trained.sources import MINILM


def run() -> tuple[Recording, list[str]]:
    """The run of the model over the sentence, and a text for each of its tokens."""
    import transformers

    assert MINILM.path is not None
    tokenizer = transformers.AutoTokenizer.from_pretrained(MINILM.path)
    model = transformers.AutoModel.from_pretrained(MINILM.path, dtype=torch.float16)
    inputs = tokenizer(example.SENTENCE, return_tensors="pt")
    with torch.no_grad(), capture() as captured:
        model.eval()(**inputs)
    return captured.one(), [*tokenizer.convert_ids_to_tokens(inputs.input_ids[0])]


if __name__ == "__main__":
    recording, tokens = run()
    if "--write" in sys.argv:
        recording.save(example.FILE, tokens=tokens)
    print(recording.report(), tokens)
