import { cellAfter, cellAt } from "../shared/cells.js"
import { inkOn, palette, ramp, rgb, shadeOf } from "../shared/colours.js"
import { component, isAnswered } from "../shared/component.js"
import { make, makeName, under } from "../shared/elements.js"
import { frameCells, makeMatrix, paintMatrix } from "../shared/matrix.js"
import { countDrawing } from "../shared/painter.js"
import { fixed, inFull } from "../shared/words.js"
import { listenToTyping, makeField, showTexts } from "./typing.js"

/** @import { MatricesHeader, MatrixHeader as Part } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @import { Matrix } from "../shared/matrix.js"
    @import { Edit, Field } from "./typing.js"
    @typedef {[number, number]} Cell
    @typedef {{ part: Part, figure: HTMLElement, cells: Float32Array, target: HTMLElement,
      grid?: HTMLElement[][], fields?: Field[][], matrix?: Matrix }} Shown
    @typedef {ReturnType<typeof build>} View */

const MOST_COLUMNS = 8
const MOST_ROWS = 16
const MOST_NAMES = 24
const ALONE = 700 // pixels

export default component(build, draw)

/** @param {Mount<"matrices">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const row = make("div", "row", frame)
  const readout = make("p", "readout", frame, { role: "status" })
  const words = { textContent: "Undo", title: "Take the last number back: Ctrl+Z" }
  const undo = make("button", "undo", frame, { type: "button", hidden: true, ...words })
  const shown = /** @type {Shown[]} */ ([])
  const typed = {
    edits: /** @type {Edit[]} */ ([]),
    typing: /** @type {EventTarget | null} */ (null),
  }
  const view = { content, frame, row, readout, undo, shown, outline: "", send, ...typed }
  listenToTyping(view, row)
  return view
}

/** Elements are made anew only when names or sizes change; numbers alone are written into what
    stands.
    @type {(view: View) => void} */
function draw(view) {
  if (!isAnswered(view.content, "cell")) view.content.pickable = false
  if (!isAnswered(view.content, "typed")) for (const part of view.content.parts) part.texts = []
  const { parts, joins, numbers, pickable, written, chosen } = view.content
  const sizes = parts.map((part) => [part.name, part.rows, part.columns])
  const names = parts.map((part) => [part.rowNames, part.columnNames, part.texts.length])
  const outline = JSON.stringify([sizes, names, joins, pickable, written])
  if (outline !== view.outline) lay(view)
  view.outline = outline
  let start = 0
  for (const [index, part] of parts.entries()) {
    const end = start + part.rows * part.columns
    const shown = view.shown[index]
    shown.part = part
    shown.cells = numbers.subarray(start, end)
    colour(view, shown)
    start = end
  }
  light(view, chosen)
  showTexts(view)
  countDrawing(view.frame)
}

/** @type {(view: View) => void} */
function lay(view) {
  const { parts, joins, written: most, pickable } = view.content
  view.row.replaceChildren()
  view.shown = parts.map((part, index) => {
    const group = make("div", "group", view.row)
    if (joins[index - 1]) make("span", "join", group, { textContent: joins[index - 1] })
    const types = part.texts.length > 0
    const figure = make("figure", "", group, types ? {} : { tabIndex: 0 })
    const caption = make("figcaption", "", figure)
    make("b", "", caption, { textContent: part.name })
    make("span", "", caption, { textContent: `${part.rows} × ${part.columns}` })
    const few = types || (part.columns <= (most ?? MOST_COLUMNS) && part.rows <= MOST_ROWS)
    const shown = {
      part,
      figure,
      cells: new Float32Array(),
      ...(few ? written(part, figure) : painted(part, figure, parts.length === 1)),
    }
    listen(view, shown, index === parts.length - 1 && pickable)
    return shown
  })
}

/** Few cells: a table with its numbers, some of which can be typed over.
    @type {(part: Part, figure: HTMLElement) => Pick<Shown, "target" | "grid" | "fields">} */
function written(part, figure) {
  const { rows, columns, rowNames, columnNames } = part
  const target = make("table", "", figure)
  if (columnNames.length) {
    const head = make("tr", "", make("thead", "", target))
    if (rowNames.length) make("td", "", head)
    for (const name of columnNames) makeName("th", "", head, name).scope = "col"
  }
  const body = make("tbody", "", target)
  const grid = Array.from({ length: rows }, (_, row) => {
    const line = make("tr", "", body)
    if (rowNames.length) makeName("th", "", line, rowNames[row]).scope = "row"
    return Array.from({ length: columns }, () => make("td", "cell", line))
  })
  const fields = grid.map((line, row) =>
    line.map((cell, column) => makeField(part, cell, row, column)),
  )
  return { target, grid, fields }
}

/** Many cells: a picture, one pixel per cell; alone it takes more room.
    @type {(part: Part, figure: HTMLElement, alone: boolean) => Pick<Shown, "target" | "matrix">} */
function painted({ rows, columns, rowNames, columnNames }, figure, alone) {
  const [width, height] = [sideOf(columns, 5), sideOf(rows, 4)]
  const named = (/** @type {string[]} */ names) =>
    names.length && names.length <= MOST_NAMES ? names : undefined
  const matrix = makeMatrix(make("div", "plot", figure), {
    ...{ rows, columns, height, frames: ["band"] },
    width: alone ? Math.max(width, Math.min(ALONE, columns * 14)) : width,
    ...{ across: named(columnNames), down: named(rowNames) },
  })
  return { target: matrix.box, matrix }
}

