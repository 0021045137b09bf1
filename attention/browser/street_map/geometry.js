/** Where one looks: the cell at the left and the top, and how many pixels one cell has.
    @typedef {{ left: number, top: number, cell: number }} Place
    @typedef {{ rows: number, columns: number }} Counts
    @typedef {{ width: number, height: number }} Room
    @typedef {[level: number, row: number, column: number]} At */

export const EXACT = -1 // the level of tiles of weights
export const READABLE = 10 // pixels of a cell from which on these are shown
const LARGEST = 64
const STEPS = [1, 2, 5]

/** Pixels of a cell at which all cells have room.
    @type {(counts: Counts, room: Room) => number} */
export function fitting({ rows, columns }, { width, height }) {
  return Math.min(LARGEST, width / columns, height / rows)
}

/** The level whose squares are at least a pixel, or that of weights.
    @type {(cell: number, top: number) => number} */
export function levelAt(cell, top) {
  if (cell >= READABLE) return EXACT
  return Math.min(top, Math.max(0, Math.ceil(-Math.log2(cell) - 1e-9)))
}

/** Cells along a square of a level.
    @type {(level: number) => number} */
export const blockOf = (level) => (level === EXACT ? 1 : 2 ** level)

/** Cells along a tile.
    @type {(level: number, sides: { side: number, exactSide: number }) => number} */
export function sideOf(level, { side, exactSide }) {
  return level === EXACT ? exactSide : side * blockOf(level)
}

/** The tiles of a level that are to be seen.
    @type {(place: Place, level: number, side: number, counts: Counts, room: Room) => At[]} */
export function tilesIn({ left, top, cell }, level, side, { rows, columns }, { width, height }) {
  /** @type {(start: number, pixels: number, count: number) => number[]} */
  const along = (start, pixels, count) => {
    const last = Math.min(count, start + pixels / cell) - 1e-9
    const first = Math.floor(Math.max(0, start) / side)
    const many = Math.max(0, Math.floor(last / side) - first + 1)
    return Array.from({ length: many }, (_, at) => first + at)
  }
  const across = along(left, width, columns)
  return along(top, height, rows).flatMap((row) =>
    across.map((column) => /** @type {At} */ ([level, row, column])),
  )
}

/** A place with cells of another size, in which a point of the picture stays where it is.
    @type {(place: Place, factor: number, x: number, y: number, counts: Counts, room: Room)
      => Place} */
export function zoomed({ left, top, cell }, factor, x, y, counts, room) {
  const now = Math.min(LARGEST, Math.max(fitting(counts, room), cell * factor))
  return within(
    { left: left + x / cell - x / now, top: top + y / cell - y / now, cell: now },
    counts,
    room,
  )
}

/** The nearest place that shows no more than the map.
    @type {(place: Place, counts: Counts, room: Room) => Place} */
export function within({ left, top, cell }, { rows, columns }, { width, height }) {
  /** @type {(start: number, count: number, pixels: number) => number} */
  const held = (start, count, pixels) => Math.max(0, Math.min(start, count - pixels / cell))
  return { left: held(left, columns, width), top: held(top, rows, height), cell }
}

/** The first row and column that are to be seen, and how many; nothing where that is the whole.
    @type {(place: Place, counts: Counts, room: Room) => number[]} */
export function partOf({ left, top, cell }, counts, room) {
  if (cell <= fitting(counts, room)) return []
  const [row, column] = [Math.floor(top), Math.floor(left)]
  const rows = Math.ceil(Math.min(counts.rows, top + room.height / cell)) - row
  const columns = Math.ceil(Math.min(counts.columns, left + room.width / cell)) - column
  return [row, column, rows, columns]
}

/** A place with a cell in its middle, and cells of at least so many pixels.
    @type {(place: Place, row: number, column: number, least: number, counts: Counts, room: Room)
      => Place} */
