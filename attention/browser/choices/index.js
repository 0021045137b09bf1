import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

export default component(build, draw, null)

/** @param {Mount<"choices">} mount */
function build({ root, content }) {
  return { content, frame: make("div", "", root) }
}

/** A list of choices; once they are counted a table, a bar for each over the whole width.
    @type {(view: View) => void} */
function draw({ frame, content: { names, counts, lengths, shares } }) {
  frame.className = counts.length ? "numbers" : ""
  if (counts.length) frame.tabIndex = 0
  else frame.removeAttribute("tabindex")
  const list = make(counts.length ? "table" : "ul", "")
  frame.replaceChildren(list)
  if (!counts.length) {
    for (const name of names) make("bdi", "", make("li", "", list), { textContent: name })
    return
  }
  const head = make("tr", "", make("thead", "", list))
  for (const title of ["", "learners", "bar", "share"]) {
    make("th", "", head, { scope: "col", textContent: title })
  }
  const body = make("tbody", "", list)
  for (const [row, name] of names.entries()) {
    const line = make("tr", "", body)
    make("bdi", "", make("th", "", line, { scope: "row" }), { textContent: name })
    make("td", "", line, { textContent: String(counts[row]) })
    make("i", "", make("td", "", line)).style.width = `${100 * lengths[row]}%`
    make("td", "", line, { textContent: shares[row] })
  }
}
