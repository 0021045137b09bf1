const views = new WeakMap()
const ROW = 27
const COLUMNS = ["score", "scaled", "‖v‖", "‖w·v‖", "share of y"]

export default function ({ data, parentElement }) {
  const view = views.get(parentElement) ?? build(parentElement)
  views.set(parentElement, view)
  view.data = decode(data)
  afterPaint(() => write(view))
}

function build(parent) {
  const add = (tag, name, root) => root.appendChild(Object.assign(document.createElement(tag), { className: name }))
  const frame = add("div", "frame", parent)
  const scroll = add("div", "scroll", frame)
  const table = add("table", "", scroll)
  const names = add("tr", "", add("thead", "", table))
  const body = add("tbody", "", table)
  const foot = add("tr", "", add("tfoot", "", table))
  const bottom = add("div", "bottom", frame)
  const readout = add("span", "readout", bottom)
  const save = add("button", "", bottom)
  save.type = "button"
  save.textContent = "Save as SVG"
  const view = { frame, scroll, names, body, foot, readout, canvas: add("canvas", "", document.createElement("div")) }
  view.sum = add("canvas", "", document.createElement("div"))
  for (const canvas of [view.canvas, view.sum]) {
    canvas.setAttribute("aria-hidden", "true")
    canvas.addEventListener("pointermove", (event) => point(view, canvas, event))
    canvas.addEventListener("pointerleave", () => (view.readout.textContent = hint(view)))
  }
  save.addEventListener("click", () => download("weighted-sum.svg", svg(view)))
  new ResizeObserver(() => view.data && view.width !== scroll.clientWidth && paint(view)).observe(scroll)
  const themed = parent.host?.closest("[style*='--st-']") ?? document.body
  new MutationObserver(() => view.data && requestAnimationFrame(() => paint(view))).observe(themed, { attributes: true })
  return view
}

function write(view) {
  const { keys, positions, weights, columns, width } = view.data
  const cell = (tag, text, name = "") => {
    const element = document.createElement(tag)
    element.className = name
    element.textContent = text
    return element
  }
  const heads = ["key", "weight", `w·v over ${width} dimensions`, ...COLUMNS]
  view.names.replaceChildren(...heads.map((head, index) => Object.assign(cell("th", head, index === 2 ? "strip" : ""), { scope: "col" })))
  view.names.children[2].append(legend(view))

  const most = Math.max(...weights, 1e-9)
  const rows = keys.map((key, row) => {
    const line = document.createElement("tr")
    const name = Object.assign(cell("th", "", "key"), { scope: "row" })
    name.appendChild(document.createElement("bdi")).textContent = key
    if (positions[row] !== null) name.append(cell("small", positions[row]))
    const weight = cell("td", "", "weight")
    const bar = weight.appendChild(cell("span", "", "bar"))
    bar.style.width = `${(5.5 * weights[row]) / most}rem`
    weight.append(cell("span", weights[row].toFixed(4)))
    line.append(name, weight)
    if (row === 0) line.append(Object.assign(cell("td", "", "strip"), { rowSpan: keys.length }))
    line.append(...COLUMNS.map((column) => cell("td", format(column, columns[column][row]), "number")))
    return line
  })
  view.body.replaceChildren(...rows)
  view.body.querySelector(".strip").append(view.canvas)

  const total = cell("td", "", "strip")
  total.append(view.sum)
  view.foot.replaceChildren(
    Object.assign(cell("th", "Σ = y"), { scope: "row" }),
    cell("td", weights.reduce((sum, weight) => sum + weight, 0).toFixed(4), "weight total"),
    total,
    ...COLUMNS.map((column) => cell("td", column === "‖w·v‖" ? `‖y‖ ${view.data.length.toFixed(3)}` : column === "share of y" ? format(column, columns[column].reduce((sum, share) => sum + share, 0)) : "", "number")),
  )
  view.readout.textContent = hint(view)
  paint(view)
}

function hint({ data }) {
  return `Orange adds to y, blue takes away; colours saturate at ±${data.most.toPrecision(2)}. Point at a cell for its number.`
}

function format(column, number) {
  if (number === null) return ""
  return column === "share of y" ? `${(100 * number).toFixed(1)} %` : number.toFixed(column.includes("v") ? 3 : 4)
}

