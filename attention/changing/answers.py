"""A number that a model's answer is judged by: a word's probability, two words' logits, or any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from attention.core.arguments import must_be, must_be_within

Logits = int | str | tuple[int | str, int | str]
Answer = Logits | Callable[[Any], Tensor]


def metric_of(answer: Any, inputs: Any, tokenizer: Any = None) -> Callable[[Any], Tensor]:
    """A function of a model's outputs that gives one number for each entry of the batch.

    answer: an id or a word (a text that `tokenizer` makes one token of, with its blank): its
    probability at the last token; two of them: the difference of their logits there; or a function
    of the outputs. Raises ValueError for what is none.
    """
    if callable(answer):
        return _checked(answer)
    ids = [_id(word, tokenizer) for word in words_of(answer)]
    if len(ids) == 2:
        return logits_of(answer, inputs, tokenizer)

    def probability(outputs: Any) -> Tensor:
        return _logits_at(outputs, inputs, ids).softmax(-1)[:, ids[0]]

    return probability


def logits_of(
    answer: Any, inputs: Any, tokenizer: Any = None, position: int | None = None
) -> Callable[[Any], Tensor]:
    """A function of a model's outputs that gives an id's or a word's logit, or the difference of
    two. (entries,). position: None = the last token. Raises ValueError for what is none."""
    ids = [_id(word, tokenizer) for word in words_of(answer)]

    def logit(outputs: Any) -> Tensor:
        logits = _logits_at(outputs, inputs, ids, position)
        return logits[:, ids[0]] - logits[:, ids[1]] if len(ids) == 2 else logits[:, ids[0]]

    return logit


def words_of(answer: Any) -> tuple[Any, ...]:
    """The one or two words of an answer. Raises ValueError where there are others."""
    words = answer if isinstance(answer, tuple) else (answer,)
    if len(words) not in (1, 2):
        raise ValueError(f"answer must be one word or two, or a function, got {len(words)}")
    return words


def _logits_at(
    outputs: Any, inputs: Any, ids: Sequence[int], position: int | None = None
) -> Tensor:
    """Logits at one position of each entry, among which these ids are. (entries, vocabulary)."""
    logits = outputs if isinstance(outputs, Tensor) else getattr(outputs, "logits", None)
    if not isinstance(logits, Tensor) or logits.dim() != 3:
        raise ValueError(
            "outputs must have logits (entries, tokens, vocabulary), got "
            f"{type(outputs).__name__}: give answer as a function of the outputs"
        )
    if max(ids) >= logits.shape[-1] or min(ids) < 0:
        raise ValueError(f"ids must lie below {logits.shape[-1]}, got {[*ids]}")
    if position is None:
        return logits[torch.arange(len(logits)), _last(inputs, logits)].float()
    must_be_within("position", position, logits.shape[1])
    return logits[:, position].float()


def _last(inputs: Any, logits: Tensor) -> Tensor | int:
    """The last token of each entry, by the mask of padding where there is one for these logits."""
    mask = inputs.get("attention_mask") if hasattr(inputs, "get") else None
    decoder = hasattr(inputs, "get") and inputs.get("decoder_input_ids") is not None
    if not isinstance(mask, Tensor) or decoder or mask.shape[-1] != logits.shape[1]:
        return -1
    at = torch.arange(mask.shape[1], device=mask.device)
    last = (at * (mask != 0)).amax(-1)
    return last.repeat(len(logits) // len(last)).to(logits.device)


def _id(word: int | str, tokenizer: Any) -> int:
    must_be("answer", word, int, str, how="or two of them, or a function of the outputs")
    if not isinstance(word, str):
        return int(word)
    if tokenizer is None:
        raise ValueError(f"a word needs its tokenizer (tokenizer=…), or is an id, got {word!r}")
    ids = tokenizer(word, add_special_tokens=False)["input_ids"]
    if len(ids) != 1:
        raise ValueError(f"a word must be one token, {word!r} makes {len(ids)}")
    return int(ids[0])


def _checked(answer: Callable[[Any], Tensor]) -> Callable[[Any], Tensor]:
    def metric(outputs: Any) -> Tensor:
        found = answer(outputs)
        if not isinstance(found, Tensor) or found.dim() != 1:
            came = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise ValueError(f"answer must give (entries,), one number for each, got {came}")
        return found

    return metric
