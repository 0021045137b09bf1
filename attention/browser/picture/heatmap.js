import { chooseByClick, listenTo } from "../shared/choosing.js"
import { ramp } from "../shared/colours.js"
import * as elements from "../shared/elements.js"
import { paintMatrix } from "../shared/matrix.js"
import { countDrawing } from "../shared/painter.js"
import { load } from "../shared/plotly.js"
import { makeRadios, writeRadios } from "../shared/radios.js"
import { choose, where } from "../shared/selection.js"
import { fixed, shown } from "../shared/words.js"
import { fitted } from "./labels.js"
import { rowOf, stageOf } from "./sums.js"

/** @import { At, Content, Part } from "./index.js"
    @import { HeatmapLayout } from "../messages.js"
    @import { Chart, Plotly } from "../shared/plotly.js"
    @typedef {{ left: number, top: number, width: number, height: number }} Box
    @typedef {ReturnType<typeof build>} View */

const MOST_BARS = 32
// A constant: for another configuration plotly.js would draw all anew.
const CONFIGURATION = {
  ...{ displaylogo: false, showSendToCloud: false },
  modeBarButtonsToRemove: ["toImage", "sendChartToCloud", "select2d", "lasso2d", "autoScale2d"],
}
const LEAST_LINE = 11 // pixels for the number of a bar
const WHERE_MASKED = ["masked", "erased", "weights", "mixed"]
const { make, makeShape, setLengths } = elements

/** One stage as a heatmap: the cells and their numbers are drawn here, the words around them and
    zoom are plotly.js's.
    @type {(parent: HTMLElement, content: Content) => Part} */
export function buildHeatmap(parent, content) {
  const view = build(parent, content)
  for (const pointing of ["pointermove", "pointerdown"])
    view.chart.addEventListener(pointing, () => catchUp(view), { capture: true })
  listenTo(view.chart, (event) => (event.buttons ? null : cellAt(view, event)), "pointermove")
  chooseByClick(view.chart, (event) => cellAt(view, event)?.query ?? -1)
  return {
    draw: (content) => {
      view.content = content
      view.stage = null
    },
    show: (at) => {
      view.at = at
      if (view.stage !== at.stage) draw(view, at.stage)
      mark(view)
    },
  }
}

/** @param {HTMLElement} parent
    @param {Content} content */
function build(parent, content) {
  const ariaLabel = "Stage of the computation"
  const menu = makeRadios(parent, "stages", ariaLabel, (stage) => choose("stage", stage))
  const whole = make("div", "attention-frame", parent)
  const mute = { ariaHidden: "true" }
  /** @type {(name: string, more?: object) => HTMLElement} */
  const layer = (name, more) => make("div", `attention-${name}`, whole, more)
  const view = {
    ...{ content, menu, whole, hatch: layer("hatch") },
    cells: make("canvas", "attention-cells", whole, mute),
    written: layer("written", mute),
    chart: layer("heatmap", { role: "group" }),
    ...{ column: layer("column", mute), row: layer("row", mute), outline: layer("outline", mute) },
    ...{ entropy: layer("entropy"), legend: layer("legend", mute) },
    ...{ tip: layer("tip", { hidden: true }), caption: make("p", "caption", parent) },
    at: where(content.rows),
    stage: /** @type {string | null} */ (null),
    shown: /** @type {Float32Array} */ (new Float32Array()),
    shades: /** @type {string[]} */ ([]),
    figure: { data: {}, layout: {} },
    ...{ asked: "", frame: "", layout: content.layout, width: 0, behind: false },
    box: { left: 0, top: 0, width: 0, height: 0 },
    caughtUp: Promise.resolve(),
  }
  new ResizeObserver(() => {
    const width = view.chart.clientWidth
    if (!view.frame || !width || view.width === width) return
    view.width = width
    if (sizeOf(layoutFor(view)) !== sizeOf(view.layout)) return draw(view, view.stage ?? "")
    drawBeside(view)
    paint(view)
    mark(view)
    catchUp(view).then(async () => (await load()).Plots.resize(view.chart))
  }).observe(view.chart)
  return view
}

/** Cells are square where a sentence attends to itself and no numbers are to be read in them.
    @type {(view: View) => HeatmapLayout} */
