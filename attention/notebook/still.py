"""A head of a run as a still picture: HTML without a script, as exported notebooks keep it."""

from __future__ import annotations

import html
from base64 import b64encode
from dataclasses import dataclass

from torch import Tensor

from attention.figures import plotly_templates
from attention.figures.head_map import shades
from attention.figures.image_patches import Sight, coloured, png
from attention.notebook.heads import MEAN, QUICK_CELLS, HeadsOfRun

CELLS = 512  # along a map
FAINTEST = 1 / 512  # of the greatest weight: less is not seen
MOST_TOLD = 3
FIGURE = '<figure style="margin: 0"><img alt="{alt}" src="{source}" style="{style}">\
<figcaption>{words}</figcaption></figure>'
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns} {height}" width="512" \
height="{high}" preserveAspectRatio="none"><image href="{source}" width="{columns}" \
height="{over}" preserveAspectRatio="none" style="filter: {filter}"/>\
<g fill="{blue}">{patches}</g></svg>"""
GREY = "grayscale(1) contrast(.5) brightness(1.45)"


@dataclass(frozen=True, eq=False)
class Still:
    """A head, or the mean of those of a layer, and the query that is chosen, as they stand now."""

    heads: HeadsOfRun
    layer: int
    head: int
    query: int

    def _repr_html_(self) -> str:
        """The picture; of runs so long that it would take a while, a sentence."""
        rows, columns = self.heads.size
        title = (
            f"Layer {self.layer}, {f'head {self.head}' if self.head != MEAN else 'mean of heads'}"
        )
        if self.heads.sight is not None:
            return self._picture(self.heads.sight, title)
        if rows * columns > QUICK_CELLS:
            return f"<p>{title} of {rows:,} tokens: save_html writes its map as a file.</p>"
        block = -(-max(rows, columns) // CELLS)
        run, entry = self.heads.run.run, self.heads.entry
        greatest = run.blocks(self.layer, self.head, block, block, entry=entry).abs().float().cpu()
        of = "" if run.attention(self.layer).weights_are_a_distribution else "the size of "
        source = _address("image/png", png(coloured(shades(greatest, 1 / max(2, columns)))))
        dot = f"{of}a weight" if block == 1 else f"{of}the greatest of {block} × {block} weights"
        words = (
            f"{title}: {rows:,} queries down, {columns:,} keys across. Each square is {dot}, by "
            "ratio: white is none, the darkest blue all."
        )
        style = "width: 32rem; max-width: 100%; image-rendering: pixelated"
        return FIGURE.format(alt=html.escape(words), source=source, style=style, words=words)

    def _picture(self, sight: Sight, title: str) -> str:
        row = self.heads.weights(self.layer, self.head, self.query)[0]
        grid = sight.patches
        own = row[grid.first : grid.stop]
        best, at = own.topk(min(MOST_TOLD, len(own)))
        told = ", then ".join(
            f"{sight.name(grid.first + place)} ({weight:.4f})"
            for weight, place in zip(best.tolist(), at.tolist(), strict=True)
            if weight > 0
        )
        asks = self.heads.run.sides[0].text(self.query).strip()
        words = html.escape(
            f"{title}. Blue shows how much “{asks}” ({self.query}) looks at each "
            f"{'stretch of the sound' if sight.is_sound else 'patch'}: most at {told or 'none'}."
        )
        drawing = _address("image/svg+xml", _drawing(sight, own).encode())
        style = "max-width: 100%"
        return FIGURE.format(alt=words, source=drawing, style=style, words=words)


def _drawing(sight: Sight, weights: Tensor) -> str:
    """A picture with its patches in blue, the greatest outlined; of a sound they stand below it."""
    grid, greatest = sight.patches, float(weights.max()) or 1.0
    begin, height = (4.0, 5.0) if sight.is_sound else (0.0, float(grid.rows))
    cells = []
    for at, weight in enumerate(weights.tolist()):
        row, column = divmod(at, grid.columns)
        share = weight / greatest
        if share > FAINTEST:
            size = f'x="{column}" y="{row + begin:g}" width="1" height="1"'
            cells.append(f'<rect {size} fill-opacity="{0.75 * share:.3f}"/>')
            if share == 1:
                outline = 'fill="none" stroke="#d97706" stroke-width="3"'
                cells.append(f'<rect {size} {outline} vector-effect="non-scaling-stroke"/>')
    pixels = sight.pixels.shape
    return SVG.format(
        columns=grid.columns,
        height=f"{height:g}",
        high=200 if sight.is_sound else round(512 * pixels[0] / pixels[1]),
        over=f"{begin or height:g}",
        source=sight.source,
        filter="none" if sight.is_sound else GREY,
        blue=plotly_templates.SEQUENTIAL[-2],
        patches="".join(cells),
    )


def _address(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{b64encode(content).decode()}"
