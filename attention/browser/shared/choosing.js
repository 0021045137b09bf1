import { rowAfter } from "./cells.js"
import { placeUnder } from "./elements.js"
import { choose, pointAt, where } from "./selection.js"

/** @import { Pointed } from "./selection.js" */

/** Points at what lies under the pointer; at: what lies there, null where nothing does.
    @type {(element: HTMLElement, at: (event: PointerEvent) => Pointed | null,
      kind?: "pointerover" | "pointermove") => void} */
export function listenTo(element, at, kind = "pointerover") {
  element.addEventListener(kind, (event) => pointAt(at(event)))
  element.addEventListener("pointerleave", () => pointAt(null))
}

/** A click chooses the query that lies there; at: which one, -1: none.
    @type {(element: HTMLElement, at: (event: MouseEvent) => number) => void} */
export function chooseByClick(element, at) {
  element.addEventListener("click", (event) => {
    const query = at(event)
    if (query >= 0) choose("query", query)
  })
}

/** Arrow keys, Home, End and Enter choose one of so many queries; after: which one a key leads to.
    @type {(element: HTMLElement, count: () => number, after?: typeof rowAfter) => void} */
export function chooseByKeys(element, count, after = rowAfter) {
  element.addEventListener("keydown", (event) => {
    const next = after(event.key, where(count()).held, count())
    if (next === undefined) return
    event.preventDefault()
    choose("query", next)
  })
}

/** A list of tokens, one of which is chosen, by a click or a key, and one pointed at: as a query,
    or as a key of the chosen one.
    @typedef {{ queries: HTMLElement, options: HTMLElement[] }} Queries
    @type {(view: Queries, as: "query" | "key", after?: typeof rowAfter) => void} */
export function listenToQueries(view, as, after) {
  const { queries } = view
  const at = (/** @type {MouseEvent} */ event) => placeUnder(event, view.options)
  listenTo(queries, (event) => (at(event) < 0 ? null : { [as]: at(event) }))
  chooseByClick(queries, at)
  chooseByKeys(queries, () => view.options.length, after)
}

/** Marks the chosen query, and the one whose row is shown for the moment.
    @type {(view: Queries, held: number, query: number) => void} */
export function markQueries({ queries, options }, held, query) {
  for (const option of queries.querySelectorAll("[aria-selected=true], .previewed")) {
    option.setAttribute("aria-selected", "false")
    option.classList.remove("previewed")
  }
  options[held]?.setAttribute("aria-selected", "true")
  if (query !== held) options[query]?.classList.add("previewed")
  queries.setAttribute("aria-activedescendant", `option-${held}`)
}
