"""All heads of a run as tables: measures, strongest links, weights; each a DataFrame of pandas.

Whole runs are read where that is quick, else a sample of their rows, spread evenly: each table says
how many rows were looked at, and if these are all.
"""

from __future__ import annotations

from typing import Any, Literal

import pandas
import torch
from torch import Tensor

from attention.analysis.heads import Keys, Rows, measures_of_rows, shares_of, spread_rows
from attention.analysis.token_texts import Texts
from attention.capture.attentions import Attention
from attention.capture.recording import Part, Recording, positions
from attention.core.arguments import must_be
from attention.core.limits import MAX_SEEN

QUICK_CELLS = 1024 * MAX_SEEN**2  # some seconds: all rows of so many heads of so many tokens
LEAST_ROWS = 32  # of a sample
BLOCK_CELLS = 1 << 20  # that are worked on together
MOST_CELLS = 1 << 24  # of a table of weights
NAMES = ("layer", "module", "kind", "head")

Sample = int | Literal["all"] | None


@torch.no_grad()
def measures(run: Recording, *, rows: Sample = None, entry: int = 0) -> pandas.DataFrame:
    """Measures of every head of a run, on average over its queries: one row for each head.

    rows: how many queries of each head are measured, spread evenly; "all", or None = as many as
    take some seconds. Columns: layer, module, kind, head; each measure of `heads.MEASURES` that
    says anything of it, and its standard error (Cochran 1977, "Sampling Techniques", 2.20), 0 where
    all queries are measured; rows, and exact: if these are all. Where tokens are known, equal ones
    are told by their texts. Raises ValueError where there is no such entry.
    """
    found: list[pandas.DataFrame] = []
    for kept in run.attentions:
        _, heads, n_queries, n_keys = kept.shape
        asked = _sample(run, kept, rows, n_queries)
        _, texts = token_texts(run, kept)
        shape, crosses = (heads, n_queries, n_keys), kept.kind == "cross"
        keys = Keys(ids=texts.tokens if texts and n_queries == n_keys and not crosses else ())
        blocks = blocks_of(run, kept, asked, entry)
        if not kept.weights_are_a_distribution:
            blocks = ((some, shares_of(weights)) for some, weights in blocks)
        means, errors = measures_of_rows(blocks, shape, keys, crosses)
        if not kept.weights_are_a_distribution:
            means = {name: each for name, each in means.items() if name != "entropy"}
        named = pandas.DataFrame([_named(kept, head) for head in kept.heads])
        for name in means:
            named[name], named[f"± {name}"] = means[name].numpy(), errors[name].numpy()
        found.append(named.assign(rows=len(asked), exact=len(asked) == n_queries))
    return pandas.concat(found, ignore_index=True) if found else pandas.DataFrame(columns=NAMES)


@torch.no_grad()
def links(
    run: Recording,
    *,
    queries: str | Part = None,
    keys: str | Part = None,
    apart: int = 0,
    without_first: bool = True,
    each: int = 3,
    rows: Sample = None,
    entry: int = 0,
) -> pandas.DataFrame:
    """Strongest links of every head of a run, `each` of them, all sorted by their weights.

    queries, keys: positions, or words, at whose beginnings the links begin and end; None = any;
    apart: how far from each other query and key are at least, in tokens, of attention within one
    sequence alone; without_first: the first key is left out, which takes what is not needed
    elsewhere; rows: as `measures` has it, of the queries that are named. Columns: layer, module,
    kind, head, query, key, weight, the tokens of both where they are known, rows that were looked
    at, and exact: if these are all. Raises ValueError where there are no such positions or words.
    """
    must_be("each", each, int)
    must_be("apart", apart, int)
    found: list[pandas.DataFrame] = []
    for kept in run.attentions:
        if apart > 0 and kept.kind == "cross":
            continue
        of_queries, of_keys = token_texts(run, kept)
        among = _places("queries", queries, kept.shape[2], of_queries)
        asked = among[_sample(run, kept, rows, len(among))]
        to = _places("keys", keys, kept.shape[3], of_keys)
        barred = torch.ones(kept.shape[3], dtype=torch.bool).index_fill(0, to, False)
        barred[0] |= without_first
        best = _strongest(blocks_of(run, kept, asked, entry), barred, apart, each)
        for head, (weights, froms, tos) in zip(kept.heads, best, strict=True):
            table = pandas.DataFrame(
                {
                    **_named(kept, head),
                    **{"query": froms.numpy(), "key": tos.numpy(), "weight": weights.numpy()},
                    **_token_columns(of_queries, of_keys, froms, tos),
                    **{"rows": len(asked)},
                    **{"exact": len(asked) == len(among)},
                }
            )
            found.append(table[table["weight"] != 0])
    if not found:
        return pandas.DataFrame(columns=[*NAMES, "query", "key", "weight", "rows", "exact"])
    joined = pandas.concat(found, ignore_index=True)
    by_size = joined["weight"].abs().sort_values(ascending=False, kind="stable").index
    return joined.loc[by_size].reset_index(drop=True)