function layoutFor({ content: { layout, rows, columns, heat }, width }) {
  return fitted(layout, width, rows === columns && !heat.texttemplate)
}

/** @type {(layout: HeatmapLayout) => string} */
function sizeOf({ height, margin }) {
  return JSON.stringify([height, margin])
}

/** @type {(view: View, stage: string) => void} */
function draw(view, stage) {
  const { content, chart, caption } = view
  const { columns, rows, heat, stages, hidden, theme } = content
  view.width ||= chart.clientWidth
  view.layout = layoutFor(view)
  const { layout } = view
  const { zmin, zmax, diverging, words } = stages[stage]
  const masks = WHERE_MASKED.includes(stage)
  const numbers = stageOf(content, stage)
  view.stage = stage
  view.shades = theme[diverging ? "diverging" : "sequential"]
  view.shown = masks ? unhidden(numbers, hidden) : numbers
  view.hatch.hidden = view.shown === numbers
  const z = Array.from({ length: rows }, (_, row) => rowOf(view.shown, columns, row))
  const clear = "rgba(0,0,0,0)"
  const modebar = { bgcolor: clear, color: theme.font.color, activecolor: theme.primary }
  const dragmode = Math.max(rows, columns) > 32 ? "zoom" : false
  const looks = { autosize: true, paper_bgcolor: clear, font: theme.font, modebar, dragmode }
  const colorscale = view.shades.map((colour, index, all) => [index / (all.length - 1), colour])
  const colours = { zmin, zmax, colorscale, autocolorscale: false, hoverinfo: "none" }
  view.figure = {
    data: { ...heat, z, ...colours, texttemplate: "", showscale: false },
    layout: { ...layout, ...looks },
  }
  view.asked = rangesOf(layout)
  const of = stage === "weights" ? `${content.called}s` : stage
  chart.ariaLabel = `Heatmap of the ${of}: queries down, keys across.`
  chart.style.minHeight = `${layout.height}px`
  const { before, after } = content.caption
  caption.textContent = [before, words, after].filter(Boolean).join(" ")
  const names = Object.keys(stages)
  view.menu.hidden = names.length < 2
  writeRadios(
    view.menu,
    names.map((name) => [name, name]),
    stage,
  )
  view.behind = true
  drawBeside(view)
  paint(view)
  const frame = JSON.stringify([heat.x, heat.y, layout, theme])
  if (view.frame === frame && !isZoomed(view)) return
  view.frame = frame
  catchUp(view)
}

/** The numbers, with those that are hidden as none; themselves where nothing is. In loops: of many
    cells each call would be felt.
    @type {(numbers: Float32Array, hidden: Uint8Array) => Float32Array} */
function unhidden(numbers, hidden) {
  let seen = numbers
  for (let cell = 0; cell < hidden.length; cell++) {
    if (!hidden[cell]) continue
    if (seen === numbers) seen = numbers.slice()
    seen[cell] = Number.NaN
  }
  return seen
}

/** @type {(numbers: Float32Array, most: number) => boolean} */
function goesBeyond(numbers, most) {
  for (let cell = 0; cell < numbers.length; cell++) if (Math.abs(numbers[cell]) > most) return true
  return false
}

/** Has plotly.js draw what is not drawn here: labels, and cells to zoom into.
    @type {(view: View) => Promise<void>} */
function catchUp(view) {
  if (view.behind) view.caughtUp = load().then((Plotly) => react(view, Plotly))
  view.behind = false
  return view.caughtUp
}

/** @type {(view: View, Plotly: Plotly) => Promise<void>} */
async function react(view, Plotly) {
  const chart = /** @type {Chart} */ (view.chart)
  const first = !chart.layout
  const { data, layout } = view.figure
  await Plotly.react(chart, [data], { ...layout }, CONFIGURATION)
  follow(view)
  if (first) chart.on("plotly_relayout", () => follow(view))
}

/** Zoomed cells are those of plotly.js, the whole is painted here, which is faster.
    @type {(view: View) => void} */
function follow(view) {
  view.whole.classList.toggle("zoomed", isZoomed(view))
  drawBeside(view)
  mark(view)
}

/** What plotly.js shows, which is not what it was asked to once one has zoomed.
    @type {(view: View) => HeatmapLayout} */
