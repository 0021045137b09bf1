const PLOTLY = "component/attention.components.plotly_js/plotly.min.js"
const views = new WeakMap()
let plotly = null

export default function ({ data, parentElement }) {
  const view = views.get(parentElement) ?? build(parentElement)
  views.set(parentElement, view)
  const { numbers, rest, ...content } = decode(data)
  const half = numbers.length / 2
  const scale = Math.fround(content.scale)
  const scores = numbers.subarray(0, half)
  view.content = content
  view.numbers = { scores, scaled: scores.map((score) => score * scale), weights: numbers.subarray(half) }
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
  const add = (name) => Object.assign(parent.appendChild(document.createElement("div")), { className: name })
  const frame = add("attention-frame")
  const inside = (name) => frame.appendChild(Object.assign(document.createElement("div"), { className: name }))
  const view = { hatch: inside("attention-hatch"), chart: inside("attention-heatmap"), entropy: inside("attention-entropy"), tip: inside("attention-tip"), content: null, drawn: null }
  view.chart.setAttribute("role", "img")
  view.tip.hidden = true
  view.width = 0
  new ResizeObserver(() => {
    if (!view.drawn || view.width === view.chart.clientWidth) return
    window.Plotly.Plots.resize(view.chart)
    besides(view)
  }).observe(view.chart)
  const themed = parent.closest("[style*='--st-']") ?? document.body
  new MutationObserver(() => view.content && draw(view)).observe(themed, { attributes: true, attributeFilter: ["style"] })
  return view
}

async function draw(view) {
  const Plotly = window.Plotly ?? (await load())
  const { columns, rows, stage } = view.content
  const [heat, ...others] = view.content.data
  const shown = (view.numbers[stage] ?? view.numbers.scaled).map((number, cell) => (view.masked[cell] ? NaN : number))
  const z = Array.from({ length: rows }, (_, row) => shown.subarray(row * columns, (row + 1) * columns))
  const theme = colours(view.chart)
  const traces = [{ ...heat, z, colorscale: heat.autocolorscale ? theme.diverging : theme.sequential, autocolorscale: false, hoverinfo: "none" }, ...others]
  const layout = { ...view.content.layout, autosize: true, paper_bgcolor: "rgba(0,0,0,0)", font: { family: theme.font, color: theme.text }, colorway: [theme.primary], modebar: { bgcolor: "rgba(0,0,0,0)", color: theme.text, activecolor: theme.primary }, dragmode: rows > 32 ? "zoom" : false }
  const config = {
    displaylogo: false,
    showSendToCloud: false,
    modeBarButtonsToRemove: ["sendChartToCloud", "select2d", "lasso2d", "autoScale2d"],
    toImageButtonOptions: { format: "svg", filename: `attention-${stage}` },
  }
  view.chart.setAttribute("aria-label", `Heatmap of the ${stage}: queries down, keys across.`)
  besides(view)
  await Plotly.react(view.chart, traces, layout, config)
  if (!view.drawn) listen(view)
  view.drawn = true
}

/* What needs no plotly.js: the hatching that shows through masked cells, and the entropy's bars. */
function besides(view) {
  const { layout, entropy, room, rows } = view.content
  const { l, r, t, b } = layout.margin
  view.width = view.chart.clientWidth
  const [width, height] = [view.width - l - r, layout.height - t - b]
  const [start, end] = layout.xaxis.domain ?? [0, 1]
  place(view.hatch, l + start * width, t, (end - start) * width, height)
  view.hatch.hidden = layout.shapes.length < 2
  place(view.entropy, l + room[0] * width, t, (room[1] - room[0]) * width, height + 22)
  view.entropy.replaceChildren()
  if (!entropy) return
  const most = Math.max(...entropy, 1e-6) * 1.6
  for (const [row, bits] of [...entropy.entries(), [rows, null]]) {
    const line = view.entropy.appendChild(document.createElement("div"))
    line.style.top = bits === null ? `${height}px` : `${((row + 0.5) * height) / rows}px`
    if (bits !== null) line.appendChild(document.createElement("span")).style.width = `${(100 * bits) / most}%`
    line.append(bits === null ? "entropy, bits" : bits.toFixed(2))
    line.className = bits === null ? "title" : ""
  }
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
  view.chart.on("plotly_unhover", () => (view.tip.hidden = true))
}

function words(view, [row, column]) {
  const { tokens, columns } = view.content
  const cell = row * columns + column
  const number = (stage, name) => `${name}  ${view.numbers[stage][cell].toFixed(4)}`
  const lines = [`query  ${tokens[row]} (${row})`, `key  ${tokens[column]} (${column})`, number("scores", "score"), number("scaled", "scaled"), number("weights", "weight")]
  return lines.join("\n") + (view.masked[cell] ? ", masked" : "")
}

function colours(element) {
  const style = getComputedStyle(element)
  const scale = (name) => style.getPropertyValue(name).split(",").map((colour, index, all) => [index / (all.length - 1), colour.trim()])
  return {
    sequential: scale("--st-chart-sequential-colors"),
    diverging: scale("--st-chart-diverging-colors"),
    font: style.getPropertyValue("--st-font"),
    text: style.getPropertyValue("--st-text-color"),
    primary: style.getPropertyValue("--st-primary-color"),
  }
}
