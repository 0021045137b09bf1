"""Positions against their definition: added, rotated, and taken off the scores."""

from __future__ import annotations

import math

import pytest
import torch

from attention.core.positions import Rotary, alibi, rotary, sinusoidal, slopes
from tests.cases import over
from tests.properties import given
from tests.properties import settings as given_settings
from tests.properties import strategies as st


@pytest.mark.parametrize(("n_tokens", "d_model"), [(3, 5), (7, 11), (11, 2), (5, 1), (1, 7)])
def test_sinusoidal_is_sines_and_cosines_of_the_position(n_tokens, d_model):
    encoding = sinusoidal(n_tokens, d_model)
    assert encoding.shape == (n_tokens, d_model)
    assert encoding.dtype == torch.float32
    for position in range(n_tokens):
        for dimension in range(d_model):
            wave = (math.sin, math.cos)[dimension % 2]
            angle = position / 10000 ** (dimension // 2 * 2 / d_model)
            assert encoding[position, dimension].item() == pytest.approx(wave(angle), abs=1e-7)


@given(st.integers(1, 11), st.integers(0, 12), st.integers(0, 99))
@given_settings(deadline=None, max_examples=30)
def test_rotary_products_depend_on_the_distance_alone(d_k, distance, seed):
    """So lengths stay as well: at distance 0 all products are those of the first position."""
    generator = torch.Generator().manual_seed(seed)
    query, key = (torch.randn(d_k, generator=generator).expand(23, d_k) for _ in range(2))
    along = (rotary(query) @ rotary(key).T).diagonal(distance)
    torch.testing.assert_close(along, along[:1].expand_as(along), atol=1e-4, rtol=1e-4)


def test_rotary_rotates_pairs_by_position_and_leaves_the_last_of_an_odd_width():
    rotated = rotary(torch.tensor([[1.0, 0, 1, 0, 7]]).expand(4, 5))
    slow = 3 / 10000 ** (2 / 5)
    expected = [math.cos(3), math.sin(3), math.cos(slow), math.sin(slow), 7]
    assert rotated[3].tolist() == pytest.approx(expected, abs=1e-6)
    assert rotated[0].tolist() == [1, 0, 1, 0, 7]
    assert rotary(torch.full((5, 1), 7.0)).tolist() == [[7]] * 5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_positions_are_made_on_the_device_and_in_the_dtype_of_what_they_go_with(device, dtype):
    made = [
        rotary(torch.ones(2, 3, 5, dtype=dtype, device=device)),
        sinusoidal(3, 5, dtype=dtype, device=device),
        slopes(7, dtype=dtype, device=device),
        alibi(7, 3, 5, dtype=dtype, device=device),
    ]
    assert {(part.device.type, part.dtype) for part in made} == {(device, dtype)}
    assert [part.shape for part in made] == [(2, 3, 5), (3, 5), (7,), (7, 3, 5)]


def test_positions_in_float64_are_exact_to_its_digits():
    ones = torch.tensor([1.0, 0], dtype=torch.float64).expand(512, 2)
    waves = [[math.cos(511), math.sin(511)], [math.sin(511), math.cos(511)]]
    assert rotary(ones)[511].tolist() == pytest.approx(waves[0], abs=1e-15)
    assert sinusoidal(512, 2, dtype=torch.float64)[511].tolist() == pytest.approx(
        waves[1], abs=1e-15
    )


@over("d_k", [1, 2, 5, 7, 10])
def test_pairs_half_the_width_apart_are_rotated_as_pairs_side_by_side_are(d_k):
    vectors = torch.randn(3, 5, d_k, generator=torch.Generator().manual_seed(d_k))
    half = d_k // 2
    apart = [*range(0, 2 * half, 2), *range(1, 2 * half, 2), *range(2 * half, d_k)]
    rotated = Rotary(700.0, halves=True)(vectors[..., apart])
    assert torch.equal(rotated, Rotary(700.0)(vectors)[..., apart])


def test_a_rotation_falls_from_its_base_and_counts_from_the_first_position():
    ones = torch.ones(7, 4)
    fast, slow = 6.0, 6 / 16**0.5
    expected = [math.cos(angle) - math.sin(angle) for angle in (fast, slow)]
    assert Rotary(16.0)(ones)[6, ::2].tolist() == pytest.approx(expected, abs=1e-6)
    assert torch.equal(Rotary(16.0)(ones[:2], first=5), Rotary(16.0)(ones)[5:])
    assert torch.equal(Rotary()(ones), rotary(ones))


def authors_slopes(n: int) -> list[float]:
    """As in the code of Press et al., github.com/ofirpress/attention_with_linear_biases."""

    def power_of_2(n: int) -> list[float]:
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(n).is_integer():
        return power_of_2(n)
    closest = 2 ** math.floor(math.log2(n))
    return power_of_2(closest) + authors_slopes(2 * closest)[0::2][: n - closest]


@over("heads", [1, 2, 3, 5, 6, 7, 12, 16, 25, 50])
def test_slopes_are_those_of_the_authors_code_and_of_8_heads_those_of_the_paper(heads):
    assert slopes(heads).tolist() == pytest.approx(authors_slopes(heads), rel=1e-6)
    assert slopes(8).tolist() == [1 / 2**n for n in range(1, 9)]


def test_alibi_takes_slope_times_distance_off_each_head():
    bias = alibi(2, 3, 5)
    assert bias.shape == (2, 3, 5)
    assert bias[0, 1].tolist() == [-1 / 16, 0, -1 / 16, -2 / 16, -3 / 16]
    assert bias[1, 2].tolist() == [-2 / 256, -1 / 256, 0, -1 / 256, -2 / 256]
