"""A run as one file of HTML: the picture of the widget, which needs no network and no Python."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attention.analysis.returned_weights import Layer
from attention.analysis.token_texts import MOST_LETTERS, Texts
from attention.capture import Attention, Recording
from attention.capture.attentions import WithRows
from attention.figures.bundle import bundle, file_of
from attention.figures.image_patches import Patches
from attention.notebook.heads import MEAN, First, HeadsOfRun, Pictured, heads_of

MAX_BYTES = 10_000_000  # of a file
MOST_CELLS = 1 << 22  # of a head: more have no room in it
MOST_MADE = 1 << 24  # that a browser makes of queries and keys: 64 MB in its memory


def save_html(
    run: Recording,
    path: str | Path,
    tokens: Sequence[str] | None = None,
    *,
    layer: Layer | str = None,
    head: int | None = None,
    query: int | None = None,
    keys: Sequence[str] | None = None,
    entry: int | None = None,
    image: Any = None,
    sound: Any = None,
    patches: Any = None,
    most: int = MAX_BYTES,
) -> None:
    """Write the picture of `show` as one file of up to 10 MB, which opens without a network.

    most: bytes of it. It holds all heads at a glance, and the weights of that head to the last bit.
    Where these have no room it holds queries and keys, of which the browser makes them: of a head
    of up to 4,096 tokens without a bias, each of which sees those up to itself. Of others it holds
    the greatest of each block, and a sentence tells so. Further heads follow as long as
    they fit, those of the same layer first. Of a picture it holds the mean of the heads too; and
    where rows have no room those of every second patch down and across, or of fewer. layer, head,
    query, tokens, keys, entry, image, sound, patches: as `show` has them. Raises ValueError where
    there is no such head.
    """
    first, pictured = First(layer, head, query), Pictured(image, sound, patches)
    heads, chosen = heads_of(run, tokens, keys, entry, first, pictured)
    Path(path).write_text(page_of(heads, chosen, most), "utf-8")


def page_of(heads: HeadsOfRun, chosen: tuple[int, int, int], most: int = MAX_BYTES) -> str:
    """The text of such a file, of at most so many bytes."""
    layer, head, query = chosen
    given = heads.given()
    given["grid"] = b64encode(given["grid"]).decode()
    size, block = max(heads.size), 1
    while True:
        part = _part(heads, layer, query, block)
        kept: dict[str, str] = {}
        written = (
            given
            | part.given
            | {
                "chosen": {"layer": layer, "head": head, "query": part.query},
                "words": given["words"] + part.words,
                "weights": kept,
            }
        )
        room = most - len(_page(heads, written))
        if part.cells <= MOST_CELLS:
            packed = part.packed(layer, head)
            if len(packed) <= room or block >= size:
                break
        block *= 2
    others = [*heads.heads, *((of, MEAN) for of in heads.layers if heads.sight)]
    others.sort(key=lambda one: (one != (layer, head), one[0] != layer, one))
    for other in others:
        if kept:
            packed = part.packed(*other)
        room -= len(packed) + 40  # its name
        if kept and room < 0:
            break
        kept[f"{other[0]} {other[1]}"] = packed
    return _page(heads, written)


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the weights of each head that may have room in a file, and what it is told to be.

    given: to the browser; query: the chosen one in it; cells: numbers of a head; packed: those of a
    layer and a head.
    """

    given: dict[str, Any]
    query: int
    words: str
    cells: int
    packed: Callable[[int, int], str]


