import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"
import { drawTable } from "../table/index.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

/** How a number comes about: a sentence, and its terms with their total. */
export default component(build, draw, null)

/** @param {Mount<"working">} mount */
function build({ root, content }) {
  return { content, frame: make("div", "working", root) }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { text, told, tables } }) {
  frame.replaceChildren()
  make("p", "", frame, { textContent: text })
  if (told.length) {
    const [name, number] = told
    const total = make("p", "total", frame, { textContent: `${name} ` })
    make("strong", "", total, { textContent: number })
  }
  for (const table of tables) drawTable(make("div", "numbers", frame, { tabIndex: 0 }), table)
}
