"""Models that write token by token: all calls are one run, each new token a row."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import attention
from attention.capture import Recording
from attention.capture.mixing import UNSEEN
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


@pytest.mark.parametrize("name", ["Llama", "Gemma 3", "gpt-oss", "GPT-2"])
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
        assert torch.equal(run.weights(-1, 4, slice(first, None), entry=entry - 2), weights)
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


@pytest.mark.parametrize("name", ["Llama", "Gemma 3"])
@pytest.mark.parametrize("cached", [True, False])
def test_beams_are_one_run_in_which_each_entry_is_what_its_last_call_went_on_from(name, cached):
    model = writer(name)
    options = {"num_beams": 3, "num_return_sequences": 3, "return_dict_in_generate": True}
    options |= {"max_new_tokens": 6, "min_new_tokens": 6, "output_scores": True}
    with attention.capture() as run:
        made = model.generate(
            input_ids=TEXT[:, :5], attention_mask=torch.ones(2, 5), use_cache=cached, **options
        )
    assert run.report().notes == (UNSEEN,)
    assert run.attentions[0].shape[0] == 6
    assert bool((made.beam_indices != made.beam_indices[:, :1]).any())
    for sequence, beams in zip(made.sequences, made.beam_indices, strict=True):
        eager = writer(name, "eager")(sequence[None, :-1], output_attentions=True).attentions
        for layer, expected in enumerate(eager):
            for head in (0, 2):
                found = run.weights(layer, head, entry=int(beams[-1]))
                torch.testing.assert_close(found, expected[0, head], atol=1e-5, rtol=0)


def test_each_step_is_kept_as_it_is_written(tmp_path):
    model, seen = writer("Llama"), []

    def look(ids, scores, **more):
        seen.append([path.name[:8] for path in kept.files])
        return torch.zeros(len(ids), dtype=torch.bool)

    options = {"max_new_tokens": 5, "min_new_tokens": 5, "do_sample": False}
    with attention.capture() as whole:
        model.generate(input_ids=PROMPT, **options)
    with attention.capture(every=2, into=tmp_path) as kept:
        model.generate(input_ids=PROMPT, stopping_criteria=[look], **options)
    assert seen == [
        ["00000000"],
        ["00000000"],
        *2 * [["00000000", "00000002"]],
        ["00000000", "00000002", "00000004"],
    ]
    steps = attention.capture.open_folder(tmp_path)
    assert {step: one.attentions[0].shape[2:] for step, one in steps.items()} == {
        0: (6, 6),
        2: (1, 8),
        4: (1, 10),
    }
    row = steps[4].weights(-1, 3, -1)
    torch.testing.assert_close(row, whole.weights(-1, 3, -1), atol=1e-6, rtol=0)
    torch.testing.assert_close(steps[4].mean(-1), whole.mean(-1, -1), atol=1e-6, rtol=0)
