import { component } from "../shared/component.js"
import { childrenOf, make, under } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

const SOON = 300 // milliseconds, more than Streamlit waits

export default component(build, draw, null)

/** @param {Mount<"examples">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const words = make("span", "", frame)
  const list = make("div", "list", frame, { role: "group", ariaLabel: "Examples" })
  list.addEventListener("click", (event) => {
    const button = under(event, "button")
    if (button) send("example", childrenOf(list).indexOf(button))
  })
  const view = { content, frame, words, list, soon: 0 }
  listenToBox(view, () => send("example", 0))
  return view
}

/** Where the box holds the first example before anything is typed: typed into it, that changes
    nothing that Streamlit would tell.
    @type {(view: View, take: () => void) => void} */
function listenToBox(view, take) {
  const ended = new AbortController()
  /** @param {Event} event */
  const listen = (event) => {
    const { content, frame } = view
    if (!frame.isConnected) return ended.abort()
    if (!content.box || !(event.target instanceof HTMLInputElement)) return
    const field = event.target
    if (!field.matches(content.box) || (event instanceof KeyboardEvent && event.key !== "Enter"))
      return
    clearTimeout(view.soon)
    view.soon = window.setTimeout(() => {
      if (view.content.box && field.value === view.content.texts[0]) take()
    }, SOON)
  }
  for (const type of ["input", "keydown"])
    document.addEventListener(type, listen, { signal: ended.signal, capture: true })
}

/** @type {(view: View) => void} */
function draw({ words, list, content: { words: said, texts, gone } }) {
  words.textContent = said
  if (list.children.length !== texts.length)
    list.replaceChildren(...texts.map(() => make("button", "", null, { type: "button" })))
  for (const [index, button] of childrenOf(list).entries()) {
    button.textContent = texts[index]
    button.ariaPressed = gone && String(gone.includes(index))
  }
}