/** How long the side of a picture is: cells with names have room for them.
    @type {(count: number, small: number) => number} */
export function sideOf(count, small) {
  return count <= MOST_NAMES ? count * 24 : Math.min(340, Math.max(MOST_NAMES * 10, count * small))
}

/** @type {(shown: Shown, event: MouseEvent) => Cell | null} */
function pointedAt({ grid, matrix, part }, event) {
  const box = matrix?.canvas.getBoundingClientRect()
  if (box) return cellAt(event, box, part.rows, part.columns)
  const cell = under(event, ".cell")
  const row = cell ? (grid ?? []).findIndex((line) => line.includes(cell)) : -1
  return cell && grid && row >= 0 ? [row, grid[row].indexOf(cell)] : null
}

/** @type {(view: View, shown: Shown, pickable: boolean) => void} */
function listen(view, shown, pickable) {
  const { target, grid } = shown
  target.addEventListener("pointermove", (event) => {
    const cell = pointedAt(shown, event)
    if (!cell) return
    if (view.shown.at(-1) === shown) light(view, cell)
    view.readout.textContent = words(shown.part, shown.cells, cell)
  })
  target.addEventListener("pointerleave", () => light(view, view.content.chosen))
  target.role = pickable ? (grid ? "grid" : "application") : grid ? "table" : "img"
  if (!pickable) return
  target.tabIndex = 0
  target.classList.add("pickable")
  target.addEventListener("click", (event) => pick(view, pointedAt(shown, event)))
  target.addEventListener("keydown", (event) => {
    const { rows, columns } = shown.part
    const cell = cellAfter(event.key, view.content.chosen ?? [0, 0], rows, columns)
    if (!cell) return
    event.preventDefault()
    pick(view, cell)
  })
}

/** @type {(view: View, cell: Cell | null) => void} */
function pick(view, cell) {
  if (!cell) return
  view.content.chosen = cell
  light(view, cell)
  view.send("cell", cell, 40)
}

/** Lights, in every matrix, what the pointed-at cell of the result is made from.
    @type {(view: View, cell: Cell | null) => void} */
function light(view, cell) {
  for (const { part, grid, matrix } of view.shown) {
    const [row, column] = cell ? lit(part.lights, cell) : [null, null]
    const none = row === null && column === null
    for (const [r, line] of (grid ?? []).entries())
      for (const [c, element] of line.entries())
        element.classList.toggle("lit", !none && (row ?? r) === r && (column ?? c) === c)
    if (matrix) frameCells(matrix, matrix.frames.band, row, column)
  }
  const last = view.shown[view.shown.length - 1]
  view.readout.textContent = cell ? words(last.part, last.cells, cell) : ""
}

/** The row and the column of a matrix that go into a cell of the result; null: all of them.
    @type {(lights: string, cell: Cell) => [number | null, number | null]} */
export function lit(lights, [row, column]) {
  if (lights === "cell") return [row, column]
  if (lights === "row") return [row, null]
  if (lights === "column") return [null, column]
  if (lights === "row of the column") return [column, null]
  return lights === "column of the row" ? [null, row] : [null, null]
}

/** What is said of a cell.
    @type {(part: Part, cells: Float32Array, cell: Cell) => string} */
export function words(part, cells, [row, column]) {
  if (row >= part.rows || column >= part.columns) return ""
  const at = `${part.rowNames[row] ?? row}, ${part.columnNames[column] ?? column}`
  return `${part.name} [${at}] = ${told(part, cells[row * part.columns + column])}`
}

/** A number of a matrix; an integer among integers as such.
    @type {(part: Pick<Part, "masked" | "whole">, number: number) => string} */
export function told({ masked, whole }, number) {
  return whole && Number.isFinite(number) ? fixed(number, 0) : format(number, masked)
}

/** @type {(number: number, masked: boolean) => string} */
export function format(number, masked) {
  if (Number.isNaN(number)) return masked ? "masked" : "not a number"
  return inFull(number)
}

/** @type {(view: View, shown: Shown) => void} */
function colour({ frame }, { part, cells: numbers, grid, matrix, target }) {
  const { kind, masked, most, rows, columns } = part
  const shades = ramp(palette(frame, kind === "share" ? "sequential" : "diverging"))
  const low = kind === "share" ? 0 : -most
  target.ariaLabel = `${part.name}, ${rows} rows, ${columns} columns`
  if (matrix) paintMatrix(matrix, numbers, [low, most], shades)
  for (const [index, element] of (grid ?? []).flat().entries()) {
    const blank = Number.isNaN(numbers[index])
    const typed = part.texts[index] ?? null
    const number = blank
      ? (typed ?? (masked ? "" : told(part, Number.NaN)))
      : told(part, numbers[index])
    const label = typed === null ? element : element.firstElementChild
    if (label) label.textContent = number
    if (label?.nextElementSibling) label.nextElementSibling.ariaInvalid = String(blank && !masked)
    element.classList.toggle("wrong", blank && !masked && typed !== null)
    element.classList.toggle("masked", blank)
    const pixel = shadeOf(numbers[index], low, most, shades)
    element.style.background = blank ? "" : rgb(pixel)
    element.style.color = blank ? "" : inkOn(pixel)
  }
}
