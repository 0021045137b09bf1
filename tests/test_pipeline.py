"""The way of a sentence, from settings to everything a page shows; and what links may say."""

from __future__ import annotations

import dataclasses
import math
import re
from typing import Any

import pytest
import torch
from torchtext.vocab import Vectors

from attention.core import masks
from attention.core.positions import sinusoidal
from attention.core.settings import Declared, complaint, settings_of
from attention.core.variants import VARIANTS
from attention.inputs.text import MAX_TOKENS
from attention.inputs.vectors import OWN_VECTORS_VARIABLE, look_up, random_vectors
from attention.pipeline import (
    SCHEMAS,
    Result,
    Settings,
    compute,
    link_problems,
    make_mask,
    variant_names,
    vector_names,
)
from tests.hostile import HOSTILE
from tests.properties import given
from tests.properties import settings as hypothesis_settings
from tests.properties import strategies as st

PUBLISHED_DEFAULTS: dict[str, Any] = {
    "s": "the cat walks on the street",
    "variant": "dot",
    "vectors": "glove",
    "d_model": 50,
    "scale": "1/√d_k",
    "factor": 1.0,
    "mask": "none",
    "valid_len": 3,
    "radius": 1,
    "cells": "",
    "positions": "none",
    "head": 0,
    "seed": 0,
    "stage": "weights",
    "query": 0,
    "input": "sentence",
    "step": "x",
    "row": 0,
    "column": 0,
    "dropout": 0.2,
    "drop_seed": 0,
    "predict": "off",
    "hand_x": "1 0 1 0; 0 2 0 2; 1 1 1 1",
    "hand_q": "1 0 1; 1 0 0; 0 0 1; 0 1 1",
    "hand_k": "0 0 1; 1 1 0; 0 1 0; 1 1 0",
    "hand_v": "0 2 0; 0 3 0; 1 0 3; 1 1 0",
    "hand_mask": "1 1 1; 1 1 1; 1 1 1",
    "claim": "scale",
    "source": "random",
    "tokens": 3,
    "width": 5,
    "claim_d_k": 2,
    "claim_seed": 0,
    "power": 8.25,
    "repeats": 6,
    "mistake": "values",
    "pads": 1,
    "block": "bmm",
    "bmm_a": "1 2 3; 4 5 6 | 1 0 -1; 2 2 0",
    "bmm_b": "1 0; 0 1; 2 -1 | 3 1; 0 2; 1 1",
    "transpose_x": "1 2 3; 4 5 6 | 7 8 9; 10 11 12",
    "transpose_dims": "1-2",
    "softmax_x": "1 2 3; 3 2 1 | 0 0 4; 1 1 1",
    "softmax_dim": "2",
    "temperature_x": "2 1 0 -1",
    "temperature": 0.5,
    "mask_keys": 4,
    "masked_scores": "0 1 2 3; 3 2 1 0 | 1 1 1 1; 0 0 0 10",
    "lens_dim": "1-D",
    "valid_lens": "2 3",
    "valid_lens_2d": "1 3; 2 4",
    "block_batch": 0,
    "block_row": 1,
    "block_column": 0,
    "cover": 0.9,
    "active": "",
    "sort": "head",
    "cross": "sentences",
    "asking": "bonjour le monde",
    "memory": "hello world",
    "batch_example": "toy",
    "toy_queries": "1 2 | 3 -1",
    "toy_lens": "2 6",
    "batch": "hello world | the cat walks on the street | good morning my friend",
    "batch_lens": "",
    "element": 0,
    "dimension": 0,
    "compare": "settings",
    "s2": "the cat sleeps on the street",
    "sweep": "scale",
    "sweep_at": 1.0,
}
PUBLISHED_VARIANTS: dict[str, dict[str, Any]] = {
    "dot": {},
    "qkv": {"parameters": "seeded", "d_k": 50, "d_v": 50},
    "multihead": {"parameters": "seeded", "heads": 5},
    "additive": {"parameters": "seeded", "d_hidden": 16},
    "bilinear": {"parameters": "seeded"},
    "cosine": {},
    "gaussian": {"sigma": 1.0},
}
PUBLISHED_OPTIONS: dict[str, tuple[str, ...]] = {
    "variant": ("dot", "qkv", "multihead", "additive", "bilinear", "cosine", "gaussian"),
    "vectors": ("glove", "random"),
    "scale": ("1/√d_k", "none", "factor"),
    "mask": ("none", "causal", "length", "window", "custom"),
    "positions": ("none", "sinusoidal", "rotary", "alibi"),
    "parameters": ("seeded", "identity"),
    "stage": ("scores", "scaled", "masked", "weights"),
    "input": ("sentence", "hand"),
    "step": (
        *("x", "queries", "keys", "values", "scores"),
        *("scaled", "masked", "weights", "dropout", "output"),
    ),
    "predict": ("off", "on"),
    "claim": ("scale", "merge", "values", "permute", "leading", "stack", "influence", "mistakes"),
    "source": ("random", "sentence"),
    "mistake": ("values", "fill", "count", "tanh", "dim"),
    "block": ("bmm", "transpose", "softmax", "temperature", "sequence_mask", "masked_softmax"),
    "transpose_dims": ("1-2", "0-1", "0-2"),
    "softmax_dim": ("0", "1", "2"),
    "lens_dim": ("1-D", "2-D"),
    "sort": ("head", "entropy", "distance", "previous", "same", "next", "first"),
    "cross": ("sentences", "batch"),
    "batch_example": ("toy", "sentences"),
    "compare": ("settings", "sweep", "pair"),
    "sweep": ("scale", "temperature", "window"),
}


