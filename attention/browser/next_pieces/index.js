import { writeBars } from "../shared/bars.js"
import { component, isAnswered } from "../shared/component.js"
import { childrenOf, make, under } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

export default component(build, draw, null)

/** @param {Mount<"next_pieces">} mount */
function build({ root, content, send }) {
  const list = make("div", "list", root, { role: "group", ariaLabel: "Pieces to come next" })
  list.addEventListener("click", (event) => {
    const button = under(event, "button")
    if (button) send("piece", childrenOf(list).indexOf(button))
  })
  return { content, frame: list, list }
}

/** A bar's length is its share of the greatest one.
    @type {(view: View) => void} */
function draw({ list, content }) {
  const { texts, shares } = content
  const tag = isAnswered(content, "piece") ? "button" : "span"
  writeBars(list, texts, shares, Math.max(...shares), tag)
}
