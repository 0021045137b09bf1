"""A run as one file of HTML: the picture of the widget, which needs no network and no Python."""

from __future__ import annotations

import gzip
import html
import json
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from attention.capture import Recording
from attention.display.returned import Layer
from attention.display.street_map import MOST_LETTERS, Texts
from attention.notebook.bundle import bundle
from attention.notebook.heads import HeadsOfRun, heads_of

MAX_BYTES = 10_000_000  # of a file
MOST_CELLS = 1 << 22  # of a head: more have no room in it
POLICY = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'"
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>:root {{ color-scheme: light dark; }} body {{ margin: 1rem; }}</style>
</head>
<body>
<div id="run"></div>
<script type="application/json" id="given">{given}</script>
<script type="module">
{modules}
entry.default()
</script>
</body>
</html>
"""


def save_html(
    run: Recording,
    path: str | Path,
    tokens: Sequence[str] | None = None,
    *,
    layer: Layer | str = None,
    head: int | None = None,
    query: int = 0,
    keys: Sequence[str] | None = None,
    entry: int | None = None,
) -> None:
    """Write the picture of `show` as one file of up to 10 MB, which opens without a network.

    It holds all heads at a glance, and the weights of that head to the last bit; where these have
    no room, the greatest of each block, and a sentence tells so. Further heads follow as long as
    they fit, those of the same layer first. layer, head, query, tokens, keys, entry: as `show` has
    them. Raises ValueError where there is no such head.
    """
    heads, chosen = heads_of(run, tokens, keys, entry, (layer, head, query))
    Path(path).write_text(page_of(heads, chosen), "utf-8")


def page_of(heads: HeadsOfRun, chosen: tuple[int, int, int], most: int = MAX_BYTES) -> str:
    """The text of such a file, of at most so many bytes."""
    layer, head, query = chosen
    given = heads.given()
    given["grid"] = b64encode(given["grid"]).decode()
    size, block = max(heads.size), 1
    while True:
        texts = [_texts_of_blocks(side, block) for side in heads.texts]
        rows, columns = (-(-count // block) for count in heads.size)
        kept: dict[str, str] = {}
        written = given | {
            "chosen": {"layer": layer, "head": head, "query": query // block},
            "rows": rows,
            "columns": columns,
            "least": 1 / max(2, heads.size[1]),
            "texts": texts,
            "words": given["words"] + _words(block),
            "weights": kept,
        }
        room = most - len(_page(heads, written))
        if rows * columns <= MOST_CELLS:
            packed = _packed(_weights(heads, layer, head, block))
            if len(packed) <= room or block >= size:
                break
        block *= 2
    others = sorted(heads.heads, key=lambda one: (one[0] != layer, one))
    for other in [(layer, head), *(one for one in others if one != (layer, head))]:
        if kept:
            packed = _packed(_weights(heads, *other, block))
        room -= len(packed) + 40  # its name
        if kept and room < 0:
            break
        kept[f"{other[0]} {other[1]}"] = packed
    return _page(heads, written)


def _page(heads: HeadsOfRun, given: dict[str, Any]) -> str:
    model = heads.run.run.model
    return PAGE.format(
        policy=POLICY,
        title=html.escape(f"Attention of {model}" if model else "Attention of a run"),
        given=json.dumps(given).replace("<", "\\u003c"),  # else a token might end the script
        modules=bundle("notebook/kept.js"),
    )


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
