import { palette, ramp } from "../shared/colours.js"
import { make, place, viewIn, whenThemed } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { countDrawing, paintNumbers } from "../shared/painter.js"

/** The header holds what `figures.heatmap_parts` makes for plotly.js: `data` and `layout`.
    @import { Given, Place } from "../shared/message.js"
    @typedef {{ x: string[], y: string[], zmin: number, zmax: number, xgap?: number,
      texttemplate?: string, autocolorscale?: boolean }} Heat
    @typedef {{ data: [Heat, ...object[]], layout: any, rows: number, columns: number,
      tokens: string[], keys: string[] | null, scale: number, stage: string, sent: string[],
      entropy: number[] | null, room: [number, number], masks: string[] }} Content
    @typedef {Record<string, Float32Array>} Stages
    @typedef {"whole" | "hatch" | "chart" | "entropy" | "legend" | "tip"} Part
    @typedef {Record<Part, HTMLElement> & { cells: HTMLCanvasElement, content: Content, width: number,
      numbers: Stages, masked: Uint8Array, shown: Float32Array, shades: [number, string][],
      background: string, figure: [object, any], ranges: string, frame: string, config: object,
      behind: boolean, caughtUp: Promise<void> }} View */

const PLOTLY = "component/attention.components.base.plotly_js/plotly.min.js"
const SVG = "http://www.w3.org/2000/svg"
const MOST_BARS = 32
/** @type {Promise<any> | null} */
let plotly = null

/** @type {(given: Given) => void} */
export default function ({ data, parentElement }) {
  const { numbers, rest, ...content } = decode(data, "heatmap", 1)
  const view = viewIn(parentElement, build)
  view.content = content
  view.numbers = stagesOf(content, numbers)
  view.masked = rest
  draw(view)
}

/** The numbers of each stage. Scaled scores come along only where something was added to them;
    else they are worked out, in 32-bit floats as in Python.
    @type {(content: Pick<Content, "rows" | "columns" | "sent" | "scale">,
      numbers: Float32Array) => Stages} */
export function stagesOf({ rows, columns, sent, scale }, numbers) {
  const cells = rows * columns
  const part = (/** @type {number} */ at) => numbers.subarray(at * cells, (at + 1) * cells)
  const stages = Object.fromEntries(sent.map((stage, at) => [stage, part(at)]))
  stages.scaled ??= stages.scores.map((score) => score * Math.fround(scale))
  return stages
}

function load() {
  plotly ??= new Promise((resolve, reject) => {
    const src = new URL(PLOTLY, document.baseURI).href
    const script = make("script", "", document.head, { src })
    script.onload = () => resolve(/** @type {any} */ (window).Plotly)
    script.onerror = () => reject(new Error("plotly.js could not be loaded"))
  })
  return plotly
}

/** @type {(parent: Place, view: View) => void} */
function build(parent, view) {
  view.whole = make("div", "attention-frame", parent)
  view.hatch = make("div", "attention-hatch", view.whole)
  view.cells = make("canvas", "attention-cells", view.whole, { ariaHidden: "true" })
  view.chart = make("div", "attention-heatmap", view.whole, { role: "img" })
  view.entropy = make("div", "attention-entropy", view.whole)
  view.legend = make("div", "attention-legend", view.whole, { ariaHidden: "true" })
  view.tip = make("div", "attention-tip", view.whole, { hidden: true })
  for (const pointing of ["pointermove", "pointerdown"])
    view.chart.addEventListener(pointing, () => catchUp(view), { capture: true })
  new ResizeObserver(async () => {
    const width = view.chart.clientWidth
    if (!view.frame || !width || view.width === width) return
    drawBeside(view)
    paint(view)
    await catchUp(view)
    const Plotly = await load()
    Plotly.Plots.resize(view.chart)
  }).observe(view.chart)
  whenThemed(parent, () => view.content && draw(view))
}

/** @type {(view: View) => void} */
function draw(view) {
  const { columns, rows, stage, data, layout } = view.content
  const [heat] = data
  const theme = themeOf(view.chart)
  view.background = theme.background
  view.shades = heat.autocolorscale ? theme.diverging : theme.sequential
  view.shown = view.numbers[stage].map((number, cell) => (view.masked[cell] ? Number.NaN : number))
  const z = Array.from({ length: rows }, (_, row) =>
    view.shown.subarray(row * columns, (row + 1) * columns),
  )
  const clear = "rgba(0,0,0,0)"
  const looks = {
    autosize: true,
    paper_bgcolor: clear,
    font: { family: theme.font, color: theme.text },
    modebar: { bgcolor: clear, color: theme.text, activecolor: theme.primary },
    dragmode: Math.max(rows, columns) > 32 ? "zoom" : false,
  }
  const colours = { colorscale: view.shades, autocolorscale: false }
  const cells = { ...heat, z, ...colours, hoverinfo: "none" }
  view.figure = [cells, { ...layout, ...looks }]
  const { xaxis, yaxis, height, margin, shapes } = layout
  view.ranges = rangesOf(layout)
  const frame = JSON.stringify([heat.x, heat.y, xaxis, yaxis, height, margin, shapes[0], theme])
  view.chart.ariaLabel = `Heatmap of the ${stage}: queries down, keys across.`
  view.chart.style.minHeight = `${height}px`
  view.behind = true
  drawBeside(view)
  paint(view)
  if (view.frame === frame && !isZoomed(view) && !heat.texttemplate) return
  view.frame = frame
  catchUp(view)
}

