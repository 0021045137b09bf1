import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"

/** @import { TableHeader } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

/** A table of numbers as they are shown, a name before each line; shares have a bar each. */
export default component(build, draw, null)

/** @param {Mount<"table">} mount */
function build({ root, content }) {
  return { content, frame: make("div", "numbers", root, { tabIndex: 0 }) }
}

/** @type {(view: View) => void} */
function draw({ frame, content }) {
  drawTable(frame, content)
}

/** Draws a table in place of what stood in a frame.
    @type {(frame: HTMLElement, table: Pick<TableHeader, "columns" | "lines" | "total" | "bars" | "links">)
      => void} */
export function drawTable(frame, { columns, lines, total, bars, links }) {
  frame.classList.toggle("shares", bars.length > 0)
  const table = make("table", "")
  const head = make("tr", "", make("thead", "", table))
  for (const title of ["", ...columns]) {
    make("th", "", head, { scope: "col", textContent: title })
  }
  const body = make("tbody", "", table)
  for (const [row, [name, ...cells]] of lines.entries()) {
    const line = make("tr", "", body)
    const first = make("th", "", line, { scope: "row" })
    const href = links[row]
    const to = { href, target: "_blank", rel: "noopener noreferrer" }
    make("bdi", "", href ? make("a", "", first, to) : first, { textContent: name })
    for (const [column, text] of cells.entries()) {
      const cell = make("td", "", line)
      const length = bars[row]?.[column]
      if (typeof length === "number")
        make("i", "", cell).style.width = `calc(var(--longest, 6rem) * ${length})`
      make("span", "", cell, { textContent: text })
    }
  }
  if (total.length) {
    const last = make("tr", "", make("tfoot", "", table))
    for (const [at, text] of total.entries()) {
      make(at ? "td" : "th", "", last, { textContent: text, ...(at ? {} : { scope: "row" }) })
    }
  }
  frame.replaceChildren(table)
}
