import { rowAfter } from "./cells.js"
import { under } from "./elements.js"
import { choose, pointAt, where } from "./selection.js"

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

/** Points at what lies under the pointer, and chooses its query by a click; at: what lies there, null
    where nothing does.
    @type {(element: HTMLElement,
      at: (event: MouseEvent) => { query: number, key?: number } | null) => void} */
export function listenToCells(element, at) {
  element.addEventListener("pointermove", (event) => pointAt(at(event)))
  element.addEventListener("pointerleave", () => pointAt(null))
  element.addEventListener("click", (event) => {
    const cell = at(event)
    if (cell) choose("query", cell.query)
  })
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
