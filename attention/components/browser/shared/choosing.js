import { settle } from "./elements.js"

const KEYS_OF_ROWS = { ArrowUp: (at) => at - 1, ArrowDown: (at) => at + 1, Home: () => 0, End: (at, last) => last, Enter: (at) => at }

/* Arrow keys, Home, End and Enter choose a row; `standing` gives the chosen one and how many there are. */
export function chooseByKeys(element, standing, choose) {
  element.addEventListener("keydown", (event) => {
    const [at, count] = standing()
    const next = KEYS_OF_ROWS[event.key]?.(at, count - 1)
    if (next === undefined) return
    event.preventDefault()
    choose(Math.min(count - 1, Math.max(0, next)))
  })
}

/* A list of query tokens: pointing at one shows its row for the moment, a click or a key chooses it. */
export function listenToQueries(view, show, reveal) {
  const { queries } = view
  queries.tabIndex = 0
  queries.setAttribute("role", "listbox")
  queries.setAttribute("aria-label", "Choose a query token; arrow keys move")
  const position = (event) => view.options.indexOf(event.target.closest(".token"))
  const choose = (query) => {
    const changed = query !== view.query
    view.query = query
    show(view, query)
    reveal(view)
    if (changed) settle(view, 60, () => view.select(query))
  }
  queries.addEventListener("pointerover", (event) => position(event) >= 0 && show(view, position(event)))
  queries.addEventListener("pointerleave", () => show(view, view.query))
  queries.addEventListener("click", (event) => position(event) >= 0 && choose(position(event)))
  chooseByKeys(queries, () => [view.query, view.options.length], choose)
}

/* Marks the chosen query, and the one whose row is shown for the moment. */
export function markQueries(view, query) {
  for (const option of view.queries.querySelectorAll("[aria-selected=true], .previewed")) {
    option.setAttribute("aria-selected", "false")
    option.classList.remove("previewed")
  }
  view.options[view.query]?.setAttribute("aria-selected", "true")
  if (query !== view.query) view.options[query]?.classList.add("previewed")
  view.queries.setAttribute("aria-activedescendant", `option-${view.query}`)
}
