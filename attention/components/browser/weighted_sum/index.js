import { cellAt } from "../shared/choosing.js"
import { palette, ramp, rgb, shadeOf } from "../shared/colours.js"
import { make, viewIn, whenThemed } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { paintNumbers } from "../shared/painter.js"
import { fixed } from "../shared/words.js"

/** @import { Given, Place } from "../shared/message.js"
    @typedef {"score" | "scaled" | "‖v‖" | "‖w·v‖" | "share of y"} Column
    @typedef {{ keys: string[], positions: (number | null)[], weights: number[],
      columns: Record<Column, (number | null)[]>, width: number, most: number, length: number,
      numbers: Float32Array }} Content
    @typedef {Record<"line" | "weight" | "key" | "position" | "bar" | "number", HTMLElement> & {
      cells: HTMLElement[] }} Row
    @typedef {Record<"frame" | "body" | "readout" | "total" | "over" | "low" | "high", HTMLElement> &
      Record<"terms" | "sum", HTMLCanvasElement> & { strip: HTMLTableCellElement, rows: Row[],
      sums: HTMLElement[], data: Content }} View */

const ROW = 27
/** @type {Column[]} */
const COLUMNS = ["score", "scaled", "‖v‖", "‖w·v‖", "share of y"]

/** @type {(given: Given) => void} */
export default function ({ data, parentElement }) {
  const content = decode(data, "weighted_sum", 1)
  const view = viewIn(parentElement, build)
  view.data = content
  write(view)
}

/** @type {(parent: Place, view: View) => void} */
function build(parent, view) {
  const frame = make("div", "frame", parent)
  const table = make("table", "", make("div", "scroll", frame))
  const head = make("tr", "", make("thead", "", table))
  const body = make("tbody", "", table)
  const foot = make("tr", "", make("tfoot", "", table))
  const bottom = make("div", "bottom", frame)
  const readout = make("span", "readout", bottom)
  const save = make("button", "", bottom, { type: "button", textContent: "Save as SVG" })
  const [, , wide] = ["key", "weight", "", ...COLUMNS].map((textContent) =>
    make("th", "", head, { scope: "col", textContent }),
  )
  make("th", "", foot, { scope: "row", textContent: "Σ = y" })
  const total = make("td", "weight total", foot)
  const strip = make("td", "strip")
  const terms = makePicture(view, strip)
  const sum = makePicture(view, make("td", "strip", foot))
  const sums = COLUMNS.map(() => make("td", "number", foot))
  wide.className = "strip"
  const over = make("span", "", wide)
  const legend = make("span", "legend", wide, { ariaHidden: "true" })
  const low = make("span", "", legend)
  make("span", "scale", legend)
  const high = make("span", "", legend)
  Object.assign(view, { frame, body, readout, rows: [], total, strip, terms, sum, sums, over })
  Object.assign(view, { low, high })
  save.addEventListener("click", () => {
    const shades = ramp(palette(frame, "diverging"))
    download("weighted-sum.svg", svg(view.data, shades))
  })
  whenThemed(parent, () => view.data && paint(view))
}

/** @type {(view: View, cell: HTMLElement) => HTMLCanvasElement} */
function makePicture(view, cell) {
  const picture = make("div", "picture", cell)
  const canvas = make("canvas", "", picture, { ariaHidden: "true" })
  canvas.addEventListener("pointermove", (event) => {
    const [first, count] =
      canvas === view.sum ? [view.data.keys.length, 1] : [0, view.data.keys.length]
    const box = canvas.getBoundingClientRect()
    const [row, dimension] = cellAt(event, box, count, view.data.width)
    view.readout.textContent = words(view.data, first + row, dimension)
  })
  canvas.addEventListener("pointerleave", () => tellHint(view))
  return canvas
}

/** Rows stand where they are and get other words; the strip beside them is one cell of the first.
    @type {(view: View) => void} */
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
    row.position.textContent = `${positions[index] ?? ""}`
    row.bar.style.width = `${(5.5 * Math.abs(weights[index])) / greatest}rem`
    row.bar.classList.toggle("negative", weights[index] < 0)
    row.number.textContent = fixed(weights[index], 4)
    for (const [at, column] of COLUMNS.entries())
      row.cells[at].textContent = format(column, columns[column][index])
  }
  /** @type {(numbers: (number | null)[]) => number} */
  const sum = (numbers) => numbers.reduce((/** @type {number} */ sum, each) => sum + (each ?? 0), 0)
  view.total.textContent = sum(weights).toFixed(4)
  view.sums[3].textContent = `‖y‖ ${length.toFixed(3)}`
  view.sums[4].textContent = format("share of y", sum(columns["share of y"]))
  view.over.textContent = `w·v over ${width} dimensions`
  view.low.textContent = `−${most.toPrecision(2)}`
  view.high.textContent = `+${most.toPrecision(2)}`
  tellHint(view)
  paint(view)
}

