import { palette, ramp } from "../shared/colours.js"
import { make, whenThemed } from "../shared/elements.js"
import { countDrawing, paintNumbers } from "../shared/painter.js"
import { choose, pointAt } from "../shared/place.js"
import { stageOf } from "./sums.js"

const PLOTLY = "component/attention.components.base.plotly_js/plotly.min.js"
const SVG = "http://www.w3.org/2000/svg"
const MOST_BARS = 32
const WHERE_MASKED = ["masked", "weights", "mixed"]
const CHOSEN = "#d97706"
let plotly = null

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

/* One stage as a heatmap: the cells are painted here, their labels and zoom are plotly.js's. */
export function buildHeatmap(parent) {
  const menu = make("div", "stages", parent)
  menu.setAttribute("role", "radiogroup")
  menu.setAttribute("aria-label", "Stage of the computation")
  const whole = make("div", "attention-frame", parent)
  const [hatch, cells, chart, column, row, outline, entropy, legend, tip] = ["hatch", "cells", "heatmap", "column", "row", "outline", "entropy", "legend", "tip"].map((name) => make(name === "cells" ? "canvas" : "div", `attention-${name}`, whole))
  const caption = make("p", "caption", parent)
  const view = { content: null, menu, whole, hatch, cells, chart, column, row, outline, entropy, legend, tip, caption, frame: null, width: 0, stage: null }
  for (const hidden of [cells, column, row, outline, legend]) hidden.setAttribute("aria-hidden", "true")
  chart.setAttribute("role", "img")
  tip.hidden = true
  for (const pointing of ["pointermove", "pointerdown"]) chart.addEventListener(pointing, () => catchUp(view), { capture: true })
  chart.addEventListener("pointermove", (event) => point(view, event))
  chart.addEventListener("pointerleave", () => pointAt(null))
  chart.addEventListener("click", (event) => {
    const cell = cellAt(view, event)
    if (cell) choose("query", cell.query)
  })
  menu.addEventListener("click", (event) => event.target.dataset.stage && choose("stage", event.target.dataset.stage))
  menu.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    const buttons = [...menu.children]
    const next = buttons.at((buttons.indexOf(event.target) + step) % buttons.length)
    next.focus()
    choose("stage", next.dataset.stage)
  })
  new ResizeObserver(() => {
    const width = chart.clientWidth
    if (!view.frame || !width || view.width === width) return
    besides(view)
    paint(view)
    mark(view)
    catchUp(view).then(() => window.Plotly.Plots.resize(chart))
  }).observe(chart)
  whenThemed(parent, () => view.stage && drawStage(view))
  return { draw, show: (at) => show(view, at) }

  function draw(content) {
    Object.assign(view, { content, stage: null })
  }
}

function show(view, at) {
  view.at = at
  if (view.stage !== at.stage) {
    view.stage = at.stage
    drawStage(view)
  }
  mark(view)
}

function drawStage(view) {
  const { stage, content } = view
  const { columns, rows, heat, layout, stages, hidden, caption } = content
  const theme = colours(view.chart)
  const { zmin, zmax, diverging, words } = stages[stage]
  const masks = WHERE_MASKED.includes(stage)
  view.scale = [zmin, zmax]
  view.background = theme.background
  view.shades = diverging ? theme.diverging : theme.sequential
  const numbers = stageOf(content, stage)
  view.shown = masks ? numbers.map((number, cell) => (hidden[cell] ? NaN : number)) : numbers
  view.hatch.hidden = !masks || !hidden.some(Boolean)
  const z = Array.from({ length: rows }, (_, row) => view.shown.subarray(row * columns, (row + 1) * columns))
  const looks = { autosize: true, paper_bgcolor: "rgba(0,0,0,0)", font: { family: theme.font, color: theme.text }, modebar: { bgcolor: "rgba(0,0,0,0)", color: theme.text, activecolor: theme.primary }, dragmode: Math.max(rows, columns) > 32 ? "zoom" : false }
  view.figure = [{ ...heat, z, zmin, zmax, colorscale: view.shades, autocolorscale: false, hoverinfo: "none" }, { ...layout, ...looks }]
  view.ranges = ranges(layout)
  view.chart.setAttribute("aria-label", `Heatmap of the ${stage}: queries down, keys across.`)
  view.chart.style.minHeight = `${layout.height}px`
  view.caption.textContent = [caption.before, words, caption.after].filter(Boolean).join(" ")
  menu(view, Object.keys(stages))
  view.behind = true
  besides(view)
  paint(view)
  const frame = JSON.stringify([heat.x, heat.y, layout, theme])
  if (view.frame === frame && !zoomed(view) && !heat.texttemplate) return
  view.frame = frame
  catchUp(view)
}

