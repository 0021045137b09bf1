"""The state on Play: what a query is multiplied by, after each token, beside what grows."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.testing import assert_close

from attention.app.cached import runs
from attention.core.variants import VARIANTS
from attention.figures.states import MOST_SHOWN, States, states_of, states_words
from attention.pipeline import Result, Settings
from tests.cases import over
from tests.running import App, opened, sent_as

WITHOUT = [name for name, variant in VARIANTS.items() if variant.keeps_state]
SENTENCE = "the cat walks on the street"


def result_of(variant: str, sentence: str = SENTENCE, **more: Any) -> Result:
    return runs.result_of(Settings(s=sentence, variant=variant, mask=("causal",), **more))


def shown(result: Result) -> States:
    found = states_of(result)
    assert found is not None
    return found


@over("variant", WITHOUT)
def test_a_query_times_the_state_after_its_token_is_its_output(variant):
    result = result_of(variant, head=1)
    found, trace = shown(result), result.trace
    queries = trace.scale * result.layer.features(trace.queries)
    made = torch.einsum("td,tde->te", queries, found.kept)
    if result.shares:
        made = made / trace.scaled.tril().sum(-1, keepdim=True)
    assert_close(made, trace.output, atol=1e-5, rtol=1e-5)
    sent = sent_as(found.content())
    assert sent.header["tokens"] == SENTENCE.split()
    assert (sent.header["keys"], sent.header["values"], sent.header["count"]) == (10, 10, 6)


def test_a_layer_with_a_softmax_keeps_no_state():
    assert states_of(result_of("multihead")) is None


def test_of_a_long_sentence_some_tokens_are_shown_the_last_among_them():
    result = result_of("delta", " ".join(["the cat walks on"] * 10))
    found = shown(result)
    assert len(found.kept) == len(found.positions) == MOST_SHOWN
    assert found.positions[-1] == 39
    assert_close(found.kept[-1], shown(result_of("delta", " ".join(result.tokens[:40]))).kept[-1])


@pytest.mark.parametrize(
    ("tokens", "end"),
    [
        (4, "80 numbers at “on”, 20 for each token; from 6 tokens on that is more."),
        (6, "120 numbers at “street”, 20 for each token; and it grows on."),
    ],
)
def test_words_count_the_numbers_of_both(tokens, end):
    result = result_of("retention", " ".join(SENTENCE.split()[:tokens]))
    words = states_words(shown(result), result.tokens)
    assert words.startswith("The state has 10 × 10 numbers, whatever the length")
    assert words.endswith(end)
    sums = states_words(shown(result_of("linear")), SENTENCE.split(), sums=True)
    assert "10 × 10 numbers and the sum of the keys, 10 more, whatever" in sums


def test_explore_draws_it_for_a_layer_that_keeps_one():
    def app_of(variant: str) -> App:
        return opened("explore", s=SENTENCE, variant=variant, mask="causal")

    assert app_of("gated_linear").sent["states"].header["positions"] == [*range(6)]
    assert "states" not in app_of("multihead").sent