/** @type {() => Row} */
function makeRow() {
  const line = make("tr", "")
  const name = make("th", "key", line, { scope: "row" })
  const weight = make("td", "weight", line)
  const [key, position] = [make("bdi", "", name), make("small", "", name)]
  const [bar, number] = [make("span", "bar", weight), make("span", "", weight)]
  const cells = COLUMNS.map(() => make("td", "number", line))
  return { line, weight, key, position, bar, number, cells }
}

/** @type {(view: View) => void} */
function tellHint({ readout, data: { most } }) {
  const end = `colours saturate at ±${most.toPrecision(2)}`
  readout.textContent = `Orange adds to y, blue takes away; ${end}. Point at a cell for its number.`
}

/** @type {(column: Column, number: number | null) => string} */
export function format(column, number) {
  if (number === null) return ""
  if (column === "share of y") return `${(100 * number).toFixed(1).replace(/^-0.0$/, "0.0")} %`
  return number.toFixed(column.includes("v") ? 3 : 4)
}

/** One pixel per number; the style sheet puts gaps between them where there is room.
    @type {(view: View) => void} */
function paint({ frame, terms, sum, data: { keys, numbers, width, most } }) {
  const [cells, shades] = [keys.length * width, ramp(palette(frame, "diverging"))]
  frame.style.setProperty("--rows", `${keys.length}`)
  frame.style.setProperty("--dimensions", `${width}`)
  paintNumbers(terms, width, numbers.subarray(0, cells), [-most, most], shades)
  paintNumbers(sum, width, numbers.subarray(cells), [-most, most], shades)
}

/** What is said of a number; the row after the last is the sum.
    @type {(data: Omit<Content, "columns" | "most" | "length">, row: number,
      dimension: number) => string} */
export function words({ keys, width, numbers, weights, positions }, row, dimension) {
  const number = numbers[row * width + dimension]
  const said = number.toPrecision(6)
  if (row === keys.length) return `y, dimension ${dimension}: ${said}, the sum of the column above`
  const weight = weights[row]
  const factors = `${weight.toPrecision(6)} · ${(number / weight).toPrecision(6)}`
  const parts = weight && positions[row] !== null ? ` = ${factors}` : ""
  return `${keys[row]}, dimension ${dimension}: ${said}${parts}`
}

/** The picture as a file.
    @type {(data: Content, shades: Uint32Array) => string} */
export function svg({ keys, weights, width: dimensions, numbers: terms, most }, shades) {
  const [left, bar, step] = [110, 120, Math.max(400 / dimensions, 9)]
  const greatest = Math.max(...weights.map(Math.abs), 1e-9)
  /** @type {(x: number, y: number, width: number, height: number, colour: string) => string} */
  const box = (x, y, width, height, colour) =>
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${colour}"/>`
  /** @type {(x: number, y: number, words: string, anchor: string) => string} */
  const text = (x, y, words, anchor) =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(words)}</text>`
  /** @type {(row: number, top: number) => string[]} */
  const boxes = (row, top) =>
    Array.from(terms.subarray(row * dimensions, (row + 1) * dimensions), (term, dimension) => {
      const x = Number((left + bar + dimension * step).toFixed(2))
      const colour = rgb(shadeOf(term, -most, most, shades))
      return box(x, top + 2, Number((step - 1).toFixed(2)), ROW - 4, colour)
    })
  const parts = keys.flatMap((key, row) => {
    const [top, weight] = [row * ROW, weights[row]]
    const [middle, length] = [top + ROW / 2 + 4, (70 * Math.abs(weight)) / greatest]
    return [
      text(left - 8, middle, key, "end"),
      box(left, top + 7, length, ROW - 14, weight < 0 ? "#d97706" : "#1f6fb2"),
      text(left + length + 4, middle, fixed(weight, 3), "start"),
      ...boxes(row, top),
    ]
  })
  parts.push(...boxes(keys.length, (keys.length + 0.5) * ROW))
  parts.push(text(left - 8, (keys.length + 1) * ROW + 4, "Σ = y", "end"))
  const size = `width="${left + bar + step * dimensions}" height="${(keys.length + 2) * ROW}"`
  const font = 'font-family="Helvetica, Arial, sans-serif" font-size="13"'
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>${parts.join("")}</svg>`
}

/** @type {(text: string) => string} */
export function escaped(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** @type {(name: string, text: string) => void} */
function download(name, text) {
  const href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))
  make("a", "", null, { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), 1000)
}