@pytest.fixture(autouse=True)
def _no_own_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OWN_VECTORS_VARIABLE, raising=False)


def every_declared() -> Declared:
    return {name: item for schema in SCHEMAS for name, item in settings_of(schema).items()}


def viewed(**settings: Any) -> Result:
    return compute(
        Settings(**{"vectors": "random", "d_model": 7} | settings),
        lambda name: pytest.fail(f"asked for {name}"),
    )


# Links already sent


def test_published_defaults_stay_since_links_leave_them_out() -> None:
    now = {name: default for name, (default, _) in every_declared().items()}
    assert {name: now.get(name) for name in PUBLISHED_DEFAULTS} == PUBLISHED_DEFAULTS
    assert now.keys() == PUBLISHED_DEFAULTS.keys(), "pin the default of the new setting here"
    for name, default in now.items():
        assert type(default) is type(PUBLISHED_DEFAULTS[name])


def test_published_defaults_of_variants_stay_since_links_leave_them_out() -> None:
    now = {
        name: {
            field: default
            for field, (default, _) in settings_of(variant.Config).items()
            if field != "seed"
        }
        for name, variant in VARIANTS.items()
    }
    assert {name: now.get(name) for name in PUBLISHED_VARIANTS} == PUBLISHED_VARIANTS
    assert now.keys() == PUBLISHED_VARIANTS.keys(), "pin the defaults of the new variant here"
    for variant in VARIANTS.values():
        assert settings_of(variant.Config).get("seed", (0,))[0] == PUBLISHED_DEFAULTS["seed"]


def test_published_option_words_stay_since_links_carry_them() -> None:
    schemas = [*SCHEMAS, *(variant.Config for variant in VARIANTS.values())]
    now = {
        name: about.choices()
        for schema in schemas
        for name, (_, about) in settings_of(schema).items()
        if about.choices()
    }
    assert now == PUBLISHED_OPTIONS


def test_a_name_means_one_setting_wherever_it_is_declared() -> None:
    seen: dict[str, Any] = {}
    for schema in (*SCHEMAS, *(variant.Config for variant in VARIANTS.values())):
        for name, declared in settings_of(schema).items():
            assert seen.setdefault(name, declared) == declared


def test_every_default_is_legal_and_every_condition_can_come_true() -> None:
    declared = every_declared()
    for name, (default, about) in declared.items():
        assert complaint(name, default, about, default) is None
        if about.when is not None:
            assert about.when[1] in declared[about.when[0]][1].choices()


def test_own_vectors_are_offered_only_where_a_file_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert vector_names() == ("glove", "random")
    with pytest.raises(ValueError, match="vectors must be one of glove, random, got 'own'"):
        Settings(vectors="own")
    monkeypatch.setenv(OWN_VECTORS_VARIABLE, "vectors.txt")
    assert vector_names() == ("glove", "own", "random")
    assert Settings(vectors="own").vectors == "own"