function layoutOf({ chart, layout }) {
  return /** @type {Chart} */ (chart).layout ?? layout
}

/** @type {(view: View) => boolean} */
function isZoomed(view) {
  return rangesOf(layoutOf(view)) !== view.asked
}

/** @type {(layout: HeatmapLayout) => string} */
function rangesOf({ xaxis, yaxis }) {
  return JSON.stringify([xaxis.range, yaxis.range])
}

/** The cells, a pixel or so apart where there are few, which are not zoomed into and hold their
    numbers.
    @type {(view: View) => void} */
function paint(view) {
  const { cells, written, content, stage, shown, shades, box } = view
  const { heat, columns, rows, stages, theme } = content
  const { zmin, zmax } = stages[stage ?? ""]
  const { width, height } = box
  const gaps = { size: heat.xgap ?? 0, ground: theme.background, width, height }
  const told = (/** @type {number} */ number) => (Number.isNaN(number) ? "" : fixed(number, 2))
  const texts = heat.texttemplate ? Array.from(shown, told) : []
  const matrix = { rows, columns, cell: width / columns, canvas: cells, written }
  paintMatrix(matrix, shown, [zmin, zmax], ramp(shades), texts, gaps)
  cells.dataset.rows = String(rows)
  countDrawing(cells)
}

/** What needs no plotly.js: the hatching that shows through masked cells, the colours' legend, and
    the entropy.
    @type {(view: View) => void} */
function drawBeside(view) {
  const { layout } = view
  const { room, rows, stages } = view.content
  const { l, r, t: top, b } = layout.margin
  const { zmin, zmax } = stages[view.stage ?? ""]
  const [width, height] = [view.width - l - r, layout.height - top - b]
  /** @type {(shares: number[]) => Box} */
  const between = ([start, end]) => {
    return { left: l + start * width, top, width: (end - start) * width, height }
  }
  view.box = between(layout.xaxis.domain ?? [0, 1])
  for (const element of [view.hatch, view.cells, view.written]) setLengths(element, view.box)
  setLengths(view.legend, { left: l + width + 4, top, width: r - 4, height })
  view.legend.style.setProperty("--shades", view.shades.join(","))
  const ends = legendOf(zmin, zmax, goesBeyond(view.shown, zmax))
  view.legend.replaceChildren(make("i", ""))
  for (const textContent of ends) make("span", "", view.legend, { textContent })
  setLengths(view.entropy, { ...between(room), height: height + 22 })
  view.entropy.replaceChildren()
  if (view.stage !== "weights" || !view.content.entropy.length) return
  if (rows > MOST_BARS || height < rows * LEAST_LINE) drawProfile(view, height)
  else drawBars(view, height)
  setLengths(make("div", "title", view.entropy, { textContent: view.content.beside }), {
    top: height,
  })
}

/** What stands beside the scale from top to bottom; whether some numbers lie beyond its ends.
    @type {(low: number, high: number, beyond: boolean) => string[]} */
export function legendOf(low, high, beyond) {
  const short = (/** @type {number} */ number) => shown(String(Number(number.toPrecision(2))))
  const [above, below] = beyond ? ["≥ ", low ? "≤ " : ""] : ["", ""]
  return [above + short(high), short((low + high) / 2), below + short(low)]
}

/** @type {(view: View, height: number) => void} */
function drawBars({ entropy: element, content: { entropy } }, height) {
  const most = Math.max(...entropy.map((number) => Math.abs(Number(number))), 1e-6)
  for (const [row, bits] of entropy.entries()) {
    const line = make("div", "", element)
    setLengths(line, { top: ((row + 0.5) * height) / entropy.length })
    const size = Math.abs(Number(bits)) / most
    make("span", "", line).style.width = `calc((100% - 2.25rem) * ${size})`
    line.append(bits === null ? "—" : fixed(bits, 2))
  }
}

/** The bars of many rows as one shape, which follows when the heatmap is zoomed.
    @type {(view: View, height: number) => void} */
