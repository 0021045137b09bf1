import { childrenOf, make, under, viewIn } from "../shared/elements.js"
import { decode } from "../shared/message.js"

/** @import { Given, Place } from "../shared/message.js"
    @typedef {{ words: string, texts: string[], gone: number[] | null }} Content
    @typedef {Record<"words" | "list", HTMLElement> & { choose: (index: number) => void }} View */

/** @type {(given: Given) => void} */
export default function ({ data, parentElement, setTriggerValue }) {
  /** @type {Content} */
  const { words, texts, gone } = decode(data, "examples", 2)
  const view = viewIn(parentElement, build)
  view.choose = (index) => setTriggerValue("example", index)
  view.words.textContent = words
  if (view.list.children.length !== texts.length)
    view.list.replaceChildren(...texts.map(() => make("button", "", null, { type: "button" })))
  for (const [index, button] of childrenOf(view.list).entries()) {
    button.textContent = texts[index]
    button.ariaPressed = gone && String(gone.includes(index))
  }
}

/** @type {(parent: Place, view: View) => void} */
function build(parent, view) {
  const frame = make("div", "frame", parent)
  const words = make("span", "", frame)
  const list = make("div", "list", frame, { role: "group", ariaLabel: "Examples" })
  Object.assign(view, { words, list })
  list.addEventListener("click", (event) => {
    const button = under(event, "button")
    if (button) view.choose(childrenOf(list).indexOf(button))
  })
}
