import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"
import { partsOf } from "../shared/figures.js"
import { saveFigure, savePicture } from "../shared/svg.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

const SAVES = { SVG: saveFigure, PNG: savePicture }

export default component(build, draw, null)

/** @param {Mount<"save_figures">} mount */
function build({ root, content }) {
  return { content, frame: make("div", "frame", root) }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { figures } }) {
  const buttons = Object.keys(figures).flatMap((name) => {
    if (!partsOf(name, figures[name]).length) return []
    return Object.entries(SAVES).map(([kind, save]) => {
      const textContent = `${name[0].toUpperCase()}${name.slice(1)}, ${kind}`
      const button = make("button", "", null, { type: "button", textContent })
      button.addEventListener("click", () => save(name, partsOf(name, figures[name])))
      return button
    })
  })
  frame.replaceChildren(...buttons)
}
