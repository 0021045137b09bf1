import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

export default component(build, draw, null)

/** @param {Mount<"page_button">} mount */
function build({ root, content }) {
  const frame = make("button", "", root, { type: "button" })
  const view = { content, frame }
  frame.addEventListener("click", () => {
    const field = /** @type {HTMLInputElement | null} */ (
      document.querySelector(view.content.field)
    )
    if (!field) return
    field.style.visibility = "visible" // a closed one can have no focus; once it has, it is open
    field.focus()
    field.select()
    field.style.visibility = ""
  })
  return view
}

/** @type {(view: View) => void} */
function draw({ frame, content: { label } }) {
  frame.textContent = label
}
