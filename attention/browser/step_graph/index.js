import { itemAfter } from "../shared/choosing.js"
import { component } from "../shared/component.js"
import { make, makeShape, setLengths } from "../shared/elements.js"
import { HEIGHT, layoutOf } from "./layout.js"

/** @import { StepGraphHeader } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

const KEYS = { b: -1, n: 1 } // those that the buttons Back and Next name
const TYPING = "input, textarea, select, [contenteditable='true']"
const TIPS = { right: "-6,-4 v8", up: "-4,6 h8" }

export default component(build, draw)

/** @param {Mount<"step_graph">} mount */
function build({ root, content, send }) {
  const ariaLabel = "Steps from x to y; arrow keys move, Enter shows a step"
  const frame = make("div", "frame", root, { role: "toolbar", ariaLabel })
  const whole = make("div", "whole", frame)
  const lines = makeShape("svg", { "aria-hidden": "true" }, whole)
  const buttons = /** @type {HTMLElement[]} */ ([])
  const view = { content, frame, whole, lines, buttons, names: "", width: 0, send }
  frame.addEventListener("keydown", (event) => {
    const at = view.buttons.indexOf(/** @type {HTMLElement} */ (event.target))
    const next = itemAfter(event.key, at, view.buttons.length)
    if (at < 0 || next === undefined || event.key === "Enter") return
    event.preventDefault()
    view.buttons[next].focus()
  })
  const listen = (/** @type {KeyboardEvent} */ event) => {
    if (frame.isConnected) goOn(view, event)
    else removeEventListener("keydown", listen, true)
  }
  addEventListener("keydown", listen, true)
  return view
}

/** One step further or back by key. Each press goes on from where the one before leads, which the
    server may not know yet; so the keys are kept from the buttons, which would lose one of two.
    @type {(view: View, event: KeyboardEvent) => void} */
function goOn(view, event) {
  const by = KEYS[/** @type {keyof typeof KEYS} */ (event.key.toLowerCase())]
  const typing = /** @type {Element} */ (event.composedPath()[0]).matches?.(TYPING)
  if (!by || typing || event.ctrlKey || event.metaKey || event.altKey) return
  const to = view.content.chosen + by
  if (!view.content.boxes[to]?.step) return
  event.stopPropagation()
  show(view, to)
}

/** @type {(view: View, index: number) => void} */
function show(view, index) {
  view.content.chosen = index
  draw(view)
  view.send("step", view.content.boxes[index].step)
}

/** Boxes are made anew only when there are others, so that the focus stays. Where they need more
    width than there is, the chosen one is scrolled to.
    @type {(view: View) => void} */
function draw(view) {
  const { content, frame, whole } = view
  const names = content.boxes.map(({ step }) => step).join()
  if (view.names !== names) lay(view)
  view.names = names
  view.width = frame.clientWidth
  if (!view.width) return
  const { spots, lines, width, height } = layoutOf(content, view.width)
  setLengths(whole, { width, height })
  whole.style.setProperty("--fit", String(view.width / width))
  for (const [index, child] of boxesOf(view).entries()) {
    const { left, top, width } = spots[index]
    setLengths(child, { left, top, width, height: HEIGHT })
    const { title, note } = content.boxes[index]
    child.children[0].textContent = title
    child.children[1].textContent = note
  }
  for (const [index, button] of view.buttons.entries()) {
    button.ariaLabel = words(content, index)
    button.title = button.ariaLabel
  }
  view.lines.replaceChildren(
    ...lines.flatMap((line, index) => makeLine(line, content.arrows[index].end === content.chosen)),
  )
  light(view)
  const { left, width: wide } = spots[content.chosen]
  if (width > view.width)
    requestAnimationFrame(() => {
      frame.scrollLeft = left + wide / 2 - view.width / 2
    })
}

/** What is said of a step.
    @type {(content: Pick<StepGraphHeader, "boxes" | "arrows">, index: number) => string} */
export function words({ boxes, arrows }, index) {
  const { title, note } = boxes[index]
  const shape = arrows.find(({ start }) => start === index)?.shape ?? []
  return `${title} ${note}; step ${index + 1}, gives (${shape.join(", ")})`
}

/** @type {(view: View) => HTMLElement[]} */
function boxesOf({ whole }) {
  return /** @type {HTMLElement[]} */ ([...whole.querySelectorAll(".step")])
}

/** @type {(view: View) => void} */
function lay(view) {
  const { content, whole } = view
  for (const box of boxesOf(view)) box.remove()
  view.buttons = []
  for (const [index, { step }] of content.boxes.entries()) {
    const box = step
      ? make("button", "step", whole, { type: "button" })
      : make("div", "step end", whole)
    box.append(make("span", "title"), " ", make("span", "more"))
    if (!step) continue
    view.buttons.push(box)
    box.addEventListener("click", () => show(view, index))
  }
}

/** One box can be reached by Tab, the others by arrow keys from there.
    @type {(view: View) => void} */
function light({ buttons, content }) {
  for (const [index, button] of buttons.entries()) {
    const chosen = index === content.chosen
    button.tabIndex = chosen ? 0 : -1
    button.classList.toggle("chosen", chosen)
    if (chosen) button.setAttribute("aria-current", "step")
    else button.removeAttribute("aria-current")
  }
}

/** @type {(line: import("./layout.js").Line, lit: boolean) => Element[]} */
function makeLine({ d, tip: [x, y, direction], text, x: left, y: top, anchor }, lit) {
  const name = lit ? "lit" : ""
  const line = makeShape("path", { d, class: `line ${name}` })
  const head = makeShape("path", { d: `M${x},${y} l${TIPS[direction]} Z`, class: `tip ${name}` })
  if (!text) return [line, head]
  const words = makeShape("text", { x: left, y: top, "text-anchor": anchor })
  words.textContent = text
  return [line, head, words]
}
