"""One sequence over another, and padded batches: lengths, padding, and what is worked out."""

from __future__ import annotations

import json
import math
import runpy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attention.core import masks
from attention.core.functional import STAGES
from attention.core.positions import rotary
from attention.core.variants import VARIANTS, Variant
from attention.display import figures
from attention.display.matrix import Matrix, MatrixError
from attention.display.script import pytorch_script
from attention.display.tables import working as as_html
from attention.lessons import cross
from attention.lessons.cross import PAD, Batch, CrossSettings, padded, read_lens, read_memories
from attention.pipeline import Result, Settings, compute, compute_batch
from tests.hostile import HOSTILE
from tests.properties import given
from tests.properties import settings as hypothesis_settings
from tests.properties import strategies as st

GOLDENS = json.loads((Path(__file__).parent / "goldens.json").read_text("utf-8"))
D_MODEL = 5
each_variant = pytest.mark.parametrize("name", VARIANTS)


def viewed(asking: str = "who is it", memory: str = "the cat", **settings: Any) -> Result:
    plain: dict[str, Any] = {"vectors": "random", "d_model": 7}
    made = Settings(**plain | settings | {"s": asking})
    return compute(made, lambda name: pytest.fail(f"asked for {name}"), memory)


def built(name: str) -> Variant:
    return VARIANTS[name](VARIANTS[name].Config(D_MODEL)).head(0)


