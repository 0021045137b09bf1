import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"
import { saveFigure } from "../shared/svg.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

export default component(build, draw, null)

/** @param {Mount<"card">} mount */
function build({ root, content }) {
  const frame = make("figure", "", root)
  const save = { type: "button", textContent: "Save this card" }
  make("button", "on-screen", root, save).addEventListener("click", () =>
    saveFigure("attention", [frame]),
  )
  return { content, frame }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { pieces, weights, query, following, told } }) {
  frame.replaceChildren()
  const words = make("p", "", frame)
  const most = Math.max(...weights.map(Math.abs), 1e-9)
  for (const [at, [textContent, apart]] of pieces.entries()) {
    const word = make("bdi", at === query ? "asks" : "", words, { textContent })
    word.classList.toggle("apart", apart)
    const share = (0.75 * Math.abs(weights[at])) / most
    word.style.background = `rgb(37 133 191 / ${share.toFixed(3)})`
  }
  if (following) make("bdi", "apart next", words, { textContent: following })
  for (const textContent of told) make("figcaption", "", frame, { textContent })
}
