const PLOTLY = "component/attention.components.plotly_js/plotly.min.js"
const views = new WeakMap()
let plotly = null

export default function ({ data, parentElement }) {
  const view = views.get(parentElement) ?? build(parentElement)
  views.set(parentElement, view)
  const size = new DataView(data.buffer, data.byteOffset, 4).getUint32(0, true)
  const text = new TextDecoder().decode(data.subarray(4, 4 + size))
  const numbers = new Float32Array(data.slice(4 + size).buffer)
  view.content = JSON.parse(text)
  const cells = view.content.rows * view.content.columns
  view.numbers = ["z", "score", "scaled", "weight"].map((_, index) => numbers.subarray(index * cells, (index + 1) * cells))
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
  const view = { chart: add("attention-heatmap"), tip: add("attention-tip"), content: null, drawn: null }
  view.chart.setAttribute("role", "img")
  view.tip.hidden = true
  new ResizeObserver(() => view.drawn && window.Plotly.Plots.resize(view.chart)).observe(view.chart)
  const themed = parent.closest("[style*='--st-']") ?? document.body
  new MutationObserver(() => view.content && draw(view)).observe(themed, { attributes: true, attributeFilter: ["style"] })
  return view
}

async function draw(view) {
  const Plotly = window.Plotly ?? (await load())
  const { columns, rows, alt, name } = view.content
  const [heat, ...others] = view.content.data
  const z = Array.from({ length: rows }, (_, row) => view.numbers[0].subarray(row * columns, (row + 1) * columns))
  const theme = colours(view.chart)
  const traces = [{ ...heat, z, colorscale: heat.autocolorscale ? theme.diverging : theme.sequential, autocolorscale: false, hoverinfo: "none" }, ...others]
  const layout = { ...view.content.layout, autosize: true, paper_bgcolor: "rgba(0,0,0,0)", font: { family: theme.font, color: theme.text }, colorway: [theme.primary], dragmode: false }
  const config = {
    displaylogo: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    toImageButtonOptions: { format: "svg", filename: name },
  }
  view.chart.setAttribute("aria-label", alt)
  await Plotly.react(view.chart, traces, layout, config)
  if (!view.drawn) listen(view)
  view.drawn = true
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
  const { queries, keys, columns } = view.content
  const [, score, scaled, weight] = view.numbers.map((numbers) => numbers[row * columns + column])
  const lines = [`query  ${queries[row]} (${row})`, `key  ${keys[column]} (${column})`, `score  ${score.toFixed(4)}`, `scaled  ${scaled.toFixed(4)}`]
  return [...lines, `weight  ${weight.toFixed(4)}${Number.isNaN(view.numbers[0][row * columns + column]) ? ", masked" : ""}`].join("\n")
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
