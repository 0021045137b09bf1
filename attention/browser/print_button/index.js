import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

export default component(build, draw, null)

/** @param {Mount<"print_button">} mount */
function build({ root, content }) {
  const frame = make("button", "", root, { type: "button" })
  frame.addEventListener("click", () => print())
  return { content, frame }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { label } }) {
  frame.textContent = label
}
