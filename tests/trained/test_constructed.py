"""The model built by hand: each head does what it was built for, as weights say."""

from __future__ import annotations

import pytest
import torch

from tests.trained.packaged import packaged

#        0        1 2 3 4 5   6 7 8
LETTERS = "x b c b the x b"
SURE = 0.99


def weights(text: str, layer: int, head: int) -> torch.Tensor:
    return packaged("constructed").run(text).inputs[layer].trace().weights[head]


def looks_at(text: str, layer: int, head: int) -> list[list[int]]:
    """For each query the keys that share nearly all of its weight, equally."""
    found = []
    for row in weights(text, layer, head):
        keys = (row > 0.01).nonzero().flatten().tolist()
        assert float(row[keys].sum()) > SURE
        torch.testing.assert_close(row[keys], row[keys].mean().expand(len(keys)), atol=1e-3, rtol=0)
        found.append(keys)
    return found


@pytest.mark.parametrize(
    ("layer", "head", "keys"),
    [
        (0, 0, [[0], [0], [1], [2], [3], [4], [5], [6]]),  # the token before
        (0, 1, [[0], [1], [2], [3], [2], [5], [1], [2, 4]]),  # equal tokens before, else itself
        (1, 0, [[0], [0], [0], [0], [3], [0], [2], [3, 5]]),  # the token behind an equal one
        (1, 1, [[0]] * 8),  # the start
    ],
)
def test_each_head_looks_where_it_was_built_to_look(layer, head, keys):
    assert packaged("constructed").pieces(LETTERS).texts[0] == "[start]"
    assert looks_at(LETTERS, layer, head) == keys


def test_what_followed_before_is_what_it_says_next_and_else_it_knows_nothing():
    model = packaged("constructed")
    for text, said in (("the cats see a dog and the cats", "see"), ("q w e r q", "w")):
        shares = model.scores(model.run(text).hidden[-1]).softmax(-1)
        assert model.shown([int(shares.argmax())]) == (said,)
        assert float(shares.max()) > SURE
    nothing = model.scores(model.run("q w e r").hidden[-1]).softmax(-1)
    assert float(nothing.max()) < 0.05