function menu({ menu, stage }, stages) {
  if (menu.children.length !== stages.length || [...menu.children].some(({ dataset }, index) => dataset.stage !== stages[index]))
    menu.replaceChildren(
      ...stages.map((name) => {
        const button = Object.assign(make("button", ""), { type: "button", textContent: name })
        button.dataset.stage = name
        button.setAttribute("role", "radio")
        return button
      }),
    )
  for (const button of menu.children) {
    button.setAttribute("aria-checked", String(button.dataset.stage === stage))
    button.tabIndex = button.dataset.stage === stage ? 0 : -1
  }
}

/* Has plotly.js draw what `besides` and `paint` do not: labels, and cells to zoom into. */
function catchUp(view) {
  if (view.behind) view.caughtUp = load().then((Plotly) => react(view, Plotly))
  view.behind = false
  return view.caughtUp
}

async function react(view, Plotly) {
  const first = !view.chart.layout
  const [heat, layout] = view.figure
  view.config ??= configuration(view, Plotly)
  await Plotly.react(view.chart, [{ ...heat, showscale: false }], { ...layout }, view.config)
  follow(view)
  if (first) view.chart.on("plotly_relayout", () => follow(view))
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
  besides(view)
  mark(view)
}

function zoomed({ chart, ranges: asked }) {
  return Boolean(chart.layout) && ranges(chart.layout) !== asked
}

function ranges({ xaxis, yaxis }) {
  return JSON.stringify([xaxis.range, yaxis.range])
}

/* What is seen of the columns and rows, from the first to the last, as plotly.js counts them. */
function seen(view) {
  const { xaxis, yaxis } = zoomed(view) ? view.chart.layout : view.content.layout
  return [xaxis.range, yaxis.range]
}