/** Has plotly.js draw what is not drawn here: labels, the outline, and cells to zoom into.
    @type {(view: View) => Promise<void>} */
function catchUp(view) {
  if (view.behind) view.caughtUp = load().then((Plotly) => react(view, Plotly))
  view.behind = false
  return view.caughtUp
}

/** @type {(view: View, Plotly: any) => Promise<void>} */
async function react(view, Plotly) {
  const first = !layoutOf(view)
  const [heat, layout] = view.figure
  const { xaxis2, ...rest } = { ...layout, shapes: layout.shapes.slice(0, 1) }
  view.config ??= configuration(view, Plotly)
  await Plotly.react(view.chart, [{ ...heat, showscale: false }], rest, view.config)
  follow(view)
  if (first) listen(view)
}

/** Made once for each view: for another configuration plotly.js would draw all anew.
    @type {(view: View, Plotly: any) => object} */
function configuration(view, Plotly) {
  const click = () => save(view, Plotly)
  const camera = { name: "save", title: "Save as SVG", icon: Plotly.Icons.camera, click }
  const removed = ["toImage", "sendChartToCloud", "select2d", "lasso2d", "autoScale2d"]
  const buttons = { modeBarButtonsToRemove: removed, modeBarButtonsToAdd: [camera] }
  return { displaylogo: false, showSendToCloud: false, ...buttons }
}

/** What plotly.js shows at the moment.
    @type {(view: View) => any} */
function layoutOf({ chart }) {
  return /** @type {any} */ (chart).layout
}

/** Zoomed cells are those of plotly.js, the whole is painted here, which is faster.
    @type {(view: View) => void} */
function follow(view) {
  view.whole.classList.toggle("zoomed", isZoomed(view))
}

/** @type {(view: View) => boolean} */
function isZoomed(view) {
  const layout = layoutOf(view)
  return Boolean(layout) && rangesOf(layout) !== view.ranges
}

/** @type {(layout: any) => string} */
function rangesOf({ xaxis, yaxis }) {
  return JSON.stringify([xaxis.range, yaxis.range])
}

/** The cells, a pixel or so apart where there are few.
    @type {(view: View) => void} */
function paint({ cells, content, shown, shades, background: ground }) {
  const { zmin, zmax, xgap: size = 0 } = content.data[0]
  const colours = ramp(shades.map(([, colour]) => colour))
  paintNumbers(cells, content.columns, shown, [zmin, zmax], colours, { size, ground })
  cells.dataset.rows = String(content.rows)
  countDrawing(cells)
}

/** The whole figure as a file: what stands beside the cells is drawn by plotly.js there.
    @type {(view: View, Plotly: any) => void} */
function save(view, Plotly) {
  const { data, stage } = view.content
  const [heat, layout] = view.figure
  const { xaxis, yaxis } = layoutOf(view)
  const x = { ...layout.xaxis, range: xaxis.range }
  const y = { ...layout.yaxis, range: yaxis.range }
  const figure = { data: [heat, ...data.slice(1)], layout: { ...layout, xaxis: x, yaxis: y } }
  const size = { width: view.chart.clientWidth, height: layout.height }
  Plotly.downloadImage(figure, { format: "svg", filename: `attention-${stage}`, ...size })
}

/** What needs no plotly.js: the hatching that shows through masked cells, the colours' legend, and
    the entropy.
    @type {(view: View) => void} */
function drawBeside(view) {
  const { layout, room, rows, data, entropy } = view.content
  const { zmin, zmax } = data[0]
  const { l, r, t, b } = layout.margin
  view.width = view.chart.clientWidth
  const [width, height] = [view.width - l - r, layout.height - t - b]
  const [start, end] = layout.xaxis.domain ?? [0, 1]
  const inside = { left: l + start * width, top: t, width: (end - start) * width, height }
  place(view.hatch, inside)
  place(view.cells, inside)
  view.hatch.hidden = layout.shapes.length < 2
  place(view.legend, { left: l + width + 4, top: t, width: r - 4, height })
  view.legend.style.setProperty("--shades", view.shades.map(([, colour]) => colour).join(","))
  const beyond = view.shown.some((number) => Math.abs(number) > zmax)
  const ends = legendOf(zmin, zmax, beyond)
  view.legend.replaceChildren(...ends.map((textContent) => make("span", "", null, { textContent })))
  const [left, right] = room.map((share) => l + share * width)
  place(view.entropy, { left, top: t, width: right - left, height: height + 22 })
  view.entropy.replaceChildren()
  if (!entropy) return
  if (rows > MOST_BARS) drawProfile(view, entropy, height)
  else drawBars(view, entropy, height)
  const title = make("div", "title", view.entropy, { textContent: "entropy, bits" })
  place(title, { top: height })
}

