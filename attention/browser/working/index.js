import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"
import { drawTable } from "../table/index.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

/** How a number comes about: a sentence, and its terms with their total. */
export default component(build, draw, null)

/** @param {Mount<"working">} mount */
function build({ root, content }) {
  return { content, frame: make(content.folded ? "details" : "div", "working", root) }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { text, folded, tables } }) {
  frame.replaceChildren()
  make(folded ? "summary" : "p", "", frame, { textContent: text })
  for (const table of tables) drawTable(make("div", "numbers", frame, { tabIndex: 0 }), table)
}