def test_the_menu_offers_the_registry() -> None:
    assert variant_names() == tuple(VARIANTS)


# Settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"variant": "nope"}, "variant must be one of dot, .*, got 'nope'"),
        ({"vectors": "word2vec"}, "vectors must be one of glove, random, got 'word2vec'"),
        ({"scale": "2"}, "scale must be one of 1/√d_k, none, factor, got '2'"),
        ({"mask": ""}, "mask must be one of none, .*, got ''"),
        ({"positions": "both"}, "positions must be one of none, .*, alibi, got 'both'"),
        ({"d_model": 0}, "d_model must lie between 1 and 300, got 0"),
        ({"d_model": 5.0}, "d_model must be a whole number, got 5.0"),
        ({"factor": -0.1}, "factor must lie between 0.0 and 10.0, got -0.1"),
        ({"factor": math.nan}, "factor must lie between 0.0 and 10.0, got nan"),
        ({"valid_len": -1}, "valid_len must lie between 0 and 512, got -1"),
        ({"radius": 513}, "radius must lie between 0 and 512, got 513"),
        ({"seed": 10_000}, "seed must lie between 0 and 9999, got 10000"),
        ({"seed": True}, "seed must be a whole number, got True"),
        ({"s": 3}, "s must be text, got 3"),
        ({"s": "x" * 5001}, "s must have at most 5000 characters"),
        ({"cells": "x" * 8001}, "cells must have at most 8000 characters"),
    ],
)
def test_settings_out_of_bounds_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Settings(**settings)


def test_the_config_of_the_variant_has_its_own_fields_and_the_shared_seed() -> None:
    settings = Settings(variant="qkv", seed=7, config=(("d_k", 3), ("parameters", "identity")))
    config = settings.variant_config(11)
    assert dataclasses.asdict(config) == {
        "d_model": 11,
        "parameters": "identity",
        "seed": 7,
        "d_k": 3,
        "d_v": 50,
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"config": (("sigma", 1.0),)}, "variant 'dot' has no setting sigma"),
        (
            {"variant": "qkv", "config": (("b", 1), ("a", 1), ("d_k", 3))},
            "variant 'qkv' has no setting a, b",
        ),
        ({"variant": "qkv", "config": (("d_model", 3),)}, "has no setting d_model"),
        (
            {"variant": "gaussian", "config": (("sigma", 0.0),)},
            "sigma must lie between 0.1 and 10.0, got 0.0",
        ),
        (
            {"variant": "additive", "config": (("d_hidden", 129),)},
            "d_hidden must lie between 1 and 128, got 129",
        ),
    ],
)
def test_fields_a_variant_does_not_have_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        viewed(**settings)


