"""The way of a sentence, from settings to everything a page shows."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
import torch
from torch.testing import assert_close
from torchtext.vocab import Vectors

from attention.core import masks
from attention.core.functional import LongTrace, Trace
from attention.core.limits import MAX_SEEN
from attention.core.positions import alibi, rotary, sinusoidal
from attention.core.settings import settings_of
from attention.core.variants import VARIANTS
from attention.inputs.vectors import OWN_VECTORS_VARIABLE, look_up, random_vectors
from attention.pipeline import Result, Settings, compute, computing
from attention.pipeline.result import missing_head
from attention.pipeline.settings import vector_names
from tests.cases import parts_of
from tests.properties import given
from tests.properties import settings as hypothesis_settings
from tests.properties import strategies as st


@pytest.fixture(autouse=True)
def _no_own_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OWN_VECTORS_VARIABLE, raising=False)


def computed(memory: str | None = None, **settings: Any) -> Result:
    values: dict[str, Any] = {"vectors": "random", "d_model": 7} | settings
    return compute(Settings(**values), lambda name: pytest.fail(f"asked for {name}"), memory)


# Settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "nope"}, "variant must be one of dot, .*, got 'nope'"),
        ({"mask": ("causal", "")}, r"mask must be some of causal, .*, got \('causal', ''\)"),
        ({"factor": math.nan}, "factor must lie between 0.0 and 10.0, got nan"),
        ({"s": "x" * 5001}, "s must have at most 5000 characters"),
        ({"config": {"sigma": 1.0}}, "variant 'dot' has no setting sigma"),
        ({"variant": "qkv", "config": {"b": 1, "a": 1, "d_k": 3}}, "'qkv' has no setting a, b"),
        ({"variant": "qkv", "config": {"d_model": 3}}, "has no setting d_model"),
        ({"variant": "gaussian", "config": {"sigma": 0.0}}, "sigma must lie between 0.1 and 10.0"),
    ],
)
def test_settings_out_of_bounds_or_that_a_variant_cannot_have_are_refused(settings, message):
    config = tuple(settings.get("config", {}).items())
    with pytest.raises(ValueError, match=message):
        Settings(**settings | {"config": config}).variant_layer(7)


def test_own_vectors_are_offered_only_where_a_file_is_named(monkeypatch):
    assert vector_names() == ("glove", "random")
    with pytest.raises(ValueError, match="vectors must be one of glove, random, got 'own'"):
        Settings(vectors="own")
    monkeypatch.setenv(OWN_VECTORS_VARIABLE, "vectors.txt")
    assert vector_names() == ("glove", "own", "random")
    assert Settings(vectors="own").vectors == "own"


# The layer


@pytest.mark.parametrize(
    ("settings", "d_model", "expected"),
    [
        (
            {"variant": "qkv", "seed": 7, "config": (("d_k", 3), ("parameters", "identity"))},
            11,
            {"d_model": 11, "parameters": "identity", "seed": 7, "d_k": 3, "d_v": 50},
        ),
        ({"variant": "gaussian", "seed": 7}, 11, {"d_model": 11, "sigma": 1.0}),
        (
            {"variant": "grouped", "config": (("heads", 7), ("groups", 4))},
            12,
            {"d_model": 12, "parameters": "seeded", "seed": 0, "heads": 6, "groups": 3},
        ),
    ],
)
def test_the_layer_has_its_own_settings_the_shared_seed_and_numbers_that_divide(
    settings, d_model, expected
):
    layer = Settings(**settings).variant_layer(d_model)
    assert type(layer) is VARIANTS[settings["variant"]]
    assert dataclasses.asdict(layer.config) == expected


# From a sentence to its numbers


def test_a_result_is_what_its_settings_come_to():
    result = computed(seed=3, scale="none")
    assert result.tokens == result.key_tokens == ("the", "cat", "walks", "on", "the", "street")
    assert result.known == (True,) * 6
    assert (result.left_out, result.notes, result.words, result.masks) == (0, [], None, {})
    assert torch.equal(result.x, random_vectors(result.tokens, 7, 3).x)
    assert_close(result.trace.scores, result.x @ result.x.T)
    assert_close(result.trace.output, (result.x @ result.x.T).softmax(-1) @ result.x)
    assert result.layer_trace.mask is None
    assert not result.layer_trace.output.requires_grad


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_scale_multiplies_the_scores_of_every_variant(variant):
    for scale in settings_of(Settings)["scale"].choices:
        trace = computed(variant=variant, scale=scale, factor=0.3, d_model=10).trace
        d_k, d_v = trace.queries.shape[-1], trace.values.shape[-1]
        told = {"1/√d_k": d_k**-0.5, "1/√(d_k·d_v)": (d_k * d_v) ** -0.5, "none": 1, "factor": 0.3}
        assert trace.scale == pytest.approx(told[scale], rel=1e-15)
        assert_close(trace.scaled, trace.scores * told[scale])


def test_positions_come_in_where_they_belong():
    plain, added = computed(), computed(positions="sinusoidal")
    assert torch.equal(added.encoding, sinusoidal(6, 7))
    assert torch.equal(added.x, plain.x + added.encoding)
    assert torch.equal(added.vectors, plain.x)
    rotated = computed(positions="rotary")
    assert torch.equal(rotated.x, plain.x)
    assert_close(rotated.trace.queries, rotary(plain.trace.queries))
    heads = computed(variant="multihead", positions="alibi", config=(("heads", 7),)).layer_trace
    assert_close(heads.scaled, heads.scores + alibi(7, 6, 6))  # d_k = 1


def test_512_of_600_tokens_are_shown_and_88_left_out_and_without_any_it_is_refused():
    result = computed(s=" ".join(["cat"] * 600), d_model=3)
    assert len(result.tokens) == len(result.known) == MAX_SEEN == 512
    assert result.left_out == 88
    assert result.trace.weights.shape == (512, 512)
    for sentence in ("", "   ", "\x00", '"', "\u202e"):
        for memory, more in ((None, {"s": sentence}), (sentence, {})):
            with pytest.raises(ValueError, match="the sentence has no words yet"):
                computed(memory, **more)


@pytest.mark.parametrize(
    ("settings", "there"),
    [
        ({}, True),
        ({"variant": "bilinear", "positions": "sinusoidal"}, True),
        ({"variant": "qkv"}, False),
        ({"variant": "qkv", "config": (("parameters", "identity"),)}, True),
        ({"variant": "multihead", "config": (("parameters", "identity"),)}, False),
        ({"vectors": "random"}, False),
    ],
)
def test_words_are_the_vectors_unless_the_values_are_projected(glove, settings, there):
    for memory in (None, "hello world"):
        words = compute(Settings(**settings), lambda name: glove, memory).words
        assert words is (glove if there else None)


def test_vectors_are_asked_for_by_name_and_unknown_words_are_marked(glove):
    asked: list[str] = []

    def load(name: str) -> Vectors:
        asked.append(name)
        return glove

    result = compute(Settings(s="the zzqx cat", d_model=3), load)
    assert asked == ["glove"]
    assert result.known == (True, False, True)
    assert result.unknown == ["zzqx"]
    assert torch.equal(result.x, look_up(glove, result.tokens).x)


def test_keys_and_values_come_from_the_memory():
    result = computed("hello, world", positions="sinusoidal", mask=("causal", "length"))
    assert result.key_tokens == result.memory.tokens == ("hello", ",", "world")
    vectors = random_vectors(result.key_tokens, 7, 0).x
    assert torch.equal(result.memory.x, vectors + sinusoidal(3, 7))
    assert torch.equal(result.trace.keys, result.memory.x)
    assert torch.equal(result.trace.queries, result.x)
    assert torch.equal(result.masks["causal"], masks.causal(6, 3))
    assert result.trace.weights.shape == (6, 3)


@given(
    chosen=st.lists(st.sampled_from(["causal", "length", "window", "cells"]), unique=True),
    valid_len=st.integers(0, 7) | st.just(512),
    radius=st.integers(0, 7),
    cells=st.sampled_from(["", "0:1,3-5 2:*", "*:0"]),
    memory=st.sampled_from([None, "hello", "good morning, my friend"]),
)
@hypothesis_settings(deadline=None, max_examples=60)
def test_a_query_may_attend_exactly_where_every_chosen_mask_allows_it(
    chosen, valid_len, radius, cells, memory
):
    more: dict[str, Any] = {"valid_len": valid_len, "radius": radius, "cells": cells}
    result = computed(memory, mask=tuple(chosen), variant="multihead", d_model=10, **more)
    n_keys, trace = len(result.key_tokens), result.layer_trace
    query, key = torch.arange(6)[:, None], torch.arange(n_keys).expand(6, n_keys)
    by_name = {
        "causal": key <= query,
        "length": key < valid_len,
        "window": (query - key).abs() <= radius,
        "cells": masks.parse_cells(cells, 6, n_keys),
    }
    assert list(result.masks) == chosen
    for name, mask in result.masks.items():
        assert torch.equal(mask, by_name[name])
    allowed = torch.stack([key >= 0, *(by_name[name] for name in chosen)]).all(0)
    assert torch.equal(trace.weights > 0, allowed.expand(5, 6, n_keys))
    assert (trace.mask is None) == (not chosen)
    assert trace.mask is None or torch.equal(trace.mask, allowed.expand(5, 6, n_keys))


def test_cells_that_cannot_be_read_become_a_note_and_the_other_masks_stay():
    result = computed(mask=("causal", "cells"), cells="0:1 oops")
    (note,) = result.notes
    assert note.startswith("No single cells are hidden: hidden cells are written ")
    assert "got 'oops'" in note
    assert list(result.masks) == ["causal"]
    assert_close(result.trace.weights, computed(mask=("causal",)).trace.weights)


def test_the_head_that_is_shown_is_the_chosen_one_of_the_one_run_or_the_last():
    result = computed(variant="multihead", config=(("heads", 7),), head=4)
    assert (result.head, result.notes) == (4, [])
    for step in ("queries", "scores", "weights", "output"):
        assert torch.equal(getattr(result.trace, step), getattr(result.layer_trace, step)[4])
    assert result.looked_at(result.settings) is result
    other = result.looked_at(dataclasses.replace(result.settings, head=2))
    assert other.layer_trace is result.layer_trace
    assert (other.head, other.settings.head) == (2, 2)
    assert torch.equal(other.trace.weights, result.layer_trace.weights[2])

    fewer = computed(variant="multihead", d_model=12, head=9)
    assert (fewer.layer.heads, fewer.head, fewer.notes) == (4, 3, [missing_head(9, 4)])
    assert missing_head(9, 4) == "There is no head 9 of 4; showing the last, 3."
    assert torch.equal(fewer.trace.weights, fewer.layer_trace.weights[3])
    assert computed(variant="dot", head=9).notes == []


def test_a_result_takes_the_memory_of_each_of_its_numbers_once():
    plain = computed()  # x is queries, keys and values; then scores, scaled, weights and output
    assert plain.nbytes == 4 * (6 * 7 + 3 * 6 * 6 + 6 * 7)
    assert plain.looked_at(dataclasses.replace(plain.settings, head=3)).nbytes == plain.nbytes

    settings = {"variant": "qkv", "config": (("d_k", 3), ("d_v", 5)), "positions": "rotary"}
    result = computed("hello world", mask=("causal",), **settings)
    numbers = {
        "x and memory": (6 + 2) * 7,
        "queries and keys, as they were and rotated": 2 * (6 + 2) * 3,
        "values": 2 * 5,
        "scores, scaled, weights": 3 * 6 * 2,
        "output": 6 * 5,
        "parameters": 7 * (3 + 3 + 5),
    }
    assert result.nbytes == 4 * sum(numbers.values()) + 6 * 2  # the mask: one byte a cell


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("positions", ["rotary", "alibi"])
def test_a_long_run_gives_what_a_whole_one_keeps(monkeypatch, variant, positions):
    heads = "heads" in settings_of(VARIANTS[variant].Config)
    settings = {
        "variant": variant,
        "positions": positions,
        "mask": ("causal", "length"),
        "d_model": 12,
        "config": (("heads", 4),) if heads else (),
        "head": 2,
    }
    whole = computed(**settings)
    assert isinstance(whole.layer_trace, Trace)
    monkeypatch.setattr(computing, "MAX_KEPT", 0)
    monkeypatch.setattr(computing, "MAX_AT_ONCE", 4 * 6 * 4)
    long = computed(**settings)
    assert isinstance(long.layer_trace, LongTrace)
    assert_close(parts_of(long.trace), parts_of(whole.trace))
    assert_close(long.layer_trace.output, whole.layer_trace.output)
    assert_close(long.layer_trace.weights_beside(0), whole.layer_trace.weights)
    assert_close(parts_of(long.layer_trace.head(0)), parts_of(whole.layer_trace.head(0)))
    for query in (0, 5):
        asked, kept = (parts_of(run.layer_trace.query(query)) for run in (long, whole))
        assert_close(asked, kept)
    assert_close(long.weights_for(3)[:, 0], whole.weights_for(3)[:, 3])
    dropped = long.layer_trace.drop(0.5, torch.Generator().manual_seed(1))
    assert torch.equal(dropped.output[long.head], dropped.head(long.head).output)
    assert dropped.head(long.head).dropped is not None
    assert long.layer_trace.drop(0.0, torch.Generator()) is long.layer_trace
    assert (long.words is None) == (whole.words is None)
