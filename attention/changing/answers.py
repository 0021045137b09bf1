"""A number that a model's answer is judged by: a word's probability, two words' logits, or any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from attention.core.arguments import must_be, must_be_within
from attention.trained.encoder_decoder import EncoderDecoder
from attention.trained.models import Model, Run, Transformer, goes_on

Metric = Callable[[Any], Tensor]  # of the outputs of a model, of known ones its last hidden states
Logits = int | str | tuple[int | str, int | str]
Answer = Logits | Metric


def metric_of(answer: Any, inputs: Any, tokenizer: Any = None) -> Metric:
    """A function of a model's outputs that gives one number for each entry of the batch.

    answer: an id or a word (a text that `tokenizer` makes one token of, with its blank): its
    probability at the last token; two of them: the difference of their logits there; or a function
    of the outputs. Raises ValueError for what is none.
    """
    if callable(answer):
        return partial(_checked, answer)
    ids = [_id(word, tokenizer) for word in words_of(answer)]
    return partial(_of_logits, ids, partial(_logits_at, inputs), len(ids) == 1)


def logits_of(
    answer: Any, inputs: Any, tokenizer: Any = None, position: int | None = None
) -> Metric:
    """A function of a model's outputs that gives an id's or a word's logit, or the difference of
    two. (entries,). position: None = the last token. Raises ValueError for what is none."""
    ids = [_id(word, tokenizer) for word in words_of(answer)]
    return partial(_of_logits, ids, partial(_logits_at, inputs, position=position), False)


def metric_of_states(model: Model, answer: Any, position: int = -1) -> Metric:
    """A function of the last hidden states of a known model, (…, pieces, d_model) -> (…).

    answer: a word's probability at one position, the difference of two words' scores there, see
    `piece_id`; or such a function. Raises ValueError for models that were not trained to go on.
    """
    if callable(answer):
        metric: Metric = answer
        return metric
    must_be("model", model, Transformer, how="of others answer must be a metric, as movement(run)")
    assert isinstance(model, Transformer)
    must_be("position", position, int)
    ids = [piece_id(model, word) for word in words_of(answer)]

    def scores(states: Tensor) -> Tensor:
        must_be_within("position", position, states.shape[-2])
        return model.scores(states[..., position, :])

    return partial(_of_logits, ids, scores, len(ids) == 1)


def answer_at(model: Model, run: Run, position: int) -> tuple[Metric, int | None]:
    """The number that a known model's answer at a position is judged by, and its piece.

    For models that say a next piece: the probability of the likeliest one; for encoder-decoders:
    that of the piece they wrote there; for others: 1 - cosine between the position's vector and the
    run's own, 0 before anything is changed, with None for the piece. The metric takes
    (…, pieces, d_model) and returns (…).
    """
    must_be_within("position", position, len(run.hidden))
    if isinstance(model, EncoderDecoder):
        written = run.inputs[-1].pieces
        probabilities = written_probability(model, run)
        return lambda states: probabilities(states)[..., position], int(written.ids[position])
    if goes_on(model):
        piece = int(model.scores(run.hidden[position]).argmax())
        return metric_of_states(model, piece, position), piece
    before = run.hidden[position]
    return lambda states: 1 - cosine_similarity(states[..., position, :], before, dim=-1), None


def beside_likeliest(model: Model, metric: Metric, position: int) -> Metric:
    """The metric of an answer, and beside it the probability of the likeliest piece at a position.

    Returns a function (…, pieces, d_model) -> (…, 2); of models that say no next piece the metric
    twice.
    """

    def both(states: Tensor) -> Tensor:
        answer = metric(states)
        if not goes_on(model):
            return torch.stack([answer, answer], -1)
        likeliest = model.scores(states[..., position, :]).softmax(-1).amax(-1)
        return torch.stack([answer, likeliest], -1)

    return both


def movement(run: Run) -> Metric:
    """Distance of the last hidden states from those of a run, for encoders.

    Returns a function hidden (…, pieces, d_model) -> the mean over the pieces of 1 - cosine, (…).
    """
    must_be("run", run, Run, how="model.run(text) gives one")
    return lambda states: 1 - cosine_similarity(states, run.hidden, dim=-1).mean(-1)


def written_probability(model: EncoderDecoder, run: Run) -> Metric:
    """Probability of each piece of the output, among the candidates, for encoder-decoders.

    Returns a function hidden (…, pieces, d_model) -> (…, pieces).
    """

    def probabilities(states: Tensor) -> Tensor:
        flat = states.reshape(-1, *states.shape[-2:])
        of_each = [model.probabilities(replace(run, hidden=one)) for one in flat]
        return torch.stack(of_each).reshape(states.shape[:-1])

    return probabilities


def loss_of(model: Model, run: Run) -> Metric:
    """The loss of a known model on a sentence, as a function (…, pieces, d_model) -> (…).

    For models that say a next piece, and for encoder-decoders of the pieces they wrote: nats a
    piece; for others: the mean over the pieces of 1 - cosine to the vectors of the run.
    """
    if isinstance(model, EncoderDecoder):
        probabilities = written_probability(model, run)
        return lambda states: -probabilities(states).clamp_min(1e-30).log().mean(-1)
    if goes_on(model):
        return lambda states: _nats(model.scores(states[..., :-1, :]), run.pieces.ids[1:]).mean(-1)
    return movement(run)


def loss_of_tokens(inputs: Any) -> Metric:
    """The loss of a model of PyTorch on the next tokens of inputs, in nats a token without padding.

    The same for all entries of a run. (entries,).
    """
    ids, mask = (
        inputs.get(name) if hasattr(inputs, "get") else None
        for name in ("input_ids", "attention_mask")
    )

    def loss(outputs: Any) -> Tensor:
        logits = getattr(outputs, "logits", None)
        if not isinstance(logits, Tensor) or not isinstance(ids, Tensor) or ids.shape[1] < 2:
            raise ValueError("elsewhere must be inputs with input_ids of a model that gives logits")
        runs = len(logits) // len(ids)
        nats = _nats(logits[:, :-1].float(), ids[:, 1:].repeat(runs, 1)).unflatten(0, (runs, -1))
        counted = torch.ones_like(nats[0]) if mask is None else mask[:, 1:] * mask[:, :-1]
        each: Tensor = (nats * counted).sum((1, 2)) / counted.sum()
        return each.repeat_interleave(len(ids))

    return loss


def _nats(logits: Tensor, ids: Tensor) -> Tensor:
    """-log p of each id. logits (…, tokens, vocabulary), ids of their last axes -> (…, tokens)."""
    logs = logits.log_softmax(-1)
    return -logs.gather(-1, ids.expand(logs.shape[:-1])[..., None])[..., 0]


def words_of(answer: Any) -> tuple[Any, ...]:
    """The one or two words of an answer. Raises ValueError where there are others."""
    words = answer if isinstance(answer, tuple) else (answer,)
    if len(words) not in (1, 2):
        raise ValueError(f"answer must be one word or two, or a function, got {len(words)}")
    return words


def piece_id(model: Transformer, word: int | str) -> int:
    """The id of a piece of the vocabulary: itself, or that of a text that is one piece.

    A text has its blank, as in " Mary". Raises ValueError where there is no such piece, or the text
    makes several.
    """
    if isinstance(word, str):
        pieces = model.pieces(word)
        own = [at for at, special in enumerate(pieces.special) if not special]
        if len(own) != 1:
            named = ", ".join(repr(pieces.texts[at]) for at in own)
            raise ValueError(f"a word must be one piece, {word!r} makes {len(own)}: {named}")
        return int(pieces.ids[own[0]])
    must_be("a word", word, int, str)
    vocabulary = len(model.parts.embedding.pieces)
    if not 0 <= word < vocabulary:
        raise ValueError(f"the id of a piece must lie below {vocabulary}, got {word}")
    return word


def _of_logits(ids: Sequence[int], logits_of_outputs: Metric, share: bool, outputs: Any) -> Tensor:
    """The probability of an id, its logit, or the difference of two. (…)."""
    logits = logits_of_outputs(outputs)
    if max(ids) >= logits.shape[-1] or min(ids) < 0:
        raise ValueError(f"ids must lie below {logits.shape[-1]}, got {[*ids]}")
    if len(ids) == 2:
        return logits[..., ids[0]] - logits[..., ids[1]]
    return (logits.softmax(-1) if share else logits)[..., ids[0]]


def _logits_at(inputs: Any, outputs: Any, position: int | None = None) -> Tensor:
    """Logits at one position of each entry, None = the last token. (entries, vocabulary)."""
    logits = outputs if isinstance(outputs, Tensor) else getattr(outputs, "logits", None)
    if not isinstance(logits, Tensor) or logits.dim() != 3:
        raise ValueError(
            "outputs must have logits (entries, tokens, vocabulary), got "
            f"{type(outputs).__name__}: give answer as a function of the outputs"
        )
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


def _checked(answer: Metric, outputs: Any) -> Tensor:
    numbers = answer(outputs)
    if not isinstance(numbers, Tensor) or numbers.dim() != 1:
        came = tuple(numbers.shape) if isinstance(numbers, Tensor) else type(numbers).__name__
        raise ValueError(f"answer must give (entries,), one number for each, got {came}")
    return numbers
