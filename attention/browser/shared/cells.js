/** The row that a key leads to from another one, or none.
    @type {(key: string, at: number, count: number) => number | undefined} */
export function rowAfter(key, at, count) {
  const rows = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: count - 1, Enter: at }
  if (!Object.hasOwn(rows, key)) return undefined
  return Math.min(count - 1, Math.max(0, rows[/** @type {keyof typeof rows} */ (key)]))
}

/** The item of a line that a key leads to from another one, to the side too, or none.
    @type {(key: string, at: number, count: number) => number | undefined} */
export function itemAfter(key, at, count) {
  const sides = { ArrowLeft: "ArrowUp", ArrowRight: "ArrowDown" }
  return rowAfter(sides[/** @type {keyof typeof sides} */ (key)] ?? key, at, count)
}

/** The row and the column of the cell at a point, of the nearest one beyond the edge.
    @typedef {{ left: number, top: number, width: number, height: number }} Box
    @typedef {{ clientX: number, clientY: number }} Point
    @type {(point: Point, box: Box, rows: number, columns: number) => [number, number]} */
export function cellAt({ clientX, clientY }, { left, top, width, height }, rows, columns) {
  /** @type {(share: number, count: number) => number} */
  const within = (share, count) => Math.min(count - 1, Math.max(0, Math.floor(share * count)))
  return [within((clientY - top) / height, rows), within((clientX - left) / width, columns)]
}

/** The cell that a key leads to, or none; Enter and the space bar stay at the same one.
    @typedef {[number, number]} Cell
    @type {(key: string, from: Cell, rows: number, columns: number) => Cell | null} */
export function cellAfter(key, [row, column], rows, columns) {
  /** @type {Record<string, Cell>} */
  const cells = {
    ...{ ArrowUp: [row - 1, column], ArrowDown: [row + 1, column] },
    ...{ ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1] },
    ...{ Home: [0, 0], End: [rows - 1, columns - 1], Enter: [row, column], " ": [row, column] },
  }
  if (!Object.hasOwn(cells, key)) return null
  const within = (/** @type {number} */ at, /** @type {number} */ count) =>
    Math.min(count - 1, Math.max(0, at))
  return [within(cells[key][0], rows), within(cells[key][1], columns)]
}
