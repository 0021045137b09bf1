import { settle, under } from "./elements.js"

/** The row that a key leads to from another one, or none.
    @type {(key: string, at: number, count: number) => number | undefined} */
export function rowAfter(key, at, count) {
  const rows = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: count - 1, Enter: at }
  if (!Object.hasOwn(rows, key)) return undefined
  return Math.min(count - 1, Math.max(0, rows[/** @type {keyof typeof rows} */ (key)]))
}

/** Arrow keys, Home, End and Enter choose a row; `standing` tells the chosen one and their count.
    @type {(element: HTMLElement, standing: () => [number, number],
      choose: (row: number) => void) => void} */
export function chooseByKeys(element, standing, choose) {
  element.addEventListener("keydown", (event) => {
    const next = rowAfter(event.key, ...standing())
    if (next === undefined) return
    event.preventDefault()
    choose(next)
  })
}

/** The row and the column of the cell at a place, of the nearest one beyond the edge.
    @typedef {{ left: number, top: number, width: number, height: number }} Box
    @typedef {{ clientX: number, clientY: number }} Point
    @type {(point: Point, box: Box, rows: number, columns: number) => [number, number]} */
export function cellAt({ clientX, clientY }, { left, top, width, height }, rows, columns) {
  /** @type {(share: number, count: number) => number} */
  const within = (share, count) => Math.min(count - 1, Math.max(0, Math.floor(share * count)))
  return [within((clientY - top) / height, rows), within((clientX - left) / width, columns)]
}

/** A list of query tokens: pointing at one shows its row for the moment, a click or a key
    chooses it.
    @typedef {{ queries: HTMLElement, options: HTMLElement[], query: number,
      select: (query: number) => void }} Choosing
    @type {<View extends Choosing>(view: View, show: (view: View, query: number) => void,
      reveal: (view: View) => void) => void} */
export function listenToQueries(view, show, reveal) {
  const { queries } = view
  queries.tabIndex = 0
  queries.setAttribute("role", "listbox")
  queries.setAttribute("aria-label", "Choose a query token; arrow keys move")
  /** @type {(task: (query: number) => void) => (event: Event) => void} */
  const pointed = (task) => (event) => {
    const token = under(event, ".token")
    if (token) task(view.options.indexOf(token))
  }
  /** @type {(query: number) => void} */
  const choose = (query) => {
    const changed = query !== view.query
    view.query = query
    show(view, query)
    reveal(view)
    if (changed) settle(view, 60, () => view.select(query))
  }
  const preview = pointed((query) => show(view, query))
  queries.addEventListener("pointerover", preview)
  queries.addEventListener("pointerleave", () => show(view, view.query))
  queries.addEventListener("click", pointed(choose))
  chooseByKeys(queries, () => [view.query, view.options.length], choose)
}

/** Marks the chosen query, and the one whose row is shown for the moment.
    @type {(view: Choosing, query: number) => void} */
export function markQueries(view, query) {
  for (const option of view.queries.querySelectorAll("[aria-selected=true], .previewed")) {
    option.setAttribute("aria-selected", "false")
    option.classList.remove("previewed")
  }
  view.options[view.query]?.setAttribute("aria-selected", "true")
  if (query !== view.query) view.options[query]?.classList.add("previewed")
  view.queries.setAttribute("aria-activedescendant", `option-${view.query}`)
}