def sequence(size: int, seed: int = 0) -> tuple[tuple[str, ...], Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(f"t{i}" for i in range(size)), torch.randn(size, D_MODEL, generator=generator)


def batched(*sizes: int, lens: str = "", queries: int = 3, name: str = "dot") -> Batch:
    names, x = sequence(queries, 9)
    return padded(built(name), names, x, [sequence(n, i) for i, n in enumerate(sizes)], lens)


def asked_of(**asked: Any) -> Batch:
    settings = Settings(vectors="random", d_model=7, scale=asked.pop("scale", "1/√d_k"))
    return compute_batch(settings, CrossSettings(cross="batch", **asked), lambda name: None)


# Two sentences


def test_queries_of_one_sentence_attend_over_the_tokens_of_the_other() -> None:
    view = viewed("bonjour le monde", "hello world")
    assert view.tokens == ("bonjour", "le", "monde")
    assert view.keys == ("hello", "world")
    assert view.memory is not None
    expected = (view.x @ view.memory.x.T / math.sqrt(7)).softmax(-1)
    torch.testing.assert_close(view.trace.weights, expected)
    torch.testing.assert_close(view.trace.output, expected @ view.memory.x)


def test_a_sentence_without_a_memory_asks_itself() -> None:
    settings = Settings(s="who is it", vectors="random", d_model=7)
    alone = compute(settings, lambda name: pytest.fail(name))
    assert alone.keys == alone.tokens
    assert torch.equal(alone.trace.output, viewed("who is it", "who is it").trace.output)


@pytest.mark.parametrize("mask", ["none", "causal", "length", "window", "custom"])
@pytest.mark.parametrize(("asking", "memory"), [("a b c d e", "f g h"), ("a b c", "d e f g h")])
def test_two_sentences_agree_with_torch(mask: str, asking: str, memory: str) -> None:
    view = viewed(asking, memory, mask=mask, valid_len=2, radius=3, cells="0:1 2:0")
    assert view.memory is not None
    expected = scaled_dot_product_attention(
        *(part[None] for part in (view.x, view.memory.x, view.memory.x)),
        attn_mask=view.trace.mask,
    )
    torch.testing.assert_close(view.trace.output, expected[0])


def test_positions_count_from_0_in_each_sentence() -> None:
    view = viewed("a b c", "d e f g h", positions="rotary")
    assert view.memory is not None
    assert torch.equal(view.trace.queries, rotary(view.x))
    assert torch.equal(view.trace.keys, rotary(view.memory.x))
    added = viewed("a b c", "d e f g h", positions="sinusoidal")
    assert added.encoding is not None
    assert added.memory is not None
    assert added.memory.encoding is not None
    assert torch.equal(added.memory.encoding[:3], added.encoding)
    bias = viewed("a b", "d e f", positions="alibi").trace.bias
    assert bias is not None
    assert (bias * 256).tolist() == [[0, -1, -2], [-1, 0, -1]]


def test_a_window_beyond_the_end_of_the_memory_shows_nothing() -> None:
    view = viewed("a b c d e", "f g", mask="window", radius=1)
    assert view.trace.weights.sum(-1).gt(0.5).tolist() == [True, True, True, False, False]
    assert view.trace.output[3:].abs().sum() == 0
    assert "would make each weight not a number" in cross.empty_words(view.trace, 4)
    assert cross.empty_words(view.trace, 0) == ""


@pytest.mark.parametrize(("asking", "memory"), [("", "a"), ("a", ""), ("a", '"')])
def test_an_empty_sentence_on_either_side_is_refused(asking: str, memory: str) -> None:
    with pytest.raises(ValueError, match="the sentence has no words yet"):
        viewed(asking, memory)


def test_of_600_tokens_512_ask_or_answer() -> None:
    view = viewed("cat " * 600, "dog " * 600, d_model=3)
    assert view.memory is not None
    assert view.trace.weights.shape == (512, 512)
    assert (view.left_out, view.memory.left_out) == (88, 88)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("positions", ["none", "alibi", "rotary"])
def test_the_script_of_two_sentences_prints_the_same_numbers(
    variant: str, positions: str, tmp_path: Path
) -> None:
    view = viewed("a b c", "d e f g h", variant=variant, positions=positions, mask="causal")
    path = tmp_path / "script.py"
    path.write_text(pytorch_script(view), "utf-8")
    run = runpy.run_path(str(path))
    assert run["memory_tokens"] == ["d", "e", "f", "g", "h"]
    assert torch.equal(run["trace"].weights, view.trace.weights)
    assert torch.equal(run["trace"].output, view.trace.output)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(("asking", "memory"), [("a b c", "d e f g h"), ("a " * 37, "b c")])
def test_figures_have_queries_down_and_the_memorys_tokens_across(
    stage: str, asking: str, memory: str
) -> None:
    view = viewed(asking, memory, mask="causal")
    figure = figures.heatmap(view.trace, stage, view.tokens, 1, view.keys)
    heat = figure.data[0]
    assert list(heat.y) == figures.positioned(view.tokens)
    assert list(heat.x) == figures.positioned(view.keys)
    assert heat.z.shape == (len(view.tokens), len(view.keys))
    for part in figure.data[1:]:
        assert set(part.y) <= set(heat.y)


def test_the_equation_names_the_query_and_sums_the_memorys_values() -> None:
    view = viewed("it", "<i> it it")
    assert view.keys == ("<i>", "it", "it")
    text = figures.equation(view.trace, view.tokens, 0, keys=view.keys)
    assert text.startswith("<i>y</i><sub><bdi>it</bdi></sub> = ")
    assert text.count("<i>v</i>") == 3
    for name in ("&lt;i&gt;</bdi></sub>", "it</bdi> 1</sub>", "it</bdi> 2</sub>"):
        assert f"<i>v</i><sub><bdi>{name}" in text


# Valid lengths as text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 6", [2, 6]),
        (" 2,6 ", [2, 6]),
        ("0 10", [0, 10]),
        ("1; 3", [[1], [3]]),
        ("1; 3;", [[1], [3]]),
    ],
)
def test_valid_lengths_are_read(text: str, expected: list[Any]) -> None:
    assert read_lens(text, 2, 1, 10).tolist() == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there are no lengths yet"),
        (";", "there are no lengths yet"),
        ("2", "one length a sequence makes 2, got 1"),
        ("2 3 4", "one length a sequence makes 2, got 3"),
        ("2 11", "a length lies between 0 and 10, the number of keys, got 11"),
        ("2 -1", "a length is a whole number, got '-1'"),
        ("2 1.5", "a length is a whole number, got '1.5'"),
        ("2 ²", "a length is a whole number, got '²'"),
        ("2 ٣", "a length is a whole number, got '٣'"),
        ("2 nan", "a length is a whole number, got 'nan'"),
        ("2 99999", "a length is a whole number, got '99999'"),
        ("1; 2; 3", "the batch has 2 sequences, got lengths for 3"),
        ("1 2; 3", "one length a query makes 1 a sequence, got 2"),
        ("1;; 3", "a length is a whole number, got ''"),
    ],
)
def test_other_lengths_are_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(MatrixError) as caught:
        read_lens(text, 2, 1, 10)
    assert str(caught.value) == words