@torch.no_grad()
def frame(
    run: Recording,
    layer: int | str,
    head: int | None = None,
    rows: Part = None,
    columns: Part = None,
    *,
    entry: int = 0,
) -> pandas.DataFrame:
    """Weights of a part of a head as a table with one row for each: a row of the map, or a tile.

    head: None = the mean of all heads of the layer; the rest as `Recording.weights` has it.
    Columns: layer, module, kind, head, query, key, weight, and the tokens of both where they are
    known. Raises ValueError where there is no such part, or more than 16,777,216 weights are asked
    for.
    """
    kept = run.attention(layer)
    asked = positions("rows", rows, kept.shape[2])
    across = positions("columns", columns, kept.shape[3])
    if len(asked) * len(across) > MOST_CELLS:
        raise ValueError(
            f"a table must have at most {MOST_CELLS:,} weights, got {len(asked):,} rows of "
            f"{len(across):,}: ask for some rows and columns"
        )
    if head is None:
        weights = run.mean(kept.number, asked, columns=across, entry=entry)
    else:
        weights = run.weights(kept.number, head, asked, across, entry=entry)
    queries = asked.repeat_interleave(len(across))
    keys = across.repeat(len(asked))
    cells = {
        **_named(kept, "mean" if head is None else head),
        **{"query": queries.numpy(), "key": keys.numpy()},
        **{"weight": weights.cpu().flatten().numpy()},
    }
    return pandas.DataFrame(cells | _token_columns(*token_texts(run, kept), queries, keys))


def blocks_of(run: Recording, kept: Attention, rows: Tensor, entry: int = 0) -> Rows:
    """These rows of one attention, in blocks: positions, and weights (heads, rows, keys)."""
    at_once = max(1, BLOCK_CELLS // (len(kept.heads) * kept.shape[3]))
    for some in rows.split(at_once):
        heads = [run.weights(kept.number, head, some, entry=entry).cpu() for head in kept.heads]
        yield some, torch.stack(heads)


def quick_rows(heads: int, n_queries: int, n_keys: int) -> Tensor:
    """Positions of all rows, or of as many as take some seconds in so many heads. (rows,)"""
    return spread_rows(n_queries, max(LEAST_ROWS, QUICK_CELLS // (heads * n_keys)))


def token_texts(run: Recording, kept: Attention) -> tuple[Texts | None, Texts | None]:
    """Texts of the queries and keys of an attention, None where they are not known."""
    n_queries, n_keys = kept.shape[2:]
    given = [run.keys, run.tokens] if kept.kind == "cross" else [run.tokens, run.keys]
    of_keys = next((texts for texts in given if len(texts or ()) == n_keys), None)
    of_queries = run.tokens if len(run.tokens or ()) == n_queries else None
    if kept.kind == "self" and n_queries == n_keys:
        of_queries = of_keys
    return (
        None if of_queries is None else Texts(of_queries),
        None if of_keys is None else Texts(of_keys),
    )


def _named(kept: Attention, head: int | str) -> dict[str, Any]:
    return dict(zip(NAMES, (kept.number, kept.name, kept.kind, head), strict=True))


def _sample(run: Recording, kept: Attention, rows: Sample, count: int) -> Tensor:
    """Positions among so many rows of those that are looked at."""
    if rows is None:
        return quick_rows(sum(len(each.heads) for each in run.attentions), count, kept.shape[3])
    if rows != "all":
        must_be("rows", rows, int)
        if rows < 1:
            raise ValueError(f'rows must be 1 or more, "all" or None, got {rows}')
    return spread_rows(count, count if rows == "all" else rows)


def _places(name: str, asked: str | Part, count: int, texts: Texts | None) -> Tensor:
    """Positions that words or a part stand for; all, where nothing is asked."""
    if not isinstance(asked, str):
        return positions(name, asked, count)
    if texts is None:
        raise ValueError(f"{name} must be positions, since the run has no tokens, got {asked!r}")
    if not (found := texts.find(asked)):
        raise ValueError(f"{name} must be words of the run, got {asked!r}, which is not there")
    return torch.tensor(found)


def _strongest(
    blocks: Rows, barred: Tensor, apart: int, most: int
) -> list[tuple[Tensor, Tensor, Tensor]]:
    """The greatest weights of each head by size, at most so many, their queries and keys."""
    best: list[Tensor] = []  # weights, queries, keys: (heads, most) each
    every = torch.arange(len(barred))
    for rows, weights in blocks:
        left_out = barred.expand(len(rows), -1)
        if apart > 0:
            left_out = left_out | ((rows[:, None] - every).abs() < apart)
        flat = weights.masked_fill(left_out, 0).flatten(1)
        _, at = flat.abs().topk(min(most, flat.shape[1]))
        numbers = flat.gather(1, at)
        froms, tos = rows[at // len(barred)], at % len(barred)
        found = [numbers, froms, tos]
        if best:
            found = [torch.cat(both, 1) for both in zip(best, found, strict=True)]
        order = found[0].abs().argsort(dim=1, descending=True, stable=True)[:, :most]
        best = [part.gather(1, order) for part in found]
    return [*zip(*best, strict=True)]


def _token_columns(
    of_queries: Texts | None, of_keys: Texts | None, queries: Tensor, keys: Tensor
) -> dict[str, list[str]]:
    """Texts of these queries and keys, as columns; none where they are not known."""
    sides = (("query token", of_queries, queries), ("key token", of_keys, keys))
    return {
        name: [texts.text(at) for at in places.tolist()]
        for name, texts, places in sides
        if texts is not None
    }