def _part(heads: HeadsOfRun, layer: int, query: int, block: int) -> Part:
    """The greatest weights of blocks, or what they are made of; of a picture the rows of some
    patches."""
    rows, columns = heads.size
    if heads.sight is not None:
        held = _rows_held(heads.sight.patches, rows, columns, query, block)
        words = (
            f" All rows have no room in a file of 10 MB, which holds {len(held):,} of {rows:,}: a "
            "click leads to the nearest of them."
        )
        return Part(
            {"held": held, "columns": columns},
            query,
            words if block > 1 else "",
            len(held) * columns,
            lambda layer, head: _packed(heads.weights(layer, head, held)),
        )
    down, across = -(-rows // block), -(-columns // block)
    texts = [_texts_of_blocks(side, block) for side in heads.run.sides]
    given = {"rows": down, "columns": across, "least": 1 / max(2, columns), "texts": texts}
    kept = heads.run.run.attention(layer)
    if block == 1 and MOST_CELLS < rows * columns <= MOST_MADE and _is_made(heads, kept):
        width = kept.queries.shape[-1]
        given["made"] = {"width": width, "scale": kept.scale}
        numbers = (rows + columns) * width
        return Part(given, query, "", numbers, lambda *of: _queries_and_keys(heads, *of))
    return Part(
        given,
        query // block,
        _words(block),
        down * across,
        lambda layer, head: _packed(_weights(heads, layer, head, block)),
    )


def _is_made(heads: HeadsOfRun, kept: Attention) -> bool:
    """True if weights are the softmax of scaled products alone, of keys up to the query."""
    mask, entry = kept.rules.mask, heads.entry
    alone = kept.rules.bias is None and not kept.cap and kept.sinks is None
    if not alone or mask is None or isinstance(kept, WithRows):
        return False
    if mask.cells is not None or mask.even is not None:
        return False
    rows = torch.arange(kept.shape[2], device=mask.first.device)
    ends = [mask.bounds(entry, at, rows) for at in range(len(kept.heads))]
    same = all(bool((first == 0).all() and (stop == rows + 1).all()) for first, stop in ends)
    return same and all(one.scale == kept.scale for one in heads.run.shown)


def _queries_and_keys(heads: HeadsOfRun, layer: int, head: int) -> str:
    """All queries of a head, and then all keys, float32."""
    kept = heads.run.run.attention(layer)
    at = kept.position(head)
    queries, keys = kept.queries[heads.entry, at], kept.keys[heads.entry, kept.groups[at]]
    return _packed(torch.cat([queries, keys]).float().cpu())


def _rows_held(grid: Patches, rows: int, columns: int, query: int, step: int) -> list[int]:
    """Every so many-th of the queries: of patches that ask, down and across."""
    patches = range(grid.first, grid.stop) if rows == columns else range(0)
    others = [at for at in range(rows) if at not in patches]
    some = [
        at
        for at in patches
        if all(one % step == 0 for one in divmod(at - grid.first, grid.columns))
    ]
    return sorted({query, *others[:: max(1, step // 4)], *some})


def _page(heads: HeadsOfRun, given: dict[str, Any]) -> str:
    model = heads.run.run.model
    title = f"Attention of {model}" if model else "Attention of a run"
    return file_of(title, given, bundle("notebook/kept.js"))


def _weights(heads: HeadsOfRun, layer: int, head: int, block: int) -> Tensor:
    """The weights of a head, or the greatest of each block of them. float32 (rows, columns)."""
    run, entry = heads.run.run, heads.entry
    if block == 1:
        weights = run.weights(layer, head, entry=entry)
    else:
        weights = run.blocks(layer, head, block, block, entry=entry)
    return weights.float().cpu()


def _packed(weights: Tensor) -> str:
    return b64encode(gzip.compress(weights.contiguous().numpy().tobytes(), 1, mtime=0)).decode()


def _texts_of_blocks(texts: Texts, block: int) -> list[str]:
    """A text for each block of tokens: the first and the last of them."""
    count = len(texts.tokens)
    if block == 1:
        return [texts.text(at) for at in range(count)]
    half = MOST_LETTERS // 2 - 1
    return [
        f" {texts.text(at).strip()[:half]}…{texts.text(min(at + block, count) - 1).strip()[:half]}"
        for at in range(0, count, block)
    ]


def _words(block: int) -> str:
    if block == 1:
        return ""
    return (
        f" All weights of a head have no room in a file of 10 MB: below, position n stands for the "
        f"{block} tokens from {block} · n on, and each weight is the greatest of "
        f"{block} × {block}."
    )