@given(text=st.text(max_size=12) | st.text("0123456789 ;,", max_size=12))
@hypothesis_settings(deadline=None, max_examples=200)
def test_any_text_is_lengths_within_the_keys_or_a_misprint(text: str) -> None:
    try:
        lens = read_lens(text, 2, 3, 7)
    except MatrixError:
        return
    assert lens.shape in ((2,), (2, 3))
    assert int(lens.min()) >= 0
    assert int(lens.max()) <= 7


# The toy


def test_the_classic_toy_gives_its_published_output() -> None:
    golden = GOLDENS["d2l_classic_toy"]
    batch = asked_of()
    assert batch.valid_lens.tolist() == golden["valid_lens"]
    torch.testing.assert_close(batch.trace.output, torch.tensor(golden["output"]).float())
    half, sixth = [0.5] * 2 + [0.0] * 8, [1 / 6] * 6 + [0.0] * 4
    torch.testing.assert_close(batch.trace.weights, torch.tensor([[half], [sixth]]))


@given(numbers=st.lists(st.integers(-50, 50), min_size=4, max_size=4))
@hypothesis_settings(deadline=None, max_examples=50)
def test_whatever_the_toy_is_asked_it_answers_the_same(numbers: list[int]) -> None:
    a, b, c, d = numbers
    output = asked_of(toy_queries=f"{a} {b} | {c} {d}").trace.output
    expected = torch.tensor(GOLDENS["d2l_classic_toy"]["output"]).float()
    torch.testing.assert_close(output, expected)


def test_a_length_for_each_query_masks_each_query() -> None:
    batch = asked_of(toy_queries="1 0; 0 1 | 1 1; 2 2", toy_lens="1 3; 0 10")
    rows = [[1, 0, 0], [1 / 3] * 3, [0, 0, 0], [0.1] * 3]
    torch.testing.assert_close(batch.trace.weights[..., :3].flatten(0, 1), torch.tensor(rows))
    assert batch.trace.output[1, 0].tolist() == [0, 0, 0, 0]
    assert cross.heading(batch, 0) == "Sequence 0: valid lengths 1, 3 of 10, one a query"


@pytest.mark.parametrize(
    ("asked", "note"),
    [
        ({"toy_queries": "1 x | 2 3"}, "Queries: row 0, column 1 holds 'x', which is no number"),
        ({"toy_queries": "1 2"}, "Queries: two sequences of up to 4 queries with two numbers"),
        ({"toy_queries": "1 2 3 | 1 2 3"}, "got shape (2, 1, 3)"),
        ({"toy_queries": "1 2; 3 4 | 5 6"}, "Queries: all matrices of a stack must have one"),
        ({"toy_queries": ""}, "Queries: there are no numbers yet; showing 1 2 | 3 -1 instead."),
        ({"toy_lens": "2 99"}, "a length lies between 0 and 10"),
        ({"toy_lens": "<b>"}, "Valid lengths: a length is a whole number, got '<b>'; showing 2"),
    ],
)
def test_what_the_toy_cannot_take_is_said_and_the_example_shown(
    asked: dict[str, str], note: str
) -> None:
    batch = asked_of(**asked)
    (said,) = batch.notes
    assert note in said
    torch.testing.assert_close(batch.trace.output, asked_of().trace.output)