def test_settings_compare_and_hash_by_value() -> None:
    assert Settings() == Settings()
    assert hash(Settings(config=(("sigma", 1.0),))) == hash(Settings(config=(("sigma", 1.0),)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().seed = 3  # type: ignore[misc]


# From a sentence to its numbers


def test_a_view_holds_what_its_settings_come_to() -> None:
    view = viewed(seed=3, scale="none")
    assert view.tokens == ("the", "cat", "walks", "on", "the", "street")
    assert view.known == (True,) * 6
    assert (view.left_out, view.notes, view.words) == (0, (), None)
    assert torch.equal(view.x, random_vectors(view.tokens, 7, 3).x)
    assert view.scale == 1.0
    torch.testing.assert_close(view.trace.scores, view.x @ view.x.T)
    assert torch.equal(view.trace.scaled, view.trace.scores)
    assert not view.trace.output.requires_grad


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_settings_give_the_same_numbers_and_ask_for_no_gradients(variant: str) -> None:
    first, second = viewed(variant=variant, seed=5), viewed(variant=variant, seed=5)
    assert torch.equal(first.trace.output, second.trace.output)
    assert not any(getattr(first.trace, step).requires_grad for step in ("scores", "output"))


def test_the_seed_draws_vectors_and_parameters() -> None:
    for variant in ("dot", "qkv"):
        one, other = viewed(variant=variant, seed=1), viewed(variant=variant, seed=2)
        assert not torch.equal(one.trace.output, other.trace.output)


@pytest.mark.parametrize(
    ("settings", "factor"),
    [
        ({}, 7**-0.5),
        ({"scale": "1/√d_k", "factor": 5.0}, 7**-0.5),
        ({"scale": "none"}, 1),
        ({"scale": "factor", "factor": 0.35}, 0.35),
        ({"scale": "factor", "factor": 0.0}, 0),
        ({"variant": "qkv", "config": (("d_k", 3),)}, 3**-0.5),
    ],
)
def test_the_scale_is_what_was_chosen(settings: dict[str, Any], factor: float) -> None:
    trace = viewed(**settings).trace
    torch.testing.assert_close(trace.scaled, trace.scores * factor)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"mask": "none", "cells": "0:1"}, None),
        ({"mask": "causal"}, masks.causal(6, 6)),
        ({"mask": "length"}, masks.parse_cells("*:3-5", 6, 6)),
        ({"mask": "length", "valid_len": 0}, masks.parse_cells("*:*", 6, 6)),
        ({"mask": "length", "valid_len": 512}, masks.parse_cells("", 6, 6)),
        ({"mask": "window"}, masks.window(6, 6, 1)),
        ({"mask": "window", "radius": 0}, torch.eye(6, dtype=torch.bool)),
        ({"mask": "custom", "cells": "0:1,3-5 2:*"}, masks.parse_cells("0:1,3-5 2:*", 6, 6)),
        ({"mask": "custom"}, masks.parse_cells("", 6, 6)),
    ],
)
def test_the_mask_is_what_was_chosen(
    settings: dict[str, Any], expected: torch.Tensor | None
) -> None:
    mask = viewed(**settings).trace.mask
    if expected is None:
        assert mask is None
    else:
        assert mask is not None
        assert torch.equal(mask, expected)


@pytest.mark.parametrize("mask", PUBLISHED_OPTIONS["mask"])
def test_every_mask_of_the_menu_can_be_made(mask: str) -> None:
    made = make_mask(Settings(mask=mask), 5)
    assert (made is None) == (mask == "none")
    assert made is None or made.shape == (5, 5)
    across = make_mask(Settings(mask=mask), 5, 3)
    assert across is None or across.shape == (5, 3)


def test_bad_cells_become_a_note_and_hide_nothing() -> None:
    view = viewed(mask="custom", cells="0:1 oops")
    (note,) = view.notes
    assert note.startswith("Nothing is hidden: hidden cells are written ")
    assert "got 'oops'" in note
    assert view.trace.mask is None
    assert torch.equal(view.trace.weights, viewed().trace.weights)


def test_positions_are_added_to_the_vectors() -> None:
    plain, moved = viewed(), viewed(positions="sinusoidal")
    assert torch.equal(moved.x, plain.x + sinusoidal(6, 7))
    assert torch.equal(moved.trace.values, moved.x)


def test_without_positions_the_order_of_the_words_does_not_matter() -> None:
    there, back = viewed(s="cat sees dog"), viewed(s="dog sees cat")
    torch.testing.assert_close(there.trace.output, back.trace.output.flip(0))
    there, back = (viewed(s=s, positions="sinusoidal") for s in ("cat sees dog", "dog sees cat"))
    assert not torch.allclose(there.trace.output, back.trace.output.flip(0), atol=1e-3)


def test_512_of_600_tokens_are_shown_and_88_left_out() -> None:
    view = viewed(s=" ".join(["cat"] * 600), d_model=3)
    assert len(view.tokens) == len(view.known) == MAX_TOKENS == 512
    assert view.left_out == 88
    assert view.trace.weights.shape == (512, 512)


@pytest.mark.parametrize("sentence", ["", "   ", "\x00", '"', "\u202e"])
def test_a_sentence_without_words_is_refused(sentence: str) -> None:
    with pytest.raises(ValueError, match="the sentence has no words yet"):
        viewed(s=sentence)


@pytest.mark.parametrize("sentence", [s for s in HOSTILE if s.strip("\x00 ")])
def test_hostile_sentences_have_finite_numbers(sentence: str) -> None:
    view = viewed(s=sentence, mask="causal")
    assert len(view.tokens) == len(view.trace.output)
    assert view.trace.output.isfinite().all()


