import { inkOn } from "./colours.js"
import { make, makeName, setLengths } from "./elements.js"
import { paintNumbers, sharp } from "./painter.js"

/** @import { Gaps, Numbers, Scale } from "./painter.js"

    Where a matrix stands: names along its edges, and a box with its cells, hatched where they are
    no numbers. rows, columns: how many there are; cell: how wide one is, in pixels; frames: around
    some of its cells, by name.
    @typedef {{ rows: number, columns: number, cell: number, box: HTMLElement,
      canvas: HTMLCanvasElement, written: HTMLElement, frames: Record<string, HTMLElement> }} Matrix

    across, down: names, none = no such edge; those that are marked stand out; room: the width of
    those at the side; label: in words, none = nothing is said of the picture.
    @typedef {{ rows: number, columns: number, width: number, height: number, across?: string[],
      down?: string[], marked?: boolean[], room?: number, label?: string, frames?: string[] }} Made */

export const LEAST_NAMED = 13 // pixels of a cell that has its name
const LEAST_LINED = 8 // pixels of a cell that has hairlines around it
const LETTERS = [12, 11] // pixels of numbers in cells; smaller ones could not be read
const WIDTH_OF_LETTER = 0.5 // of its height, on average
const AROUND = 4 // pixels

/** @type {(parent: HTMLElement, made: Made) => Matrix} */
export function makeMatrix(parent, { across, down, marked, room, label, frames = [], ...made }) {
  const { rows, columns, width, height } = made
  const cell = width / columns
  if (across) makeEdge("across", parent, across, marked)
  const edge = down && makeEdge("down", parent, down, marked)
  if (edge && room !== undefined) setLengths(edge, { width: room })
  const box = make("div", "box", parent)
  setLengths(box, { width, height })
  const looks = label ? { role: "img", ariaLabel: label } : { ariaHidden: "true" }
  const canvas = make("canvas", "", box, looks)
  canvas.style.imageRendering = cell < 1 ? "auto" : "pixelated"
  setLengths(make("div", "lines", box, { hidden: cell < LEAST_LINED || columns === 1 }), {
    "--cell": cell,
  })
  const written = make("div", "written", box, { ariaHidden: "true" })
  const around = frames.map((name) => [name, make("div", `around ${name}`, box, { hidden: true })])
  return { rows, columns, cell, box, canvas, written, frames: Object.fromEntries(around) }
}

/** Names along an edge of a picture; those that are marked stand out.
    @type {(kind: string, parent: HTMLElement, names: string[], marked?: boolean[]) => HTMLElement} */
function makeEdge(kind, parent, names, marked = []) {
  const edge = make("div", kind, parent)
  for (const [at, name] of names.entries())
    makeName("span", marked[at] ? "changed" : "", edge, name)
  return edge
}

/** Paints its cells, and writes the numbers into them where there are texts and room for all.
    @type {(matrix: Pick<Matrix, "rows" | "columns" | "cell" | "canvas" | "written">,
      numbers: Numbers, scale: Scale, shades: Uint32Array, texts?: string[], gaps?: Gaps) => void} */
export function paintMatrix(matrix, numbers, scale, shades, texts = [], gaps) {
  const { rows, columns, cell, canvas, written } = matrix
  const pixels = paintNumbers(canvas, columns, numbers, scale, shades, gaps)
  const size = letterSize(texts, cell)
  const spans = (size ? texts : []).map((textContent) => make("span", "", null, { textContent }))
  if (!spans.length && !written.firstChild) return
  for (const [at, span] of spans.entries()) span.style.color = inkOn(pixels[at])
  written.replaceChildren(...spans)
  written.style.fontSize = `${size}px`
  written.style.gridTemplate = `repeat(${rows}, minmax(0, 1fr)) / repeat(${columns}, minmax(0, 1fr))`
}

/** The size at which all texts have room in cells of so many pixels, 0 where they have none.
    @type {(texts: string[], cell: number) => number} */
export function letterSize(texts, cell) {
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 0)
  return LETTERS.find((size) => longest * size * WIDTH_OF_LETTER + AROUND <= cell) ?? 0
}

/** Puts a frame around a cell, or around a row or a column where the other is null; where both are,
    around nothing.
    @type {(matrix: Pick<Matrix, "rows" | "columns">, frame: HTMLElement, row: number | null,
      column: number | null) => void} */
export function frameCells({ rows, columns }, frame, row, column) {
  const [top, height] = row === null ? [0, 100] : [(100 * row) / rows, 100 / rows]
  const [left, width] = column === null ? [0, 100] : [(100 * column) / columns, 100 / columns]
  frame.hidden = row === null && column === null
  frame.style.inset = `${top}% auto auto ${left}%`
  Object.assign(frame.style, { width: `${width}%`, height: `${height}%` })
}

/** A bar for each row, as long as its share of 1; what is no number has none.
    @type {(canvas: HTMLCanvasElement, shares: Float32Array, width: number, height: number) => void} */
export function paintBars(canvas, shares, width, height) {
  const context = sharp(canvas, width, height)
  const cell = height / shares.length
  const thick = Math.max(1, Math.min(14, cell * 0.6))
  context.fillStyle = getComputedStyle(canvas).getPropertyValue("--st-primary-color")
  for (const [row, share] of shares.entries())
    if (share > 0)
      context.fillRect(0, (row + 0.5) * cell - thick / 2, Math.max(1, width * share), thick)
}