export function around(place, row, column, least, counts, room) {
  const cell = Math.max(place.cell, least)
  const [left, top] = [column + 0.5 - room.width / cell / 2, row + 0.5 - room.height / cell / 2]
  return within({ left, top, cell }, counts, room)
}

/** A place that has moved no further than it takes to show a cell, as arrow keys lead to it.
    @type {(place: Place, row: number, column: number, counts: Counts, room: Room) => Place} */
export function showing(place, row, column, counts, room) {
  /** @type {(start: number, at: number, pixels: number) => number} */
  const held = (start, at, pixels) => Math.min(at, Math.max(start, at + 1 - pixels / place.cell))
  const left = held(place.left, column, room.width)
  return within({ left, top: held(place.top, row, room.height), cell: place.cell }, counts, room)
}

/** Positions to be written along an edge, at least so many pixels apart: every 1, 2, 5, 10, …
    @type {(start: number, cell: number, pixels: number, count: number, apart: number)
      => number[]} */
export function ticks(start, cell, pixels, count, apart) {
  let [step, power, at] = [1, 1, 0]
  while (step * cell < apart) {
    at = (at + 1) % STEPS.length
    if (at === 0) power *= 10
    step = STEPS[at] * power
  }
  const first = Math.ceil(Math.max(0, start) / step)
  const last = Math.floor((Math.min(count, start + pixels / cell) - 0.5) / step)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, more) => (first + more) * step)
}

/** The cell that a key leads to, or none; a page is as many cells as are seen.
    @type {(event: { key: string, ctrlKey?: boolean }, cell: [number, number], counts: Counts,
      page: Counts) => [number, number] | null} */
export function cellAfter({ key, ctrlKey }, [row, column], { rows, columns }, page) {
  /** @type {Record<string, [number, number]>} */
  const cells = {
    ...{ ArrowUp: [row - 1, column], ArrowDown: [row + 1, column] },
    ...{ ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1] },
    ...{ PageUp: [row - page.rows, column], PageDown: [row + page.rows, column] },
    ...{ Home: [ctrlKey ? 0 : row, 0], End: [ctrlKey ? rows - 1 : row, columns - 1] },
  }
  if (!Object.hasOwn(cells, key)) return null
  const [down, across] = cells[key]
  return [Math.min(rows - 1, Math.max(0, down)), Math.min(columns - 1, Math.max(0, across))]
}

/** The shade of a weight, as `shades` in Python gives it: by equal ratios of its size, from the least
    one to 1.
    @type {(weight: number, least: number) => number} */
export function shadeOfWeight(weight, least) {
  if (!weight) return 0
  const share = (1 - Math.log(Math.abs(weight)) / Math.log(least)) * 254
  return 1 + Math.min(254, Math.max(0, Math.round(share)))
}

/** The weight that a shade stands for, about.
    @type {(shade: number, least: number) => number} */
export function weightOf(shade, least) {
  return shade === 0 ? 0 : least ** (1 - (shade - 1) / 254)
}

/** The colour of each shade: by equal ratios, or as the weight itself; none for no weight.
    @type {(shades: Uint32Array, least: number, even: boolean) => Uint32Array<ArrayBuffer>} */
export function tableOf(shades, least, even) {
  const table = new Uint32Array(256)
  for (let shade = 1; shade < 256; shade++) {
    const share = even ? weightOf(shade, least) : (shade - 1) / 254
    table[shade] = shades[Math.round(share * (shades.length - 1))]
  }
  return table
}

/** The greatest size of the weights of keys that share a pixel, for each of so many.
    @type {(weights: Float32Array, pixels: number) => Float32Array} */
export function profile(weights, pixels) {
  const most = new Float32Array(pixels)
  const each = pixels / weights.length
  for (let key = 0; key < weights.length; key++) {
    const first = Math.floor(key * each)
    const last = Math.max(first, Math.ceil((key + 1) * each) - 1)
    for (let at = first; at <= last && at < pixels; at++)
      most[at] = Math.max(most[at], Math.abs(weights[key]))
  }
  return most
}