def test_words_are_the_vectors_unless_the_values_are_projected(glove: Vectors) -> None:
    def words_of(**settings: Any) -> Vectors | None:
        return compute(Settings(**settings), lambda name: glove).words

    assert words_of() is glove
    assert words_of(variant="bilinear", positions="sinusoidal") is glove
    assert words_of(variant="qkv") is None
    assert words_of(variant="qkv", config=(("parameters", "identity"),)) is glove
    assert words_of(vectors="random") is None


def test_vectors_are_asked_for_by_name_and_unknown_words_are_marked(glove: Vectors) -> None:
    asked: list[str] = []

    def load(name: str) -> Vectors:
        asked.append(name)
        return glove

    view = compute(Settings(s="the zzqx cat", d_model=3), load)
    assert asked == ["glove"]
    assert view.known == (True, False, True)
    assert torch.equal(view.x, look_up(glove, view.tokens).x)


# What a link asks for


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"s": "", "variant": "qkv", "d_k": "3", "seed": "9999", "query": "511"},
        {"factor": "0.35", "scale": "factor", "sigma": "10", "stage": "masked"},
        {"scale": "1/√d_k", "cells": "nonsense", "d_hidden": "128"},
    ],
)
def test_a_sound_link_is_not_remarked_upon(asked: dict[str, str]) -> None:
    assert link_problems(asked) == []


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"colour": "red"}, "“colour” is not a setting; it was left out."),
        ({"x" * 99: "1"}, f"“{'x' * 40}” is not a setting; it was left out."),
        ({"config": "1"}, "“config” is not a setting; it was left out."),
        ({"seed": "-1"}, "seed must lie between 0 and 9999, got -1; showing 0 instead."),
        ({"seed": "one"}, "seed must be a whole number, got 'one'; showing 0 instead."),
        ({"seed": ""}, "seed must be a whole number, got ''; showing 0 instead."),
        ({"factor": "nan"}, "factor must lie between 0.0 and 10.0, got nan; showing 1.0 instead."),
        ({"factor": "1e9"}, "factor must lie between 0.0 and 10.0, .*; showing 1.0 instead."),
        ({"sigma": "0"}, "sigma must lie between 0.1 and 10.0, got 0.0; showing 1.0 instead."),
        ({"d_k": "129"}, "d_k must lie between 1 and 128, got 129; showing 50 instead."),
        ({"variant": "Dot"}, "variant must be one of dot, .*, got 'Dot'; showing dot instead."),
        ({"stage": "softmax"}, "stage must be one of .*, got 'softmax'; showing weights instead."),
        ({"query": "512"}, "query must lie between 0 and 511, got 512; showing 0 instead."),
        ({"mask": "<b>"}, "mask must be one of .*, got '<b>'; showing none instead."),
    ],
)
def test_a_misread_link_is_told_what_is_shown_instead(asked: dict[str, str], words: str) -> None:
    (line,) = link_problems(asked | {"s": "sound"})
    assert re.fullmatch(words, line)


def test_whole_numbers_written_as_decimals_are_read_as_streamlit_reads_them() -> None:
    assert link_problems({"seed": "1.0", "d_k": "5e0"}) == []
    assert link_problems({"seed": "1.5"}) != []


@pytest.mark.parametrize(("name", "most"), [("s", 5000), ("cells", 8000), ("hand_x", 9000)])
def test_text_that_is_too_long_is_not_said_to_be_the_default_since_it_is_cut(
    name: str, most: int
) -> None:
    (line,) = link_problems({name: "x " * most})
    assert f"{name} must have at most {most} characters" in line
    assert not line.endswith(f"showing {PUBLISHED_DEFAULTS[name]} instead.")


def test_what_is_said_about_a_long_value_stays_short() -> None:
    (line,) = link_problems({"variant": "x" * 5000})
    assert len(line) < 250


names = st.sampled_from([*PUBLISHED_DEFAULTS, "sigma", "d_k", "parameters"]) | st.text(max_size=9)


@given(asked=st.dictionaries(names, st.text(max_size=20), max_size=4))
@hypothesis_settings(deadline=None, max_examples=100)
def test_any_link_is_judged_in_at_most_a_line_a_setting(asked: dict[str, str]) -> None:
    assert len(link_problems(asked)) <= len(asked)
