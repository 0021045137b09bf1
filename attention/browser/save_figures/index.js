import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"
import { partsOf } from "../shared/figures.js"
import { saveFigure, savePicture } from "../shared/svg.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

const SAVES = { PNG: savePicture, SVG: saveFigure }

export default component(build, draw, null)

/** @param {Mount<"save_figures">} mount */
function build({ root, content }) {
  return { content, frame: make("div", "frame", root) }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { figures, begins } }) {
  frame.replaceChildren()
  const there = Object.keys(figures).filter((name) => partsOf(name, figures[name]).length)
  /** @type {(name: string, kind: string, save: (file: string) => unknown) => void} */
  const offer = (name, kind, save) => {
    const textContent = `${name[0].toUpperCase()}${name.slice(1)}, ${kind}`
    make("button", "", frame, { type: "button", textContent }).addEventListener("click", () =>
      save(`${begins}-${name.replaceAll(" ", "-")}`),
    )
  }
  for (const [kind, save] of Object.entries(SAVES))
    for (const name of there) offer(name, kind, (file) => save(file, partsOf(name, figures[name])))
}
