"""The map of a head of a layer without a softmax: sizes where weights may lie below 0."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

import attention
from attention.analysis.token_texts import Texts
from attention.figures.head_map import HeadMap, shades
from attention.figures.street_map import StreetMap, first_question
from tests.capture.families import WITHOUT_SOFTMAX
from tests.running import sent_as


@torch.no_grad()
def test_a_map_without_a_softmax_has_sizes_as_colours_and_signs_in_its_numbers():
    ids = torch.randint(1, 52, (1, 601), generator=torch.Generator().manual_seed(0))
    with attention.capture() as captured:
        WITHOUT_SOFTMAX["Qwen 3.5"].build()(input_ids=ids)
    run = captured.one()
    shown, whole = HeadMap(run, 0, 4), run.weights(0, 4)
    assert bool((whole < 0).any())
    shown.fill(lambda done, of: None)
    tile = shown.tile(1, 0, 0)
    blocks = torch.nn.functional.max_pool2d(whole.abs()[None], 2, ceil_mode=True)[0]
    expected = shades(blocks[:256, :256], shown.least).int()
    assert_close(tile.int(), expected, atol=1, rtol=0)  # by the last bit of a weight
    assert_close(shown.row(77), whole[77])
    at = int(whole.abs().flatten()[601:].argmax()) + 601  # row 0 sees itself alone
    query, key = divmod(at, 601)
    found = shown.greatest_in(shown.top, query >> shown.top, key >> shown.top)
    assert (found.query, found.key) == (query, key)
    assert found.weight == pytest.approx(float(whole[query, key]))
    links = shown.far_links(5, without_first=True)
    apart = (torch.arange(601) - torch.arange(601)[:, None]).abs() >= 5
    apart[:, 0] = False
    best = (whole.abs() * apart).flatten().topk(20).values
    assert_close(torch.tensor([abs(link.weight) for link in links]), best)
    figure = StreetMap(shown, (Texts([""] * 601),), first_question("map", 77, [(0, 0, 0)]))
    greatest = sent_as(figure.content()).header["greatest"]
    sizes = [abs(link["weight"]) for link in greatest]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == pytest.approx(float(whole[77].abs().max()))
