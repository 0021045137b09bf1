import { under } from "./elements.js"
import { choose, pointAt, where } from "./selection.js"

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

/** Arrow keys, Home, End and Enter choose one of so many queries.
    @type {(element: HTMLElement, count: () => number) => void} */
export function chooseByKeys(element, count) {
  element.addEventListener("keydown", (event) => {
    const next = rowAfter(event.key, where(count()).held, count())
    if (next === undefined) return
    event.preventDefault()
    choose("query", next)
  })
}

/** Points at what lies under the pointer, chooses its query by a click, and others by keys; at: what
    lies there, null where nothing does.
    @type {(element: HTMLElement, count: () => number,
      at: (event: PointerEvent | MouseEvent) => { query: number, key?: number | null } | null) => void} */
export function listenToCells(element, count, at) {
  chooseByKeys(element, count)
  element.addEventListener("pointermove", (event) => pointAt(at(event)))
  element.addEventListener("pointerleave", () => pointAt(null))
  element.addEventListener("click", (event) => {
    const cell = at(event)
    if (cell) choose("query", cell.query)
  })
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

/** Lists of query and key tokens: pointing at one shows it for the moment, a click or a key chooses
    a query.
    @typedef {Record<"queries" | "keys", HTMLElement>} Lists
    @typedef {Lists & Record<"options" | "items", HTMLElement[]>} Tokens
    @type {(view: Tokens) => void} */
export function listenToTokens(view) {
  const { queries, keys } = view
  const ariaLabel = "Choose a query token; arrow keys move"
  Object.assign(queries, { tabIndex: 0, role: "listbox", ariaLabel })
  /** @type {(list: "queries" | "keys", kind: string, task: (at: number) => void) => void} */
  const listen = (list, kind, task) =>
    view[list].addEventListener(kind, (event) => {
      const token = under(event, ".token")
      if (token) task(view[list === "keys" ? "items" : "options"].indexOf(token))
    })
  listen("queries", "pointerover", (query) => pointAt({ query }))
  listen("queries", "click", (query) => choose("query", query))
  listen("keys", "pointerover", (key) => pointAt({ key }))
  for (const list of [queries, keys]) list.addEventListener("pointerleave", () => pointAt(null))
  chooseByKeys(queries, () => view.options.length)
}

/** Marks the chosen query, and the one whose row is shown for the moment.
    @type {(view: Pick<Tokens, "queries" | "options">, held: number, query: number) => void} */
export function markQueries({ queries, options }, held, query) {
  for (const option of queries.querySelectorAll("[aria-selected=true], .previewed")) {
    option.setAttribute("aria-selected", "false")
    option.classList.remove("previewed")
  }
  options[held]?.setAttribute("aria-selected", "true")
  if (query !== held) options[query]?.classList.add("previewed")
  queries.setAttribute("aria-activedescendant", `option-${held}`)
}
