import { cellAt } from "../shared/cells.js"
import { chooseByClick, chooseByKeys, listenTo } from "../shared/choosing.js"
import { palette, ramp, writeScale } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { make, under } from "../shared/elements.js"
import { frameCells, LEAST_NAMED, makeMatrix, paintBars, paintMatrix } from "../shared/matrix.js"
import { countDrawing } from "../shared/painter.js"
import { whenMoved, where } from "../shared/selection.js"
import { fixed, inFull, precise, roomFor } from "../shared/words.js"

/** @import { Mount } from "../shared/component.js"
    @import { Made, Matrix } from "../shared/matrix.js"
    @typedef {Pick<import("../shared/message.js").Content<"comparison">,
      "names" | "maps" | "numbers" | "rest">} Content
    @typedef {ReturnType<typeof build>} View */

const MOST_SIDE = 400
const LARGEST_CELL = 64
const WRITTEN = [34, 44] // pixels of a cell with two decimals, and with three
const BARS = 124
const BETWEEN = 20
const WIDE = 680

export default component(build, draw)

/** @param {Mount<"comparison">} mount */
function build({ root, content }) {
  const frame = make("div", "frame", root)
  const row = make("div", "row", frame, { tabIndex: 0, role: "application" })
  const readout = make("p", "readout", frame, { role: "status" })
  const matrices = /** @type {Matrix[]} */ ([])
  const view = { content, frame, row, readout, matrices, width: 0 }
  chooseByKeys(row, () => view.content.names.length)
  listenTo(row, (event) => pointedAt(view, event), "pointermove")
  chooseByClick(row, (event) => pointedAt(view, event)?.query ?? -1)
  whenMoved(frame, () => mark(view))
  return view
}

/** @type {(view: View, event: MouseEvent) => { query: number, key?: number } | null} */
function pointedAt({ matrices }, event) {
  const name = under(event, ".down span")
  if (name) return { query: [...(name.parentNode?.children ?? [])].indexOf(name) }
  const matrix = matrices.find(({ box }) => box === under(event, ".box"))
  if (!matrix) return null
  const { canvas, rows, columns } = matrix
  const [query, key] = cellAt(event, canvas.getBoundingClientRect(), rows, columns)
  return columns === 1 ? { query } : { query, key }
}

/** The heatmaps, and a bar for each row: weights that are no shares have no divergence. All in new
    elements: on paper a canvas that was cleared covers what lies below it.
    @type {(view: View) => void} */
function draw(view) {
  const { content, frame, row } = view
  const { names, changed, maps, numbers } = content
  const size = names.length
  view.width = frame.clientWidth
  if (!view.width) return
  const bits = numbers.subarray(maps.length * size ** 2)
  const diverges = !bits.every(Number.isNaN)
  const wide = view.width > WIDE
  const beside = (/** @type {number} */ room) =>
    wide
      ? (view.width - (diverges ? BARS : 0) - 3 * BETWEEN - room - 16) / 3
      : view.width - room - 8
  const fit = (/** @type {number} */ room) => Math.min(MOST_SIDE, LARGEST_CELL * size, beside(room))
  const labelled = fit(roomFor(names)) / size >= LEAST_NAMED
  const room = labelled ? roomFor(names) : 0
  const side = Math.max(1, Math.floor(fit(room)))
  /** @type {(first: boolean) => Partial<Made>} */
  const edges = (first) => ({ across: names, down: first || !wide ? names : undefined })
  const shared = { rows: size, height: side, marked: changed, room, frames: ["chosen", "pointed"] }
  row.replaceChildren()
  view.matrices = maps.map(({ title, kind, most }, index) => {
    const { figure, legend } = makeFigure(row, title)
    const made = { ...shared, columns: size, width: side }
    const matrix = makeMatrix(figure, { ...made, ...(labelled ? edges(index === 0) : {}) })
    const low = kind === "diverging" ? -most : 0
    const colours = palette(frame, kind)
    const cells = numbers.subarray(index * size ** 2, (index + 1) * size ** 2)
    paintMatrix(matrix, cells, [low, most], ramp(colours), textsOf(cells, matrix.cell, most))
    writeScale(legend, colours, endOf(low), endOf(most))
    countDrawing(matrix.canvas)
    return matrix
  })
  if (diverges) {
    const { figure, legend } = makeFigure(row, "divergence")
    legend.textContent = "0 – 1 bit"
    const down = labelled && room + side + BETWEEN + BARS + 16 > view.width ? names : undefined
    const named = { across: labelled ? [] : undefined, down }
    const matrix = makeMatrix(figure, { ...shared, columns: 1, width: BARS, ...named })
    matrix.box.classList.add("bits")
    paintBars(matrix.canvas, bits, BARS, side)
    view.matrices.push(matrix)
  }
  const titles = maps.map(({ title }) => title).join(", ")
  row.ariaLabel = `${titles}: ${size} queries down, ${size} keys across. Arrow keys choose a query.`
  mark(view)
}

/** @type {(parent: HTMLElement, title: string) => Record<"figure" | "legend", HTMLElement>} */
function makeFigure(parent, title) {
  const figure = make("figure", "", parent)
  const caption = make("figcaption", "", figure)
  make("b", "", caption, { textContent: title })
  return { figure, legend: make("span", "legend", caption) }
}

/** Cells with room for it hold their numbers, unless so few decimals would tell none of them.
    @type {(cells: Float32Array, cell: number, most: number) => string[]} */
function textsOf(cells, cell, most) {
  const digits = cell >= WRITTEN[1] ? 3 : 2
  if (cell < WRITTEN[0] || most < 10 ** -digits) return []
  return Array.from(cells, (number) => (Number.isNaN(number) ? "" : fixed(number, digits)))
}

/** An end of a scale as its legend says it.
    @type {(end: number) => string} */
function endOf(end) {
  if (end === 0) return "0"
  return Math.abs(end) < 0.01 ? precise(end, 2) : fixed(end, 2)
}

/** The chosen row, and the cell that is pointed at, the same in all pictures, with its numbers.
    @type {(view: View) => void} */
function mark({ matrices, content, readout }) {
  const { held, query, key } = where(content.names.length)
  for (const matrix of matrices) {
    const points = key !== null && matrix.columns > 1
    frameCells(matrix, matrix.frames.chosen, held, null)
    frameCells(matrix, matrix.frames.pointed, points ? query : null, points ? key : null)
  }
  readout.textContent = words(content, query, key)
}

/** What is said of a cell, or without a column of a whole row.
    @type {(content: Content, row: number, column: number | null) => string} */
export function words({ names, maps, numbers, rest }, row, column) {
  const name = `“${names[row]}”`
  const size = names.length
  if (column === null) {
    const bits = numbers[maps.length * size ** 2 + row]
    const diverge = Number.isNaN(bits) ? "has no divergence" : `diverges by ${inFull(bits)} bits`
    return `${name} ${diverge}. Point at a cell for its numbers; click to choose its row.`
  }
  const told = maps.map(({ title }, index) => {
    const cell = (index * size + row) * size + column
    const value = numbers[cell]
    if (Number.isNaN(value)) return `${title} ${rest[cell] ? "—" : "masked"}`
    return `${title} ${index === 2 && value > 0 ? "+" : ""}${inFull(value)}`
  })
  return `${name} to “${names[column]}”: ${told.join(" · ")}`
}
