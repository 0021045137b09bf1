import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

export default component(build, draw, null)

/** @param {Mount<"card">} mount */
function build({ root, content }) {
  return { content, frame: make("img", "", root) }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { svg, alt } }) {
  frame.src = `data:image/svg+xml,${encodeURIComponent(svg)}`
  frame.alt = alt
}