# Batches of sentences


def test_a_batch_of_a_head_that_is_not_there_shows_the_last_and_says_so() -> None:
    settings = Settings(
        vectors="random", d_model=6, variant="multihead", head=9, config=(("heads", 3),)
    )
    batch = compute_batch(settings, CrossSettings(batch_example="sentences"), lambda name: None)
    assert batch.notes == ("There is no head 9 of 3; showing the last, 2",)
    assert batch.trace.queries.shape[-1] == 2


def test_sentences_are_padded_and_their_lengths_are_the_mask() -> None:
    batch = asked_of(batch_example="sentences", asking="who is it", batch="a b | c d e | ")
    assert batch.queries == ("who", "is", "it")
    assert batch.keys == (("a", "b", PAD), ("c", "d", "e"), (PAD, PAD, PAD))
    assert batch.valid_lens.tolist() == [2, 3, 0]
    assert batch.trace.mask is not None
    assert batch.trace.mask[:, 1].tolist() == [[True, True, False], [True] * 3, [False] * 3]
    assert batch.trace.output[2].abs().sum() == 0
    assert cross.heading(batch, 2) == "Sequence 2, “(empty)”: valid length 0 of 3"


@each_variant
@pytest.mark.parametrize("lens", ["", "1 7 0", "1 2 2; 7 0 7; 2 2 1"])
def test_each_sequence_of_a_batch_is_what_it_is_alone(name: str, lens: str) -> None:
    batch, variant = batched(2, 7, 3, name=name, lens=lens), built(name)
    x = sequence(3, 9)[1]
    for element, size in enumerate((2, 7, 3)):
        mask = masks.lengths(batch.valid_lens, 7)[element, ..., :size].expand(3, size)
        with torch.no_grad():
            alone = variant(x, mask, memory=sequence(size, element)[1])
        torch.testing.assert_close(batch.trace.output[element], alone.output)


sizes = st.lists(st.integers(0, 6), min_size=1, max_size=4).filter(any)


@given(sizes=sizes, name=st.sampled_from([*VARIANTS]), data=st.data())
@hypothesis_settings(deadline=None, max_examples=60)
def test_rows_sum_to_one_or_nothing_and_padding_gets_no_weight(
    sizes: list[int], name: str, data: Any
) -> None:
    lens = [data.draw(st.integers(0, max(sizes))) for _ in sizes]
    batch = batched(*sizes, lens=" ".join(map(str, lens)), name=name)
    for element, length in enumerate(lens):
        weights = batch.trace.weights[element]
        assert weights[:, length:].abs().sum() == 0
        torch.testing.assert_close(weights.sum(-1), torch.full((3,), float(length > 0)))
        assert batch.trace.output[element].isfinite().all()


def test_what_stands_in_the_padding_changes_nothing() -> None:
    variant, (_, x), (_, memory) = built("dot"), sequence(3, 9), sequence(7)
    mask = masks.lengths(torch.tensor([4]), 7)[0]
    other = torch.cat([memory[:4], memory[4:] * 1e6])
    assert torch.equal(
        variant(x, mask, memory=memory).output, variant(x, mask, memory=other).output
    )


def test_a_length_beyond_the_sentence_lets_padding_in_and_says_so() -> None:
    batch = batched(2, 7, lens="5 7")
    (note,) = batch.notes
    share = float(batch.trace.weights[0, :, 2:].sum(-1).max())
    assert share > 0
    assert note.startswith(f"The length given for sequence 0 lets padding in: up to {share:.4f} of")


def test_a_batch_has_room_for_6_sentences_of_16_tokens() -> None:
    memories, notes = read_memories(" | ".join(["cat " * 17] * 8))
    assert [len(tokens) for tokens in memories] == [16] * 6
    assert notes[0] == "Of 8 sentences the first 6 are shown."
    assert notes[1] == "Sequence 0 has 17 tokens; the first 16 are shown."
    assert len(notes) == 7


