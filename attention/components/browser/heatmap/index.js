import { palette, ramp } from "../shared/colours.js"
import { make, viewIn, whenThemed } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { countDrawing, paintNumbers } from "../shared/painter.js"

const PLOTLY = "component/attention.components.base.plotly_js/plotly.min.js"
const SVG = "http://www.w3.org/2000/svg"
const MOST_BARS = 32
let plotly = null

export default function ({ data, parentElement }) {
  const view = viewIn(parentElement, build)
  const { numbers, rest, ...content } = decode(data)
  const cells = content.rows * content.columns
  view.content = content
  view.numbers = Object.fromEntries(content.sent.map((stage, index) => [stage, numbers.subarray(index * cells, (index + 1) * cells)]))
  view.masked = rest
  draw(view)
}

function load() {
  plotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script")
    script.src = new URL(PLOTLY, document.baseURI).href
    script.onload = () => resolve(window.Plotly)
    script.onerror = () => reject(new Error("plotly.js could not be loaded"))
    document.head.appendChild(script)
  })
  return plotly
}

function build(parent) {
  const whole = make("div", "attention-frame", parent)
  const [hatch, cells, chart, entropy, legend, tip] = ["hatch", "cells", "heatmap", "entropy", "legend", "tip"].map((name) => make(name === "cells" ? "canvas" : "div", `attention-${name}`, whole))
  const view = { whole, hatch, cells, chart, entropy, legend, tip, content: null, frame: null }
  view.cells.setAttribute("aria-hidden", "true")
  view.chart.setAttribute("role", "img")
  view.tip.hidden = true
  view.width = 0
  view.legend.setAttribute("aria-hidden", "true")
  for (const pointing of ["pointermove", "pointerdown"]) view.chart.addEventListener(pointing, () => catchUp(view), { capture: true })
  new ResizeObserver(() => {
    const width = view.chart.clientWidth
    if (!view.frame || !width || view.width === width) return
    besides(view)
    paint(view)
    catchUp(view).then(() => window.Plotly.Plots.resize(view.chart))
  }).observe(view.chart)
  whenThemed(parent, () => view.content && draw(view))
  return view
}

function draw(view) {
  const { columns, rows, stage, data: [heat], layout } = view.content
  const theme = colours(view.chart)
  view.background = theme.background
  view.shades = heat.autocolorscale ? theme.diverging : theme.sequential
  view.shown = numbersOf(view, stage).map((number, cell) => (view.masked[cell] ? NaN : number))
  const z = Array.from({ length: rows }, (_, row) => view.shown.subarray(row * columns, (row + 1) * columns))
  const looks = { autosize: true, paper_bgcolor: "rgba(0,0,0,0)", font: { family: theme.font, color: theme.text }, modebar: { bgcolor: "rgba(0,0,0,0)", color: theme.text, activecolor: theme.primary }, dragmode: Math.max(rows, columns) > 32 ? "zoom" : false }
  view.figure = [{ ...heat, z, colorscale: view.shades, autocolorscale: false, hoverinfo: "none" }, { ...layout, ...looks }]
  const { xaxis, yaxis, height, margin, shapes } = layout
  view.ranges = ranges(layout)
  const frame = JSON.stringify([heat.x, heat.y, xaxis, yaxis, height, margin, shapes[0], theme])
  view.chart.setAttribute("aria-label", `Heatmap of the ${stage}: queries down, keys across.`)
  view.chart.style.minHeight = `${height}px`
  view.behind = true
  besides(view)
  paint(view)
  if (view.frame === frame && !zoomed(view) && !heat.texttemplate) return
  view.frame = frame
  catchUp(view)
}

/* Has plotly.js draw what `besides` and `paint` do not: labels, the outline, and cells to zoom into. */
function catchUp(view) {
  if (view.behind) view.caughtUp = load().then((Plotly) => react(view, Plotly))
  view.behind = false
  return view.caughtUp
}

async function react(view, Plotly) {
  const first = !view.chart.layout
  const [heat, layout] = view.figure
  const { xaxis2, shapes: [outline], ...rest } = layout
  view.config ??= configuration(view, Plotly)
  await Plotly.react(view.chart, [{ ...heat, showscale: false }], { ...rest, shapes: [outline] }, view.config)
  follow(view)
  if (first) listen(view)
}

