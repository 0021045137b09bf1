"""What a trace says: who contributes how much, how sure a row is, which words are near."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torchtext.vocab import Vectors

from attention.functional import Trace


def contributions(trace: Trace, query: int) -> Tensor:
    """The terms `w_ij v_j` whose sum over the keys is output row `query`. (…, keys, d_v)."""
    weights = trace.weights if trace.dropped is None else trace.dropped
    return weights[..., query, :, None] * trace.values


def shares(trace: Trace, query: int) -> Tensor:
    """Each term's signed share of the output: its length along y_i over that of y_i. (…, keys).

    The shares of a row sum to 1; they are all 0 where the output is 0.
    """
    output = trace.output[..., query, :]
    along = (contributions(trace, query) * output.unsqueeze(-2)).sum(-1)
    return (along / output.square().sum(-1, keepdim=True)).nan_to_num(0.0, 0.0, 0.0)


def residual(trace: Trace, query: int) -> float:
    """`‖Σ_j w_ij v_j - y_i‖`, the sum taken term by term in float64."""
    total = contributions(trace, query).double().sum(-2)
    return float((total - trace.output[..., query, :].double()).norm())


def entropy_bits(weights: Tensor) -> Tensor:
    """Shannon entropy of each row in bits: 0 = one key, log2(keys) = all alike. (…, queries)."""
    return -torch.xlogy(weights, weights).sum(-1) / torch.tensor(2.0).log()


class Neighbours:
    """The nearest words of a vocabulary by cosine (Pennington et al. 2014), norms kept ready."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        self.norms: Tensor = vectors.vectors.norm(dim=1).clamp_min(1e-12)

    def __call__(self, wanted: Tensor, k: int = 5) -> list[list[tuple[str, float]]]:
        """For each row of wanted (n, d): its k nearest words with their cosines; none for 0."""
        similarity = (wanted @ self.vectors.vectors.T) / self.norms
        similarity /= wanted.norm(dim=1, keepdim=True).clamp_min(1e-12)
        cosines, words = similarity.topk(min(k, len(self.norms)), dim=1)
        return [
            [(self.vectors.itos[w], c) for w, c in zip(row_words, row_cosines, strict=True)]
            if some.any()
            else []
            for some, row_words, row_cosines in zip(
                wanted, words.tolist(), cosines.tolist(), strict=True
            )
        ]


def table(trace: Trace, query: int, tokens: Sequence[str]) -> dict[str, list[float] | list[str]]:
    """One query of a 2-D trace as columns: key, score, scaled, weight, ‖v‖, ‖w·v‖, share."""
    columns = {
        "score": trace.scores[query],
        "scaled": trace.scaled[query],
        "weight": trace.weights[query],
        "‖v‖": trace.values.norm(dim=-1),
        "‖w·v‖": contributions(trace, query).norm(dim=-1),
        "share of y": shares(trace, query),
    }
    return {"key": list(tokens)} | {name: column.tolist() for name, column in columns.items()}
