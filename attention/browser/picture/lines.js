import { make } from "../shared/elements.js"
import { makeTokenLines, showTokens, writeTokens } from "../shared/token_lines.js"
import { glance, precise, sizeOf } from "../shared/words.js"
import { rowOf, summary } from "./sums.js"

/** @import { At, Content, Part } from "./index.js"
    @import { Strand } from "../shared/token_lines.js" */

const MOST_WOVEN = 900 // pairs of a query and a key

/** The tokens joined by lines; of two sequences faint lines behind them join all queries with their
    keys.
    @type {(parent: HTMLElement, content: Content) => Part} */
export function buildLines(parent, content) {
  let [shown, query, gone] = [content, -1, false]
  let strands = /** @type {Strand[]} */ ([])
  const lines = makeTokenLines(parent, (item, key) => weigh(item, key, shown, strands[0]))
  const told = make("p", "summary", parent, { role: "status" })
  const note = make("p", "note", parent)
  return {
    draw(content) {
      shown = content
      query = -1
      lines.title.textContent = `key and its ${content.called}`
      lines.keys.ariaLabel = `Keys, each with the ${content.called} it gets`
      writeTokens(lines, content)
    },
    show(at) {
      const beyond = at.wanted >= shown.rows
      const changed = query !== at.query || gone !== beyond
      if (query !== at.query) strands = [strandAt(shown, at.query)]
      query = at.query
      gone = beyond
      showTokens(lines, at, strands)
      if (changed) tell(shown, query, gone, told, note)
    },
  }
}

/** @type {(content: Content, query: number) => Strand} */
function strandAt(content, query) {
  const { columns, rows, own, numbers, hidden } = content
  const rowAt = (/** @type {number} */ query) => rowOf(numbers.weights, columns, query)
  return {
    row: rowAt(query),
    masked: rowOf(hidden, columns, query),
    colour: (weight) => hueOf(content, weight),
    rows: own || rows * columns > MOST_WOVEN ? undefined : rowAt,
  }
}

/** The colour of a weight where some lie below 0, as the heatmap has it; "" where none do.
    @type {(content: Pick<Content, "stages" | "theme">, weight: number) => string} */
export function hueOf({ stages, theme }, weight) {
  if (!stages.weights?.diverging) return ""
  return theme.diverging.at(weight < 0 ? 1 : -2) ?? ""
}

/** The weight of a key, as text and as its ground.
    @type {(item: HTMLElement, key: number, content: Content, strand: Strand) => void} */
function weigh(item, key, content, { row, masked }) {
  const none = Boolean(masked?.[key])
  const share = `${6 + 44 * sizeOf(row[key])}%`
  const hue = hueOf(content, row[key]) || "var(--st-primary-color)"
  const [name, number] = item.children
  item.classList.toggle("masked", none)
  item.style.backgroundColor = none ? "" : `color-mix(in srgb, ${hue} ${share}, transparent)`
  const text = number.firstChild ?? number.appendChild(new Text())
  text.nodeValue = none ? "masked" : glance(row[key], content.columns)
  if (!none) item.title = `${name.textContent}: ${precise(row[key], 6)}`
}

/** @type {(content: Content, query: number, gone: boolean, told: HTMLElement,
      note: HTMLElement) => void} */
function tell(content, query, gone, told, note) {
  told.textContent = summary(content, query)
  note.textContent = gone ? "That word is gone; the last one is selected." : ""
}