/* Made once for each view: for another configuration plotly.js would draw all anew. */
function configuration(view, Plotly) {
  const camera = { name: "save", title: "Save as SVG", icon: Plotly.Icons.camera, click: () => save(view) }
  return {
    displaylogo: false,
    showSendToCloud: false,
    modeBarButtonsToRemove: ["toImage", "sendChartToCloud", "select2d", "lasso2d", "autoScale2d"],
    modeBarButtonsToAdd: [camera],
  }
}

/* Zoomed cells are those of plotly.js, the whole is painted here, which is faster. */
function follow(view) {
  view.whole.classList.toggle("zoomed", zoomed(view))
}

function zoomed({ chart, ranges: asked }) {
  return Boolean(chart.layout) && ranges(chart.layout) !== asked
}

function ranges({ xaxis, yaxis }) {
  return JSON.stringify([xaxis.range, yaxis.range])
}

/* The cells, a pixel or so apart where there are few. */
function paint({ cells, content, shown, shades, background }) {
  const { data: [{ zmin, zmax, xgap }], columns, rows } = content
  paintNumbers(cells, columns, shown, [zmin, zmax], ramp(shades.map(([, colour]) => colour)))
  if (xgap) apart(cells, columns, rows, xgap, background)
  cells.dataset.rows = rows
  countDrawing(cells)
}

/* Gaps beside cells are closed below, so that the hatching of masked ones does not show through. */
function apart(cells, columns, rows, gap, background) {
  const small = Object.assign(make("canvas", ""), { width: columns, height: rows })
  const ground = small.getContext("2d")
  ground.drawImage(cells, 0, 0)
  const [width, height] = [cells.clientWidth, cells.clientHeight]
  Object.assign(cells, { width, height })
  const context = cells.getContext("2d")
  context.imageSmoothingEnabled = false
  context.drawImage(small, 0, 0, width, height)
  for (let column = 1; column < columns; column++) context.clearRect(Math.round((column * width) / columns) - gap, 0, gap, height)
  for (let row = 1; row < rows; row++) context.clearRect(0, Math.round((row * height) / rows) - gap, width, gap)
  Object.assign(ground, { globalCompositeOperation: "source-in", fillStyle: background })
  ground.fillRect(0, 0, columns, rows)
  context.globalCompositeOperation = "destination-over"
  context.drawImage(small, 0, 0, width, height)
}

/* The whole figure as a file: what stands beside the cells is drawn by plotly.js there. */
function save({ chart, content, figure: [heat, layout] }) {
  const zoomed = (axis) => ({ ...layout[axis], range: chart.layout[axis].range })
  const figure = { data: [heat, ...content.data.slice(1)], layout: { ...layout, xaxis: zoomed("xaxis"), yaxis: zoomed("yaxis") } }
  window.Plotly.downloadImage(figure, { format: "svg", filename: `attention-${content.stage}`, width: chart.clientWidth, height: layout.height })
}

/* What needs no plotly.js: the hatching that shows through masked cells, the colours' legend, and the entropy. */
function besides(view) {
  const { layout, room, rows, data: [{ zmin, zmax }] } = view.content
  const { l, r, t, b } = layout.margin
  view.width = view.chart.clientWidth
  const [width, height] = [view.width - l - r, layout.height - t - b]
  const [start, end] = layout.xaxis.domain ?? [0, 1]
  for (const element of [view.hatch, view.cells]) place(element, l + start * width, t, (end - start) * width, height)
  view.hatch.hidden = layout.shapes.length < 2
  place(view.legend, l + width + 4, t, r - 4, height)
  view.legend.style.setProperty("--shades", view.shades.map(([, colour]) => colour).join(","))
  const beyond = view.shown.some((number) => Math.abs(number) > zmax)
  const ends = [[zmax, "≥ "], [(zmin + zmax) / 2, ""], [zmin, zmin ? "≤ " : ""]]
  view.legend.replaceChildren(...ends.map(([number, sign]) => Object.assign(make("span", ""), { textContent: (beyond ? sign : "") + String(Number(number.toPrecision(2))).replace("-", "−") })))
  place(view.entropy, l + room[0] * width, t, (room[1] - room[0]) * width, height + 22)
  view.entropy.replaceChildren()
  if (view.content.entropy) (rows > MOST_BARS ? profile : bars)(view, height)
}