function drawProfile(view, height) {
  const { entropy } = view.content
  const [bottom, top] = layoutOf(view).yaxis.range
  const sizes = entropy.map((number) => Math.abs(Number(number)))
  const most = 1.4 * Math.max(...sizes, 1e-6)
  const viewBox = `0 ${top + 0.5} ${most} ${bottom - top}`
  const picture = makeShape("svg", { viewBox, preserveAspectRatio: "none" }, view.entropy)
  picture.style.height = `${height}px`
  const steps = sizes.map((size, row) => `H${size}V${row + 1}`)
  makeShape("path", { d: `M0,0${steps.join("")}H0Z` }, picture)
}

/** The chosen row framed, the row and the column that are pointed at lit, and what stands there
    told.
    @type {(view: View) => void} */
function mark(view) {
  const { at, box, tip } = view
  const { query, held, cell } = at
  const key = at.key ?? 0
  const { left, across, top, down } = gridOf(view)
  /** @type {(row: number) => Box} */
  const row = (row) => ({ ...box, top: top + row * down, height: down })
  const column = { ...box, left: left + key * across, width: across }
  view.row.hidden = query === held && !cell
  view.column.hidden = at.key === null
  setLengths(view.outline, within(row(held), box))
  setLengths(view.row, within(row(query), box))
  setLengths(view.column, within(column, box))
  tip.hidden = !cell
  if (!cell) return
  tip.textContent = words(view.content, query, key)
  const right = column.left > box.left + box.width / 2
  tip.style.left = right ? "" : `${column.left + across + 8}px`
  tip.style.right = right ? `${view.width - column.left + 8}px` : ""
  setLengths(tip, { top: row(query).top + down + 6 })
}

/** Where the first cell lies, and how large each is, as far as one has zoomed.
    @type {(view: View) => Record<"left" | "across" | "top" | "down", number>} */
function gridOf(view) {
  const { xaxis, yaxis } = layoutOf(view)
  const [[first, end], [bottom, start]] = [xaxis.range, yaxis.range]
  const { left, top, width, height } = view.box
  const [across, down] = [width / (end - first), height / (bottom - start)]
  return { left: left - (first + 0.5) * across, across, top: top - (start + 0.5) * down, down }
}

/** What of a box lies within another one.
    @type {(inner: Box, outer: Box) => Box} */
export function within(inner, { left, top, width, height }) {
  const [x0, y0] = [Math.max(left, inner.left), Math.max(top, inner.top)]
  const x1 = Math.min(left + width, inner.left + inner.width)
  const y1 = Math.min(top + height, inner.top + inner.height)
  return { left: x0, top: y0, width: Math.max(0, x1 - x0), height: Math.max(0, y1 - y0) }
}

/** The cell under the pointer, if any.
    @type {(view: View, event: MouseEvent) => { query: number, key: number } | null} */
function cellAt(view, { clientX, clientY }) {
  const { rows, columns } = view.content
  const frame = view.chart.getBoundingClientRect()
  const [x, y] = [clientX - frame.left, clientY - frame.top]
  const { left, across, top, down } = gridOf(view)
  const [query, key] = [Math.floor((y - top) / down), Math.floor((x - left) / across)]
  const inside = x >= view.box.left && x <= view.box.left + view.box.width
  return inside && query >= 0 && query < rows && key >= 0 && key < columns ? { query, key } : null
}

/** All that is to be said of a cell.
    @type {(content: Pick<Content, "tokens" | "keys" | "columns" | "masks" | "hidden" | "numbers" |
      "scale" | "stages" | "called" | "logits">, query: number, key: number) => string} */
export function words(content, query, key) {
  const { tokens, keys, columns, masks, hidden, numbers, stages, called, logits } = content
  const cell = query * columns + key
  const names = {
    ...{ scores: "score", scaled: "scaled", masked: logits },
    ...{ erased: "erased", weights: called },
  }
  const told = Object.entries({ ...names, mixed: "mixed weight" }).filter(
    ([stage]) => stages[stage] && (numbers[stage] || (stage === "scaled" && numbers.scores)),
  )
  const hiding = masks.filter((_, bit) => hidden[cell] & (1 << bit))
  return [
    `query  ${tokens[query]} (${query})`,
    `key  ${keys[key]} (${key})`,
    ...told.map(([stage, name]) => `${name}  ${fixed(stageOf(content, stage)[cell], 4)}`),
    ...(hiding.length ? [`hidden by ${hiding.join(" and ")}`] : []),
  ].join("\n")
}