/* The cells, a pixel or so apart where there are few. */
function paint({ content, cells, shown, scale, shades, background }) {
  const { heat: { xgap }, columns, rows } = content
  paintNumbers(cells, columns, shown, scale, ramp(shades.map(([, colour]) => colour)))
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
function save(view) {
  const { chart, stage, content, at, figure: [heat, layout] } = view
  const { beside, columns } = content
  const axis = (name) => ({ ...layout[name], range: chart.layout[name].range })
  const outline = { type: "rect", x0: -0.5, x1: columns - 0.5, y0: at.held - 0.5, y1: at.held + 0.5, line: { color: CHOSEN, width: 2 } }
  const figure = { data: [heat, ...(stage === "weights" ? beside : [])], layout: { ...layout, shapes: [outline], xaxis: axis("xaxis"), yaxis: axis("yaxis") } }
  window.Plotly.downloadImage(figure, { format: "svg", filename: `attention-${stage}`, width: chart.clientWidth, height: layout.height })
}

/* What needs no plotly.js: the hatching that shows through masked cells, the colours' legend, and the entropy. */
function besides(view) {
  const { layout, room, rows, entropy } = view.content
  const { l, r, t, b } = layout.margin
  const [zmin, zmax] = view.scale
  view.width = view.chart.clientWidth
  const [width, height] = [view.width - l - r, layout.height - t - b]
  const [start, end] = layout.xaxis.domain ?? [0, 1]
  view.box = { left: l + start * width, top: t, width: (end - start) * width, height }
  for (const element of [view.hatch, view.cells]) place(element, view.box)
  place(view.legend, { left: l + width + 4, top: t, width: r - 4, height })
  view.legend.style.setProperty("--shades", view.shades.map(([, colour]) => colour).join(","))
  const beyond = view.shown.some((number) => Math.abs(number) > zmax)
  const ends = [[zmax, "≥ "], [(zmin + zmax) / 2, ""], [zmin, zmin ? "≤ " : ""]]
  view.legend.replaceChildren(...ends.map(([number, sign]) => Object.assign(make("span", ""), { textContent: (beyond ? sign : "") + String(Number(number.toPrecision(2))).replace("-", "−") })))
  place(view.entropy, { left: l + room[0] * width, top: t, width: (room[1] - room[0]) * width, height: height + 22 })
  view.entropy.replaceChildren()
  if (view.stage === "weights") (rows > MOST_BARS ? profile : bars)(view, entropy, height)
}

function bars({ entropy: element }, entropy, height) {
  const most = Math.max(...entropy, 1e-6)
  for (const [row, bits] of entropy.entries()) {
    const line = make("div", "", element)
    line.style.top = `${((row + 0.5) * height) / entropy.length}px`
    make("span", "", line).style.width = `calc((100% - 1.75rem) * ${bits / most})`
    line.append(bits.toFixed(2))
  }
  title(element, height)
}

/* The bars of many rows as one shape, which follows when the heatmap is zoomed. */
function profile(view, entropy, height) {
  const picture = view.entropy.appendChild(document.createElementNS(SVG, "svg"))
  const [, [bottom, top]] = seen(view)
  picture.setAttribute("viewBox", `0 ${top + 0.5} ${Math.max(...entropy, 1e-6) * 1.4} ${bottom - top}`)
  picture.setAttribute("preserveAspectRatio", "none")
  picture.style.height = `${height}px`
  const steps = entropy.map((bits, row) => `H${bits}V${row + 1}`)
  picture.appendChild(document.createElementNS(SVG, "path")).setAttribute("d", `M0,0${steps.join("")}H0Z`)
  title(view.entropy, height)
}

function title(element, height) {
  const line = make("div", "title", element)
  line.style.top = `${height}px`
  line.textContent = "entropy, bits"
}

function place(element, { left, top, width, height }) {
  Object.assign(element.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` })
}

/* The chosen row framed, the row and the column that are pointed at lit, and what stands there told. */
function mark(view) {
  const { query, key, held, cell } = view.at
  const { left, top, width, height } = view.box
  const [[first, end], [bottom, start]] = seen(view)
  const across = width / (end - first)
  const down = height / (bottom - start)
  const row = (at) => ({ left, top: top + (at - 0.5 - start) * down, width, height: down })
  const bound = (box) => {
    const [x0, y0] = [Math.max(left, box.left), Math.max(top, box.top)]
    const [x1, y1] = [Math.min(left + width, box.left + box.width), Math.min(top + height, box.top + box.height)]
    return { left: x0, top: y0, width: Math.max(0, x1 - x0), height: Math.max(0, y1 - y0) }
  }
  place(view.outline, bound(row(held)))
  view.row.hidden = query === held && !cell
  if (!view.row.hidden) place(view.row, bound(row(query)))
  view.column.hidden = key === null
  const column = { left: left + ((key ?? 0) - 0.5 - first) * across, top, width: across, height }
  if (!view.column.hidden) place(view.column, bound(column))
  view.tip.hidden = !cell
  if (!cell) return
  view.tip.textContent = words(view, query, key)
  const right = column.left > left + width / 2
  view.tip.style.left = right ? "" : `${column.left + across + 8}px`
  view.tip.style.right = right ? `${view.width - column.left + 8}px` : ""
  view.tip.style.top = `${row(query).top + down + 6}px`
}

/* The cell under the pointer, if any. */
function cellAt(view, event) {
  const { rows, columns } = view.content
  const frame = view.chart.getBoundingClientRect()
  const { left, top, width, height } = view.box
  const [[first, end], [bottom, start]] = seen(view)
  const key = Math.round(first + ((event.clientX - frame.left - left) / width) * (end - first))
  const query = Math.round(start + ((event.clientY - frame.top - top) / height) * (bottom - start))
  const inside = event.clientX - frame.left >= left && event.clientX - frame.left <= left + width
  return inside && query >= 0 && query < rows && key >= 0 && key < columns ? { query, key } : null
}

function point(view, event) {
  const cell = event.buttons ? null : cellAt(view, event)
  pointAt(cell && { ...cell, cell: true })
}

function words({ content }, query, key) {
  const { tokens, keys, columns, masks, hidden, numbers } = content
  const cell = query * columns + key
  const number = (stage, name) => `${name}  ${stageOf(content, stage)[cell].toFixed(4)}`
  const lines = [`query  ${tokens[query]} (${query})`, `key  ${(keys ?? tokens)[key]} (${key})`, number("scores", "score"), number("scaled", "scaled")]
  if (numbers.masked) lines.push(number("masked", "mixed"))
  lines.push(number("weights", "weight"))
  if (numbers.mixed) lines.push(number("mixed", "mixed weight"))
  const hiding = masks.filter((_, bit) => hidden[cell] & (1 << bit))
  if (hiding.length) lines.push(`hidden by ${hiding.join(" and ")}`)
  return lines.join("\n")
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
