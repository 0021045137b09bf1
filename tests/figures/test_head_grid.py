"""All heads as small heatmaps: each by its own greatest weight, and none is lost."""

from __future__ import annotations

import torch
from torch.nn.functional import max_pool2d

from attention.figures.head_grid import ALL_DOTS, grid_of_blocks, grid_words
from tests.cases import over
from tests.subjects.play.how.making import drawn


@over("size", [(14, 3, 5), (2, 130, 67), (4096, 40, 40)])
def test_a_head_is_coloured_up_to_its_greatest_weight_and_no_grid_grows(size):
    heads, *both = size
    weights = drawn(*size).softmax(-1)

    def blocks(block: int) -> torch.Tensor:
        return max_pool2d(weights[:, None], block, ceil_mode=True)[:, 0]

    grid = grid_of_blocks(blocks, heads, (both[0], both[1]), ["layer 0"])
    assert (grid.dots.amax((-2, -1)) == 255).all()
    shares = blocks(grid.block) / weights.amax((-2, -1), keepdim=True)
    assert torch.allclose(grid.dots.float(), shares * 255, atol=0.51)
    assert grid.dots.numel() <= ALL_DOTS
    assert ("so that no strong one is lost" in grid.caption) == (grid.block > 1)
    assert (f"of {grid.block} × {grid.block}" in grid_words(grid, (3, 5))) == (grid.block > 1)
