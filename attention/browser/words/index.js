import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

/** Words in a look of the page's style; every second part stands out. */
export default component(build, draw, null)

/** @param {Mount<"words">} mount */
function build({ root, content }) {
  return { content, frame: /** @type {HTMLElement} */ (make("p", "", root)) }
}

/** @type {(view: View) => void} */
function draw(view) {
  const { look, parts, before, hint, link } = view.content
  const name = look === "heading" ? "h3" : "p"
  if (view.frame.localName !== name) {
    const other = make(name, "")
    view.frame.replaceWith(other)
    view.frame = other
  }
  const { frame } = view
  frame.className = look
  if (look === "info") frame.setAttribute("role", "status")
  const tag = look === "differs" ? "span" : "strong"
  frame.replaceChildren(
    ...(before ? [`${before} `] : []),
    ...parts.flatMap((text, at) => {
      if (!text) return []
      return at % 2
        ? [make("bdi", "", make(tag, ""), { textContent: text }).parentElement ?? ""]
        : [text]
    }),
  )
  if (link.length) {
    const [textContent, href] = link
    make("a", "", frame, { textContent, href, target: "_blank", rel: "noopener noreferrer" })
  }
  if (hint) make("span", "on-screen", frame, { textContent: ` · ${hint}` })
}
