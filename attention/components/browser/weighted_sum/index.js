import { palette, ramp, rgb, shadeOf } from "../shared/colours.js"
import { make, viewIn, whenThemed } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { paintNumbers } from "../shared/painter.js"

const ROW = 27
const COLUMNS = ["score", "scaled", "‖v‖", "‖w·v‖", "share of y"]

export default function ({ data, parentElement }) {
  const view = viewIn(parentElement, build)
  view.data = decode(data)
  write(view)
}

function build(parent) {
  const frame = make("div", "frame", parent)
  const table = make("table", "", make("div", "scroll", frame))
  const head = make("tr", "", make("thead", "", table))
  const body = make("tbody", "", table)
  const foot = make("tr", "", make("tfoot", "", table))
  const bottom = make("div", "bottom", frame)
  const readout = make("span", "readout", bottom)
  const save = Object.assign(make("button", "", bottom), { type: "button", textContent: "Save as SVG" })
  const heads = ["key", "weight", "", ...COLUMNS].map((text) => Object.assign(make("th", "", head), { scope: "col", textContent: text }))
  Object.assign(make("th", "", foot), { scope: "row", textContent: "Σ = y" })
  const view = { frame, body, readout, rows: [], total: make("td", "weight total", foot), strip: make("td", "strip"), sums: {} }
  for (const [name, cell] of [["terms", view.strip], ["sum", make("td", "strip", foot)]]) {
    const canvas = (view[name] = make("canvas", "", make("div", "picture", cell)))
    canvas.setAttribute("aria-hidden", "true")
    canvas.addEventListener("pointermove", (event) => point(view, canvas, event))
    canvas.addEventListener("pointerleave", () => (readout.textContent = hint(view)))
  }
  for (const column of COLUMNS) view.sums[column] = make("td", "number", foot)
  heads[2].className = "strip"
  view.over = make("span", "", heads[2])
  const legend = make("span", "legend", heads[2])
  legend.setAttribute("aria-hidden", "true")
  view.ends = [make("span", "", legend), make("span", "scale", legend), make("span", "", legend)]
  save.addEventListener("click", () => download("weighted-sum.svg", svg(view)))
  whenThemed(parent, () => view.data && paint(view))
  return view
}

/* Rows stand where they are and get other words; the strip beside them is one cell of the first. */
function write(view) {
  const { keys, positions, weights, columns, width, most, length } = view.data
  if (view.rows.length !== keys.length) {
    view.rows = keys.map(makeRow)
    view.body.replaceChildren(...view.rows.map(({ line }) => line))
    view.strip.rowSpan = keys.length
    view.rows[0].weight.after(view.strip)
  }
  const greatest = Math.max(...weights.map(Math.abs), 1e-9)
  for (const [index, row] of view.rows.entries()) {
    row.key.textContent = keys[index]
    row.position.textContent = positions[index] ?? ""
    row.bar.style.width = `${(5.5 * Math.abs(weights[index])) / greatest}rem`
    row.bar.classList.toggle("negative", weights[index] < 0)
    row.number.textContent = weights[index].toFixed(4).replace("-", "−")
    for (const column of COLUMNS) row.cells[column].textContent = format(column, columns[column][index])
  }
  const sum = (numbers) => numbers.reduce((sum, number) => sum + number, 0)
  view.total.textContent = sum(weights).toFixed(4)
  view.sums["‖w·v‖"].textContent = `‖y‖ ${length.toFixed(3)}`
  view.sums["share of y"].textContent = format("share of y", sum(columns["share of y"]))
  view.over.textContent = `w·v over ${width} dimensions`
  view.ends[0].textContent = `−${most.toPrecision(2)}`
  view.ends[2].textContent = `+${most.toPrecision(2)}`
  view.readout.textContent = hint(view)
  paint(view)
}

function makeRow() {
  const line = make("tr", "")
  const name = Object.assign(make("th", "key", line), { scope: "row" })
  const weight = make("td", "weight", line)
  const row = { line, weight, key: make("bdi", "", name), position: make("small", "", name), bar: make("span", "bar", weight), number: make("span", "", weight), cells: {} }
  for (const column of COLUMNS) row.cells[column] = make("td", "number", line)
  return row
}

function hint({ data }) {
  return `Orange adds to y, blue takes away; colours saturate at ±${data.most.toPrecision(2)}. Point at a cell for its number.`
}

function format(column, number) {
  if (number === null) return ""
  if (column !== "share of y") return number.toFixed(column.includes("v") ? 3 : 4)
  const share = (100 * number).toFixed(1)
  return `${share === "-0.0" ? "0.0" : share} %`
}

/* One pixel per number; the style sheet puts gaps between them where there is room. */
function paint(view) {
  const { keys, numbers: terms, width, most } = view.data
  const rows = keys.length
  view.frame.style.setProperty("--rows", rows)
  view.frame.style.setProperty("--dimensions", width)
  const shades = ramp(palette(view.frame, "diverging"))
  paintNumbers(view.terms, width, terms.subarray(0, rows * width), [-most, most], shades)
  paintNumbers(view.sum, width, terms.subarray(rows * width), [-most, most], shades)
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
  const { keys, weights, width: dimensions, numbers: terms, most } = view.data
  const [left, bar, step] = [110, 120, Math.max(400 / dimensions, 9)]
  const shades = ramp(palette(view.frame, "diverging"))
  const escape = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  const text = (x, y, words, anchor) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${escape(words)}</text>`
  const boxes = (row, top) =>
    Array.from(terms.subarray(row * dimensions, (row + 1) * dimensions), (term, dimension) => {
      const x = (left + bar + dimension * step).toFixed(2)
      return `<rect x="${x}" y="${top + 2}" width="${(step - 1).toFixed(2)}" height="${ROW - 4}" fill="${rgb(shadeOf(term, -most, most, shades))}"/>`
    })
  const greatest = Math.max(...weights.map(Math.abs), 1e-9)
  const parts = keys.flatMap((key, row) => {
    const middle = row * ROW + ROW / 2 + 4
    const length = (70 * Math.abs(weights[row])) / greatest
    const weight = `<rect x="${left}" y="${row * ROW + 7}" width="${length}" height="${ROW - 14}" fill="${weights[row] < 0 ? "#d97706" : "#1f6fb2"}"/>`
    return [text(left - 8, middle, key, "end"), weight, text(left + length + 4, middle, weights[row].toFixed(3).replace("-", "−"), "start"), ...boxes(row, row * ROW)]
  })
  parts.push(...boxes(keys.length, (keys.length + 0.5) * ROW), text(left - 8, (keys.length + 1) * ROW + 4, "Σ = y", "end"))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + bar + step * dimensions}" height="${(keys.length + 2) * ROW}" font-family="Helvetica, Arial, sans-serif" font-size="13">${parts.join("")}</svg>`
}

function download(name, text) {
  const link = make("a", "")
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
