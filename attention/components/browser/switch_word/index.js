import { component } from "../shared/component.js"
import { childrenOf, make, under } from "../shared/elements.js"
import { showInstead } from "../shared/instead.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

export default component(build, draw, null)

/** @param {Mount<"switch_word">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root, { role: "group" })
  const view = { content, frame }
  frame.addEventListener("click", (event) => {
    const button = under(event, "button")
    const at = button ? childrenOf(frame).indexOf(button) : -1
    if (at < 0 || button?.ariaPressed === "true") return
    press(view, at)
    showInstead(view.content.rest)
    send("word", at)
  })
  return view
}

/** @type {(view: View) => void} */
function draw(view) {
  const { frame, content } = view
  frame.ariaLabel = content.label
  if (frame.children.length !== content.words.length)
    frame.replaceChildren(...content.words.map(() => make("button", "", null, { type: "button" })))
  for (const [at, button] of childrenOf(frame).entries()) button.textContent = content.words[at]
  press(view, content.chosen)
}

/** @type {(view: View, chosen: number) => void} */
function press({ frame }, chosen) {
  for (const [at, button] of childrenOf(frame).entries()) button.ariaPressed = String(at === chosen)
}
