const WIDTH_OF_LETTER = 0.5 // of its height, on average
const LINE = 1.3 // what it takes of its height to stand apart from the next one
const GAP = 4

/** The layout of a heatmap in so many pixels: as wide as high if it is to be square. Where labels
    along the top would touch they stand; of standing ones as many are written as have a line each.
    @import { HeatmapLayout, HeatmapAxis } from "../messages.js"
    @type {(layout: HeatmapLayout, width: number, square?: boolean) => HeatmapLayout} */
export function fitted(layout, width, square = false) {
  if (!width) return layout
  return thin(standing(square ? squared(layout, width) : layout, width), width)
}

/** How many pixels the cells have across and down.
    @type {(layout: HeatmapLayout, width: number) => [number, number]} */
function roomOf({ xaxis, margin, height }, width) {
  const [start, end] = xaxis.domain ?? [0, 1]
  return [(width - margin.l - margin.r) * (end - start), height - margin.t - margin.b]
}

/** As large as the layout has room for; what is over stays free at the right, or below.
    @type {(layout: HeatmapLayout, width: number) => HeatmapLayout} */
function squared(layout, width) {
  const { xaxis, margin, height } = layout
  const [start, end] = xaxis.domain ?? [0, 1]
  const [across, down] = roomOf(layout, width)
  const side = Math.max(1, Math.floor(Math.min(across, down)))
  const r = margin.r + (across - side) / (end - start)
  return { ...layout, height: height - down + side, margin: { ...margin, r } }
}

/** @type {(layout: HeatmapLayout, width: number) => HeatmapLayout} */
function thin(layout, width) {
  const [across, down] = roomOf(layout, width)
  const [xaxis, yaxis] = [thinned(layout.xaxis, across), thinned(layout.yaxis, down)]
  const all = xaxis === layout.xaxis && yaxis === layout.yaxis
  return all ? layout : { ...layout, xaxis, yaxis }
}

/** An axis of so many pixels with as many of its labels as have room for a line each.
    @type {(axis: HeatmapAxis, pixels: number) => HeatmapAxis} */
function thinned(axis, pixels) {
  const { tickvals, ticktext, tickfont, range } = axis
  const apart = (pixels * (tickvals[1] - tickvals[0])) / Math.abs(range[1] - range[0])
  const every = Math.ceil((tickfont.size * LINE) / apart)
  /** @type {<Item>(all: Item[]) => Item[]} */
  const kept = (all) => all.filter((_, at) => at % every === 0)
  return every > 1 ? { ...axis, tickvals: kept(tickvals), ticktext: kept(ticktext) } : axis
}

/** @type {(layout: HeatmapLayout, width: number) => HeatmapLayout} */
function standing(layout, width) {
  const { xaxis, margin, height } = layout
  const { ticktext, tickvals, tickfont, range } = xaxis
  if (xaxis.tickangle) return layout
  const [across] = roomOf(layout, width)
  const cell = across / (range[1] - range[0])
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