function paint(view) {
  const { keys } = view.data
  if (!view.canvas.isConnected) return
  view.width = view.scroll.clientWidth
  const dpr = window.devicePixelRatio || 1
  const width = Math.max(160, view.canvas.parentElement.clientWidth - 12)
  const colour = colours(view)
  for (const [canvas, from, count] of [[view.canvas, 0, keys.length], [view.sum, keys.length, 1]]) {
    canvas.style.width = `${width}px`
    canvas.style.height = `${count * ROW}px`
    canvas.width = Math.round(width * dpr)
    canvas.height = Math.round(count * ROW * dpr)
    const context = canvas.getContext("2d")
    context.scale(dpr, dpr)
    for (const [x, y, w, h, value] of boxes(view.data, from, count, width)) {
      context.fillStyle = colour(value)
      context.fillRect(x, y, w, h)
    }
  }
  view.frame.dataset.painted = Number(view.frame.dataset.painted ?? 0) + 1
}

function* boxes({ numbers: terms, width: dimensions }, from, count, width) {
  const step = width / dimensions
  const gap = step > 4 ? 1 : 0
  for (let row = 0; row < count; row++)
    for (let dimension = 0; dimension < dimensions; dimension++)
      yield [dimension * step, row * ROW + 2, step - gap, ROW - 4, terms[(from + row) * dimensions + dimension]]
}

function colours(view) {
  const shades = getComputedStyle(view.frame).getPropertyValue("--st-chart-diverging-colors")
  if (view.shades !== shades) view.ramp = [...ramp(shades.split(","))].map((pixel) => `rgb(${pixel & 255},${(pixel >> 8) & 255},${(pixel >> 16) & 255})`)
  view.shades = shades
  const last = view.ramp.length - 1
  return (value) => view.ramp[Math.round(Math.min(1, Math.max(0, 0.5 + value / view.data.most / 2)) * last)]
}

function legend(view) {
  const bar = document.createElement("span")
  bar.className = "legend"
  bar.setAttribute("aria-hidden", "true")
  const end = view.data.most.toPrecision(2)
  for (const text of [`−${end}`, null, `+${end}`]) {
    const part = bar.appendChild(document.createElement("span"))
    if (text === null) part.className = "scale"
    else part.textContent = text
  }
  return bar
}

function point(view, canvas, event) {
  const { keys, width, numbers: terms, weights } = view.data
  const dimension = Math.min(width - 1, Math.max(0, Math.floor((event.offsetX / canvas.clientWidth) * width)))
  if (canvas === view.sum) {
    view.readout.textContent = `y, dimension ${dimension}: ${terms[keys.length * width + dimension].toPrecision(6)}, the sum of the column above`
    return
  }
  const row = Math.min(keys.length - 1, Math.max(0, Math.floor(event.offsetY / ROW)))
  const term = terms[row * width + dimension]
  const parts = view.data.positions[row] === null ? "" : ` = ${weights[row].toPrecision(6)} · ${(weights[row] ? term / weights[row] : 0).toPrecision(6)}`
  view.readout.textContent = `${keys[row]}, dimension ${dimension}: ${term.toPrecision(6)}${weights[row] ? parts : ""}`
}

function svg(view) {
  const { keys, weights, width: dimensions } = view.data
  const [left, bar, strip] = [110, 120, Math.max(400, dimensions * 9)]
  const height = (keys.length + 2) * ROW
  const colour = colours(view)
  const escape = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  const text = (x, y, words, anchor) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${escape(words)}</text>`
  const most = Math.max(...weights, 1e-9)
  const parts = keys.map((key, row) => {
    const middle = row * ROW + ROW / 2 + 4
    const length = (70 * weights[row]) / most
    return `${text(left - 8, middle, key, "end")}<rect x="${left}" y="${row * ROW + 7}" width="${length}" height="${ROW - 14}" fill="#1f6fb2"/>${text(left + length + 4, middle, weights[row].toFixed(3), "start")}`
  })
  for (const [from, count, top] of [[0, keys.length, 0], [keys.length, 1, (keys.length + 0.5) * ROW]])
    for (const [x, y, w, h, value] of boxes(view.data, from, count, strip))
      parts.push(`<rect x="${(left + bar + x).toFixed(2)}" y="${top + y}" width="${w.toFixed(2)}" height="${h}" fill="${colour(value)}"/>`)
  parts.push(text(left - 8, (keys.length + 1) * ROW + 4, "Σ = y", "end"))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + bar + strip}" height="${height}" font-family="Helvetica, Arial, sans-serif" font-size="13">${parts.join("")}</svg>`
}

function download(name, text) {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
