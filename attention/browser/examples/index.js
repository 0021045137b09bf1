import { component } from "../shared/component.js"
import { childrenOf, make, whenClicked } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

export default component(build, draw, null)

/** @param {Mount<"examples">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const words = make("span", "", frame)
  const list = make("div", "list", frame, { role: "group", ariaLabel: "Examples" })
  whenClicked(list, "button", (button) => send("example", childrenOf(list).indexOf(button)))
  return { content, frame, words, list }
}

/** @type {(view: View) => void} */
function draw({ words, list, content: { words: said, texts, gone } }) {
  words.textContent = said
  if (list.children.length !== texts.length)
    list.replaceChildren(...texts.map(() => make("button", "", null, { type: "button" })))
  for (const [index, button] of childrenOf(list).entries()) {
    button.textContent = texts[index]
    button.ariaPressed = gone && String(gone.includes(index))
  }
}
