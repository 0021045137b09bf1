const WIDTH_OF_LETTER = 0.5 // of its height, on average
const GAP = 4
const SIZES = [12, 11] // of numbers in cells; smaller ones could not be read

/** The layout of a heatmap in so many pixels: where labels along the top would touch they stand.
    @import { HeatmapLayout } from "../messages.js"
    @type {(layout: HeatmapLayout, width: number) => HeatmapLayout} */
export function fitted(layout, width) {
  const { xaxis, margin, height } = layout
  const { ticktext, tickvals, tickfont, range } = xaxis
  if (xaxis.tickangle || !width) return layout
  const [start, end] = xaxis.domain ?? [0, 1]
  const cell = ((width - margin.l - margin.r) * (end - start)) / (range[1] - range[0])
  const lengths = ticktext.map((text) => [...text].length * tickfont.size)
  const touch = lengths.some((length, at) => {
    const apart = cell * (tickvals[at + 1] - tickvals[at])
    return ((length + lengths[at + 1]) / 2) * WIDTH_OF_LETTER + GAP > apart
  })
  if (!touch) return layout
  const t = 14 + Math.round(0.6 * Math.max(...lengths))
  return {
    ...layout,
    height: height + t - margin.t,
    margin: { ...margin, t },
    xaxis: { ...xaxis, tickangle: -90 },
  }
}

/** The size at which all texts have room in cells of so many pixels, 0 where they have none.
    @type {(texts: string[], cell: number) => number} */
export function letterSize(texts, cell) {
  const longest = Math.max(...texts.map((text) => text.length))
  return SIZES.find((size) => longest * size * WIDTH_OF_LETTER + GAP <= cell) ?? 0
}