/** What stands beside the scale from top to bottom; whether some numbers lie beyond its ends.
    @type {(low: number, high: number, beyond: boolean) => string[]} */
export function legendOf(low, high, beyond) {
  /** @type {[number, string][]} */
  const ends = [
    [high, "≥ "],
    [(low + high) / 2, ""],
    [low, low ? "≤ " : ""],
  ]
  const short = (/** @type {number} */ number) => String(Number(number.toPrecision(2)))
  return ends.map(([number, sign]) => (beyond ? sign : "") + short(number).replace("-", "−"))
}

/** @type {(view: View, entropy: number[], height: number) => void} */
function drawBars({ entropy: element }, entropy, height) {
  const most = Math.max(...entropy, 1e-6)
  for (const [row, bits] of entropy.entries()) {
    const line = make("div", "", element)
    place(line, { top: ((row + 0.5) * height) / entropy.length })
    make("span", "", line).style.width = `calc((100% - 1.75rem) * ${bits / most})`
    line.append(bits.toFixed(2))
  }
}

/** The bars of many rows as one shape, which follows when the heatmap is zoomed.
    @type {(view: View, entropy: number[], height: number) => void} */
function drawProfile(view, entropy, height) {
  const picture = view.entropy.appendChild(document.createElementNS(SVG, "svg"))
  const [bottom, top] = layoutOf(view)?.yaxis.range ?? [entropy.length - 0.5, -0.5]
  const most = Math.max(...entropy, 1e-6)
  picture.setAttribute("viewBox", `0 ${top + 0.5} ${most * 1.4} ${bottom - top}`)
  picture.setAttribute("preserveAspectRatio", "none")
  picture.style.height = `${height}px`
  const steps = entropy.map((bits, row) => `H${bits}V${row + 1}`)
  const path = picture.appendChild(document.createElementNS(SVG, "path"))
  path.setAttribute("d", `M0,0${steps.join("")}H0Z`)
}

/** @type {(view: View) => void} */
function listen(view) {
  const { tip } = view
  const chart = /** @type {any} */ (view.chart)
  chart.on("plotly_hover", (/** @type {any} */ { points: [point], event }) => {
    const box = view.chart.getBoundingClientRect()
    const cell = point.pointIndex ?? point.pointNumber
    tip.textContent = point.data.type === "heatmap" ? words(view, cell) : ""
    tip.hidden = tip.textContent === ""
    const left = event.clientX - box.left
    const beyond = left > box.width / 2
    tip.style.left = beyond ? "" : `${left + 14}px`
    tip.style.right = beyond ? `${box.width - left + 14}px` : ""
    tip.style.top = `${event.clientY - box.top + 10}px`
  })
  chart.on("plotly_relayout", () => {
    follow(view)
    drawBeside(view)
  })
  chart.on("plotly_unhover", () => Object.assign(tip, { hidden: true }))
}

/** All that is to be said of a cell.
    @type {(view: Pick<View, "content" | "numbers" | "masked">, cell: [number, number]) => string} */
export function words({ content, numbers, masked }, [row, column]) {
  const { tokens, keys, columns, masks } = content
  const cell = row * columns + column
  const names = { scores: "score", scaled: "scaled", masked: "mixed", weights: "weight" }
  const told = Object.entries({ ...names, mixed: "mixed weight" }).filter(
    ([stage]) => numbers[stage],
  )
  const hiding = masks.filter((_, index) => masked[cell] & (1 << index))
  return [
    `query  ${tokens[row]} (${row})`,
    `key  ${(keys ?? tokens)[column]} (${column})`,
    ...told.map(([stage, name]) => `${name}  ${numbers[stage][cell].toFixed(4)}`),
    ...(hiding.length ? [`hidden by ${hiding.join(" and ")}`] : []),
  ].join("\n")
}

/** @type {(element: Element) => Record<"sequential" | "diverging", [number, string][]> &
      Record<"font" | "text" | "primary" | "background", string>} */
function themeOf(element) {
  const style = getComputedStyle(element)
  /** @type {(kind: string) => [number, string][]} */
  const scale = (kind) =>
    palette(element, kind).map((colour, index, all) => [index / (all.length - 1), colour])
  return {
    sequential: scale("sequential"),
    diverging: scale("diverging"),
    font: style.getPropertyValue("--st-font"),
    text: style.getPropertyValue("--st-text-color"),
    primary: style.getPropertyValue("--st-primary-color"),
    background: style.getPropertyValue("--st-background-color"),
  }
}
