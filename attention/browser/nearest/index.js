import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

/** Words nearest to a vector before attention and after, each with its cosine. */
export default component(build, draw, null)

/** @param {Mount<"nearest">} mount */
function build({ root, content }) {
  return { content, frame: make("div", "nearest", root) }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { lines } }) {
  frame.replaceChildren()
  const title = make("p", "", frame)
  if (!lines.length) {
    title.textContent = "This output cannot be compared with words."
    return
  }
  make("b", "", title, { textContent: "Nearest words" })
  title.append(" by cosine, among the 100,000 most frequent")
  const list = make("dl", "", frame)
  for (const { name, words } of lines) {
    make("dt", "", list, { textContent: name })
    const line = make("dd", "", list)
    if (!words.length) line.textContent = "none, the vector is 0"
    for (const { word, cosine } of words) {
      const near = make("span", "", line)
      make("bdi", "", near, { textContent: word })
      near.append(" ")
      make("small", "", near, { textContent: cosine })
    }
  }
}
