import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

/** @type {Record<string, "em" | "span">} */
const STANDS_OUT = { prose: "em", differs: "span" } // else by a strong one
/** @type {Record<string, string>} */
const ROLES = { info: "status", heading: "heading" }

/** Words in a look of the page's style; every second part stands out. */
export default component(build, draw, null)

/** @param {Mount<"words">} mount */
function build({ root, content }) {
  return { content, frame: /** @type {HTMLElement} */ (make("p", "", root)) }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { look, parts, before, hint, link, answered } }) {
  frame.className = look
  frame.role = ROLES[look] ?? null
  frame.ariaLevel = look === "heading" ? "3" : null
  const tag = STANDS_OUT[look] ?? "strong"
  frame.replaceChildren(
    ...(before ? [`${before} `] : []),
    ...parts.flatMap((text, at) => {
      if (!text) return []
      return at % 2
        ? [make("bdi", "", make(tag, ""), { textContent: text }).parentElement ?? ""]
        : [text]
    }),
  )
  const [textContent, href] = link
  // A file has no pages of the app beside it.
  if (href && !(answered && !href.includes("://"))) {
    make("a", "", frame, { textContent, href, target: "_blank", rel: "noopener noreferrer" })
  }
  if (hint && !answered) make("span", "on-screen", frame, { textContent: ` ${hint}` })
}
