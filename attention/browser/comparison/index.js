import { cellAt } from "../shared/cells.js"
import { listenToCells } from "../shared/choosing.js"
import { palette, ramp } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { make, under } from "../shared/elements.js"
import { frameCells, LEAST_NAMED, makeMatrix, paintBars, paintMatrix } from "../shared/matrix.js"
import { countDrawing } from "../shared/painter.js"
import { whenMoved, where } from "../shared/selection.js"
import { fixed, inFull, precise, roomFor } from "../shared/words.js"

/** @import { ComparisonHeader } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @import { Matrix } from "../shared/matrix.js"
    @import { Numbers, Scale } from "../shared/painter.js"
    @typedef {Matrix & { legend: HTMLElement }} Shown
    @typedef {ReturnType<typeof build>} View */

const MOST_SIDE = 400
const LARGEST_CELL = 64
const WRITTEN = [34, 44] // pixels of a cell with two decimals, and with three
const BARS = 124
const BETWEEN = 20
const WIDE = 680

export default component(build, take, drawAnew)

/** @type {(view: View) => void} */
function take(view) {
  const { numbers, ...content } = view.content
  const cells = content.size ** 2
  const [a, b] = [numbers.subarray(0, cells), numbers.subarray(cells, 2 * cells)]
  view.cells = [a, b, difference(a, b, content)]
  view.bits = numbers.subarray(2 * cells)
  draw(view)
}

/** What is hidden on one side has weight 0 there; what is hidden on both, or has no other side,
    is no number.
    @type {(a: Numbers, b: Numbers, content: Pick<ComparisonHeader, "size" | "both">) => Float64Array} */
export function difference(a, b, { size, both }) {
  const cells = new Float64Array(size * size)
  for (let cell = 0; cell < cells.length; cell++) {
    const paired = both[Math.floor(cell / size)] && both[cell % size]
    const masked = Number.isNaN(a[cell]) && Number.isNaN(b[cell])
    cells[cell] = !paired || masked ? Number.NaN : (b[cell] || 0) - (a[cell] || 0)
  }
  return cells
}

/** @param {Mount<"comparison">} mount */
function build({ root, content }) {
  const frame = make("div", "frame", root)
  const row = make("div", "row", frame, { tabIndex: 0, role: "application" })
  const readout = make("p", "readout", frame, { role: "status" })
  const view = {
    ...{ content, frame, row, readout, outline: "", width: 0, side: 0 },
    cells: /** @type {Numbers[]} */ ([]),
    bits: /** @type {Float32Array} */ (new Float32Array()),
    shown: /** @type {Shown[]} */ ([]),
  }
  listenToCells(
    row,
    () => view.content.size,
    (event) => pointedAt(view, event),
  )
  whenMoved(frame, () => mark(view))
  return view
}

/** @type {(view: View, event: PointerEvent | MouseEvent)
      => { query: number, key?: number } | null} */
function pointedAt({ shown }, event) {
  const name = under(event, ".down span")
  if (name) return { query: [...(name.parentNode?.children ?? [])].indexOf(name) }
  const matrix = shown.find(({ box }) => box === under(event, ".box"))
  if (!matrix) return null
  const { canvas, rows, columns } = matrix
  const [query, key] = cellAt(event, canvas.getBoundingClientRect(), rows, columns)
  return columns === 1 ? { query } : { query, key }
}

/** In new elements: on paper a canvas that was cleared covers what lies below it.
    @type {(view: View) => void} */
function drawAnew(view) {
  view.outline = ""
  draw(view)
}

/** Elements are made anew only when names or the room for them change; numbers alone are painted
    over.
    @type {(view: View) => void} */
function draw(view) {
  const { size, names, changed, titles } = view.content
  view.width = view.frame.clientWidth
  if (!view.width) return
  const diverges = !view.bits.every(Number.isNaN)
  const outline = JSON.stringify([names, changed, titles, view.width, diverges])
  if (outline !== view.outline) lay(view, diverges)
  view.outline = outline
  const most = greatest(view.cells[0], view.cells[1])
  const widest = greatest(view.cells[2])
  for (const [index, shown] of view.shown.entries()) {
    if (shown.columns === 1) {
      paintBars(shown.canvas, view.bits, { width: BARS, height: view.side, most: 1 })
      shown.legend.textContent = "0 – 1 bit"
    } else if (index < 2 && !view.content.signed)
      paint(view, shown, view.cells[index], [0, most], "sequential")
    else if (index < 2) paint(view, shown, view.cells[index], [-most, most], "diverging")
    else paint(view, shown, view.cells[index], [-widest, widest], "diverging")
  }
  const sizes = `${size} queries down, ${size} keys across`
  view.row.ariaLabel = `${titles.join(", ")}: ${sizes}. Arrow keys choose a query.`
  mark(view)
}

