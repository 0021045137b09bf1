import { component } from "../shared/component.js"
import { copied } from "../shared/copying.js"
import { make } from "../shared/elements.js"
import { partsOf } from "../shared/figures.js"
import { saveFigure, savePicture } from "../shared/svg.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

const COPY = "Copy as Python"
const SEEN = 2000 // milliseconds
const SOON = 250
const SAVES = { PNG: savePicture, SVG: saveFigure }

export default component(build, draw, null)

/** @param {Mount<"save_figures">} mount */
function build({ root, content }) {
  return { content, frame: make("div", "frame", root) }
}

/** @type {(view: View) => void} */
function draw(view) {
  const { frame } = view
  const { figures, begins, program } = view.content
  frame.replaceChildren()
  if (program) {
    const button = make("button", "", frame, { type: "button", textContent: COPY })
    button.ariaLive = "polite"
    button.addEventListener("click", async () => {
      button.textContent = (await copied(program)) ? "Copied the program" : "Could not copy"
      setTimeout(() => button.replaceChildren(COPY), SEEN)
    })
    return
  }
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
  // The page may just be drawn anew, and its figures come in a moment.
  if (!there.length) setTimeout(() => frame.isConnected && draw(view), SOON)
}
