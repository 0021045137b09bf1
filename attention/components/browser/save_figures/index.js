import { make, viewIn } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { svgOf } from "../shared/svg.js"

/** @import { Given, Place } from "../shared/message.js"
    @typedef {{ frame: HTMLElement }} View */

/** @type {(given: Given) => void} */
export default function ({ data, parentElement }) {
  const { figures } = decode(data, "save_figures", 1)
  const view = viewIn(parentElement, build)
  const buttons = Object.keys(figures).flatMap((name) => {
    if (!partsOf(name, figures[name]).length) return []
    const textContent = `${name[0].toUpperCase()}${name.slice(1)}, SVG`
    const button = make("button", "", null, { type: "button", textContent })
    button.addEventListener("click", () => save(name, svgOf(partsOf(name, figures[name]))))
    return [button]
  })
  view.frame.replaceChildren(...buttons)
}

/** @type {(parent: Place, view: View) => void} */
function build(parent, view) {
  view.frame = make("div", "frame", parent)
}

/** The elements of a figure that stand on the page: the part of that name, where it has parts.
    @type {(name: string, key: string) => Element[]} */
function partsOf(name, key) {
  const main = document.querySelector(".stMainBlockContainer") ?? document.body
  return [...main.querySelectorAll(`[class*="st-key-${key}"]`)].flatMap((element) => {
    const parts = element.querySelectorAll(".attention-picture > .part")
    const named = [...parts].filter((part) => part.classList.contains(name))
    return parts.length && name !== "figure" ? named : [element]
  })
}

/** @type {(name: string, text: string) => void} */
function save(name, text) {
  const href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))
  make("a", "", null, { href, download: `${name}.svg` }).click()
  setTimeout(() => URL.revokeObjectURL(href), 10000)
}