@pytest.mark.parametrize("text", ["", "|", " | | ", "\x00|"])
def test_a_batch_without_a_word_is_none(text: str) -> None:
    assert read_memories(text)[0] == []
    with pytest.raises(ValueError, match="a batch needs a sentence that asks"):
        asked_of(batch_example="sentences", batch=text)


@pytest.mark.parametrize("sentence", HOSTILE)
def test_hostile_batches_are_finite_and_escaped(sentence: str) -> None:
    batch = asked_of(batch_example="sentences", asking=sentence + " a", batch=sentence + " | cat")
    for element in range(len(batch.titles)):
        assert batch.trace.output[element].isfinite().all()
        shown = as_html(cross.working(batch, element, 0, 0))
        assert not [tag for tag in ("<script", "<img", "<b>", "<a ", "<style") if tag in shown]


def test_lengths_to_try_can_all_be_read() -> None:
    for batch in (asked_of(), batched(2, 7, 3), batched(5)):
        for text in cross.lengths_to_try(batch):
            lens = read_lens(text, len(batch.titles), len(batch.queries), len(batch.keys[0]))
            assert (lens.dim() == 2) == (";" in text)
    assert cross.lengths_to_try(asked_of()) == ("0 6", "1; 3")


# What is shown


@pytest.mark.parametrize("positions", ["none", "alibi"])
@pytest.mark.parametrize("scale", ["1/√d_k", "none"])
def test_a_number_of_the_output_recomputes_from_its_table(positions: str, scale: str) -> None:
    settings = Settings(vectors="random", d_model=7, scale=scale, positions=positions)
    asked = CrossSettings(batch_example="sentences", batch="a b | c d e f g")
    batch = compute_batch(settings, asked, lambda name: None)
    for element, row, dimension in ((0, 0, 0), (1, 2, 6)):
        work = cross.working(batch, element, row, dimension)
        columns: dict[str, Any] = dict(work.columns)
        added = columns.get("added", [0.0] * 5)
        scaled = [s * batch.trace.scale + b for s, b in zip(columns["score"], added, strict=True)]
        length = int(batch.valid_lens[element])
        assert columns["scaled, masked"][:length] == pytest.approx(scaled[:length])
        assert columns["scaled, masked"][length:] == [-math.inf] * (5 - length)
        powers = [math.exp(s - max(scaled[:length])) for s in scaled[:length]]
        powers += [0.0] * (5 - length)
        assert columns["exp(scaled − greatest)"] == pytest.approx(powers)
        assert columns["weight"] == pytest.approx([p / sum(powers) for p in powers])
        products = [w * v for w, v in zip(columns["weight"], columns["v"], strict=True)]
        assert columns["weight · v"] == pytest.approx(products)
        assert work.total == pytest.approx(sum(products), abs=1e-6)
        assert work.total == float(batch.trace.output[element, row, dimension])


def test_a_row_of_length_0_shows_what_a_plain_softmax_would_give() -> None:
    batch = asked_of(toy_lens="0 6")
    work = cross.working(batch, 0, 0, 3)
    assert work.total == 0
    assert work.columns["weight"] == [0.0] * 10
    assert all(math.isnan(float(n)) for n in work.columns["plain softmax"])
    assert "not a number" in as_html(work)
    assert "plain softmax" not in cross.working(batch, 1, 0, 3).columns


def test_matrices_mask_what_lies_beyond_the_length() -> None:
    batch = asked_of()
    for element, length in enumerate((2, 6)):
        hidden = [[key < length for key in range(10)]]
        parts = cross.overview(batch, element) + cross.sources(batch, element)
        masked = [p for p in parts if isinstance(p, Matrix) and p.allowed is not None]
        assert [part.name for part in masked] == ["scaled scores", "weights", "weights"]
        for part in masked:
            assert part.allowed is not None
            assert part.allowed.tolist() == hidden
        scores = cross.origin(batch, element)[-1]
        assert isinstance(scores, Matrix)
        assert torch.equal(scores.numbers, batch.trace.scores[element])
