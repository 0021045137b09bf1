import { component, isAnswered } from "../shared/component.js"
import { make, makeName, under } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {{ allowed: boolean, before: Map<HTMLElement, boolean> }} Stroke
    @typedef {ReturnType<typeof build>} View */

const LABEL = "Custom mask: queries down, keys across. Space hides or shows a cell."
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }

export default component(build, draw, null)

/** @param {Mount<"mask_grid">} mount */
function build({ root, content, send }) {
  const grid = make("div", "grid", root, { role: "group", ariaLabel: LABEL })
  const cells = /** @type {HTMLElement[][]} */ ([])
  const stroke = /** @type {Stroke | null} */ (null)
  const view = { content, frame: grid, grid, names: "", cells, stroke, send }
  grid.addEventListener("pointerdown", (event) => {
    const cell = under(event, "[data-query]")
    if (!cell || event.button !== 0) return
    event.preventDefault()
    cell.focus()
    start(view, cell)
  })
  grid.addEventListener("pointerover", (event) => {
    if (!event.buttons) finish(view) // they were let go where nobody could tell
    paint(view, under(event, "[data-query]"))
  })
  window.addEventListener("pointerup", () => finish(view))
  window.addEventListener("pointercancel", () => takeBack(view))
  grid.addEventListener("keydown", (event) => {
    const cell = under(event, "[data-query]")
    const step = Object.entries(STEPS).find(([key]) => key === event.key)?.[1]
    if (!cell || !(step || event.key === " " || event.key === "Enter")) return
    event.preventDefault()
    if (step) {
      const [query, key] = [
        Number(cell.dataset.query) + step[0],
        Number(cell.dataset.key) + step[1],
      ]
      view.cells[query]?.[key]?.focus()
    } else {
      start(view, cell)
      finish(view)
    }
  })
  return view
}

/** @type {(view: View) => void} */
function draw(view) {
  const { tokens, keys, mask } = view.content
  if (view.names !== JSON.stringify([tokens, keys])) write(view, tokens, keys)
  for (const [query, row] of view.cells.entries())
    for (const [key, cell] of row.entries()) mark(cell, mask[query][key] === 1)
}

/** A stroke does to all its cells what it does to the first one.
    @type {(view: View, cell: HTMLElement) => void} */
function start(view, cell) {
  if (!isAnswered(view.content, "paint")) return
  view.stroke = { allowed: !isAllowed(cell), before: new Map() }
  paint(view, cell)
}

/** @type {(view: View, cell: HTMLElement | null) => void} */
function paint({ stroke }, cell) {
  if (!stroke || !cell) return
  if (!stroke.before.has(cell)) stroke.before.set(cell, isAllowed(cell))
  mark(cell, stroke.allowed)
}

/** @type {(view: View) => void} */
function finish(view) {
  if (!view.stroke) return
  const { before, allowed } = view.stroke
  /** @type {[number, number][]} */
  const cells = [...before.keys()].map(({ dataset: { query, key } }) => [
    Number(query),
    Number(key),
  ])
  view.send("paint", { cells, allowed })
  view.stroke = null
}

/** What began as a stroke became something else, as a finger that scrolls the page.
    @type {(view: View) => void} */
function takeBack(view) {
  for (const [cell, allowed] of view.stroke?.before ?? []) mark(cell, allowed)
  view.stroke = null
}

/** @type {(view: View, tokens: string[], keys: string[]) => void} */
function write(view, tokens, keys) {
  view.names = JSON.stringify([tokens, keys])
  view.cells = tokens.map((_, query) =>
    keys.map((token, key) => {
      const title = `${tokens[query]} (${query}) → ${token} (${key})`
      const ariaLabel = `hide ${token} ${key} from ${tokens[query]} ${query}`
      const tabIndex = query + key === 0 ? 0 : -1
      const cell = make("button", "", null, { type: "button", title, ariaLabel, tabIndex })
      Object.assign(cell.dataset, { query, key })
      return cell
    }),
  )
  view.grid.style.gridTemplateColumns = `minmax(3rem, 5rem) repeat(${keys.length}, 1.4rem)`
  const down = (/** @type {number} */ query) => makeName("span", "query", null, tokens[query])
  view.grid.replaceChildren(
    make("span", ""),
    ...keys.map((token) => makeName("span", "key", null, token)),
    ...view.cells.flatMap((row, query) => [down(query), ...row]),
  )
}

/** @type {(cell: HTMLElement) => boolean} */
function isAllowed(cell) {
  return cell.ariaPressed !== "true"
}

/** @type {(cell: HTMLElement, allowed: boolean) => void} */
function mark(cell, allowed) {
  cell.ariaPressed = String(!allowed)
}