/** The greatest size of all numbers, or 1 where there is none.
    @type {(...lists: Numbers[]) => number} */
export function greatest(...lists) {
  let most = 0
  for (const list of lists) for (const number of list) most = Math.max(most, Math.abs(number) || 0)
  return most || 1
}

/** diverges: whether rows have a divergence, which weights that are no shares have not.
    @type {(view: View, diverges: boolean) => void} */
function lay(view, diverges) {
  const { size, names, changed, titles } = view.content
  const wide = view.width > WIDE
  const bits = diverges ? BARS : 0
  const beside = (/** @type {number} */ room) =>
    wide ? (view.width - bits - 3 * BETWEEN - room - 16) / 3 : view.width - room - 8
  const fit = (/** @type {number} */ room) => Math.min(MOST_SIDE, LARGEST_CELL * size, beside(room))
  const labelled = fit(roomFor(names)) / size >= LEAST_NAMED
  const room = labelled ? roomFor(names) : 0
  view.side = Math.max(1, Math.floor(fit(room)))
  const alone = room + view.side + BETWEEN + BARS + 16 > view.width
  view.row.replaceChildren()
  view.shown = [...titles, ...(diverges ? ["divergence"] : [])].map((title, index) => {
    const bars = index === titles.length
    const figure = make("figure", "", view.row)
    const caption = make("figcaption", "", figure)
    make("b", "", caption, { textContent: title })
    const legend = make("span", "legend", caption)
    const sides = labelled && (index === 0 || (!wide && (!bars || alone)))
    const matrix = makeMatrix(figure, {
      ...{
        rows: size,
        columns: bars ? 1 : size,
        width: bars ? BARS : view.side,
        height: view.side,
      },
      ...{ across: labelled ? (bars ? [] : names) : undefined, down: sides ? names : undefined },
      ...{ marked: changed, room, frames: ["chosen", "pointed"] },
    })
    if (bars) matrix.box.classList.add("bits")
    return { ...matrix, legend }
  })
}

/** Cells with room for it hold their numbers, unless so few decimals would tell none of them.
    @type {(view: View, shown: Shown, cells: Numbers, scale: Scale, kind: string) => void} */
function paint(view, shown, cells, scale, kind) {
  const { canvas, cell, legend } = shown
  const colours = palette(view.frame, kind)
  const digits = cell >= WRITTEN[1] ? 3 : 2
  const writes = cell >= WRITTEN[0] && greatest(cells) >= 10 ** -digits
  const texts = writes
    ? Array.from(cells, (number) => (Number.isNaN(number) ? "" : fixed(number, digits)))
    : []
  paintMatrix(shown, cells, scale, ramp(colours), texts)
  legend.style.setProperty("--shades", colours.join(","))
  const told = (/** @type {number} */ end) =>
    Math.abs(end) < 0.01 ? precise(end, 2) : fixed(end, 2)
  const [low, high] = scale.map((end) => (end === 0 ? "0" : told(end)))
  legend.replaceChildren(low, make("i", ""), high)
  countDrawing(canvas)
}

/** The chosen row, and the cell that is pointed at, the same in all pictures, with its numbers.
    @type {(view: View) => void} */
function mark({ shown, content, cells, bits, readout }) {
  const { held, query, key } = where(content.size)
  for (const matrix of shown) {
    const { chosen, pointed } = matrix.frames
    const points = key !== null && matrix.columns > 1
    frameCells(matrix, chosen, held, null)
    frameCells(matrix, pointed, points ? query : null, points ? key : null)
  }
  readout.textContent = words(content, cells, bits, query, key ?? undefined)
}

/** What is said of a cell, or without a column of a whole row.
    @type {(content: ComparisonHeader, cells: Numbers[], bits: Numbers, row: number, column?: number) => string} */
export function words({ size, names, titles, both, absent }, cells, bits, row, column) {
  const name = `“${names[row]}”`
  if (column === undefined) {
    const none = Number.isNaN(bits[row])
    const diverge = none ? "has no divergence" : `diverges by ${inFull(bits[row])} bits`
    return `${name} ${diverge}. Point at a cell for its numbers; click to choose its row.`
  }
  const told = cells.map((list, index) => {
    const value = list[row * size + column]
    if (!Number.isNaN(value))
      return `${titles[index]} ${index === 2 && value > 0 ? "+" : ""}${inFull(value)}`
    const unpaired = index === 2 && !(both[row] && both[column])
    const missing = absent[index]?.[row] || absent[index]?.[column] || unpaired
    return `${titles[index]} ${missing ? "—" : "masked"}`
  })
  return `${name} to “${names[column]}”: ${told.join(" · ")}`
}