function bars({ content: { entropy, rows }, entropy: element }, height) {
  const most = Math.max(...entropy, 1e-6)
  for (const [row, bits] of entropy.entries()) {
    const line = make("div", "", element)
    line.style.top = `${((row + 0.5) * height) / rows}px`
    make("span", "", line).style.width = `calc((100% - 1.75rem) * ${bits / most})`
    line.append(bits.toFixed(2))
  }
  title(element, height)
}

/* The bars of many rows as one shape, which follows when the heatmap is zoomed. */
function profile({ chart, content: { entropy, rows }, entropy: element }, height) {
  const picture = element.appendChild(document.createElementNS(SVG, "svg"))
  const [bottom, top] = chart.layout?.yaxis.range ?? [rows - 0.5, -0.5]
  picture.setAttribute("viewBox", `0 ${top + 0.5} ${Math.max(...entropy, 1e-6) * 1.4} ${bottom - top}`)
  picture.setAttribute("preserveAspectRatio", "none")
  picture.style.height = `${height}px`
  const steps = entropy.map((bits, row) => `H${bits}V${row + 1}`)
  picture.appendChild(document.createElementNS(SVG, "path")).setAttribute("d", `M0,0${steps.join("")}H0Z`)
  title(element, height)
}

function title(element, height) {
  const line = make("div", "title", element)
  line.style.top = `${height}px`
  line.textContent = "entropy, bits"
}

function place(element, left, top, width, height) {
  Object.assign(element.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` })
}

function listen(view) {
  view.chart.on("plotly_hover", ({ points: [point], event }) => {
    const box = view.chart.getBoundingClientRect()
    view.tip.textContent = point.data.type === "heatmap" ? words(view, point.pointIndex ?? point.pointNumber) : ""
    view.tip.hidden = view.tip.textContent === ""
    const left = event.clientX - box.left
    view.tip.style.left = left > box.width / 2 ? "" : `${left + 14}px`
    view.tip.style.right = left > box.width / 2 ? `${box.width - left + 14}px` : ""
    view.tip.style.top = `${event.clientY - box.top + 10}px`
  })
  view.chart.on("plotly_relayout", () => {
    follow(view)
    besides(view)
  })
  view.chart.on("plotly_unhover", () => (view.tip.hidden = true))
}

function words(view, [row, column]) {
  const { tokens, keys, columns, masks } = view.content
  const cell = row * columns + column
  const number = (stage, name) => `${name}  ${numbersOf(view, stage)[cell].toFixed(4)}`
  const lines = [`query  ${tokens[row]} (${row})`, `key  ${(keys ?? tokens)[column]} (${column})`, number("scores", "score"), number("scaled", "scaled")]
  if (view.numbers.masked) lines.push(number("masked", "mixed"))
  lines.push(number("weights", "weight"))
  if (view.numbers.mixed) lines.push(number("mixed", "mixed weight"))
  const hiding = masks.filter((_, index) => view.masked[cell] & (1 << index))
  if (hiding.length) lines.push(`hidden by ${hiding.join(" and ")}`)
  return lines.join("\n")
}

/* Scaled scores come along only where something was added to them; else they are worked out, in 32-bit floats as in Python. */
function numbersOf({ numbers, content }, stage) {
  if (numbers[stage]) return numbers[stage]
  const scale = Math.fround(content.scale)
  numbers.scaled ??= numbers.scores.map((score) => score * scale)
  return numbers.scaled
}

function colours(element) {
  const style = getComputedStyle(element)
  const scale = (kind) => palette(element, kind).map((colour, index, all) => [index / (all.length - 1), colour])
  return {
    sequential: scale("sequential"),
    diverging: scale("diverging"),
    font: style.getPropertyValue("--st-font"),
    text: style.getPropertyValue("--st-text-color"),
    primary: style.getPropertyValue("--st-primary-color"),
    background: style.getPropertyValue("--st-background-color"),
  }
}
