"""Models that write token by token: all calls are one run, each new token a row."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import attention
from attention.capture import Recording
from tests.capture.families import SOURCE, TEXT, writer
from tests.capture.making import OwnAttention, inputs
from tests.capture.test_families import greatest_difference

PROMPT = TEXT[:1, :6]
PADDED = torch.cat([TEXT[:, :5], torch.tensor([[29, 31], [0, 0]])], 1).flip(1)
NEW = 7


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


def written(model, **given) -> tuple[torch.Tensor, Recording]:
    options = {"max_new_tokens": NEW, "min_new_tokens": NEW, "do_sample": False}
    plain = model.generate(**given, **options)
    with attention.capture() as run:
        made = model.generate(**given, **options)
    assert torch.equal(made, plain)
    return made, run.one()


@pytest.mark.parametrize("name", ["Llama", "Gemma 2", "Gemma 3", "Mistral", "gpt-oss", "GPT-2"])
@pytest.mark.parametrize("cache", ["dynamic", "static"])
def test_each_written_token_is_a_row_of_one_run(name, cache):
    model = writer(name)
    static = {} if cache == "dynamic" else {"cache_implementation": "static"}
    given = {"input_ids": PROMPT, "attention_mask": torch.ones_like(PROMPT)}
    made, run = written(model, **given, **static)
    eager = writer(name, "eager")(made[:, :-1], output_attentions=True).attentions
    assert greatest_difference(run, list(eager)) < 1e-5


def test_padding_on_the_left_stays_padding():
    model = writer("Llama")
    mask = (PADDED != 0).long()
    made, run = written(model, input_ids=PADDED, attention_mask=mask)
    mask = F.pad(mask, (0, NEW - 1), value=1)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    options = {"attention_mask": mask, "position_ids": positions, "output_attentions": True}
    eager = writer("Llama", "eager")(made[:, :-1], **options).attentions
    for entry, first in ((0, 0), (1, 2)):
        weights = run.weights(1, 4, rows=slice(first, None), entry=entry)
        torch.testing.assert_close(weights, eager[1][entry, 4, first:], atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ["T5", "BART"])
def test_encoder_and_decoder_are_one_run(name):
    model = writer(name)
    given = {"input_ids": SOURCE, "attention_mask": (SOURCE != 0).long()}
    made, run = written(model, **given)
    options = {"decoder_input_ids": made[:, :-1], "output_attentions": True}
    output = writer(name, "eager")(**given, **options)
    both = zip(output.decoder_attentions, output.cross_attentions, strict=True)
    expected = [*output.encoder_attentions, *(weights for layer in both for weights in layer)]
    assert greatest_difference(run, expected) < 1e-5
    assert [kept.kind for kept in run.attentions] == [*2 * ["self"], *2 * ["self", "cross"]]
    assert run.attentions[-1].name.startswith("model.decoder.layers" if name == "BART" else "dec")
    bias = run.attentions[2].rules.bias
    assert name == "BART" or bias.values.shape == (1, 3, 2 * NEW - 1)


class OwnWriter(nn.Module):
    """A module with keys and values of its own that grow."""

    def __init__(self) -> None:
        super().__init__()
        self.part = OwnAttention()

    def forward(self, x, kept=None):
        q, k, v = (
            made(x).unflatten(-1, (3, -1)).transpose(1, 2)
            for made in (self.part.queries, self.part.keys, self.part.values)
        )
        if kept is not None:
            k, v = torch.cat([kept[0], k], 2), torch.cat([kept[1], v], 2)
        n_queries, n_keys = q.shape[2], k.shape[2]
        allowed = torch.ones(n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)
        F.scaled_dot_product_attention(q, k, v, allowed)
        return k, v


def test_an_own_module_may_go_on_by_several_tokens_and_begin_anew():
    net, x = OwnWriter(), inputs(tokens=7)
    with attention.capture() as whole:
        net(x)
    with attention.capture() as run:
        kept = net(x[:, :3])
        kept = net(x[:, 3:5], kept)
        net(x[:, 5:], kept)
        net(x)
        net(inputs(tokens=2, seed=3), kept)  # goes on from a run that is over
    assert [one.attentions[0].shape[2:] for one in run.runs] == [(7, 7), (7, 7), (2, 7)]
    for one in run.runs[:2]:
        made = one.weights(0, 2, entry=1)
        torch.testing.assert_close(made, whole.weights(0, 2, entry=1), atol=1e-6, rtol=0)
    assert run.runs[2].weights(0, 0, 0, -1) == 0  # its first query is the sixth of seven tokens


def test_beams_are_kept_as_the_calls_that_they_are():
    model = writer("Llama")
    told = pytest.warns(UserWarning, match="from other keys than those before it, as beams do")
    with told, attention.capture() as run:
        model.generate(input_ids=PROMPT, num_beams=2, max_new_tokens=4, min_new_tokens=4)
    assert "as beams do" in str(run.report())
    assert sum(one.attentions[0].shape[2] for one in run.runs) == PROMPT.shape[1] + 3


def test_writing_without_a_cache_is_told_to_be_several_runs():
    model = writer("Llama")
    told = pytest.warns(UserWarning, match="as `generate` without a cache")
    with told, attention.capture() as run:
        model.generate(input_ids=PROMPT, use_cache=False, max_new_tokens=3, min_new_tokens=3)
    lengths = [one.attentions[0].shape[2] for one in run.runs]
    assert lengths == [PROMPT.shape[1] + more for more in range(3)]
