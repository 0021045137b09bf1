import { distinct } from "./words.js"

const tasks = new WeakMap()

/** @typedef {HTMLElementTagNameMap} Elements
    @type {<Tag extends keyof Elements>(tag: Tag, name: string, parent?: Node | null,
      more?: object) => Elements[Tag]} */
export function make(tag, name, parent, more) {
  const element = Object.assign(document.createElement(tag), { className: name }, more)
  parent?.appendChild(element)
  return element
}

/** A token as text: nothing in it is read as HTML.
    @type {<Tag extends keyof Elements>(tag: Tag, name: string, parent: Node | null,
      token: string) => Elements[Tag]} */
export function makeName(tag, name, parent, token) {
  const element = make(tag, name, parent, { title: token })
  make("bdi", "", element, { textContent: token })
  return element
}

/** A shape of SVG; lengths to a hundredth of a pixel.
    @type {<Tag extends keyof SVGElementTagNameMap>(tag: Tag,
      attributes: Record<string, string | number>, parent?: Node) => SVGElementTagNameMap[Tag]} */
export function makeShape(tag, attributes, parent) {
  const shape = document.createElementNS("http://www.w3.org/2000/svg", tag)
  setAttributes(shape, attributes)
  parent?.appendChild(shape)
  return shape
}

/** @type {(shape: Element, attributes: Record<string, string | number>) => void} */
export function setAttributes(shape, attributes) {
  for (const [name, value] of Object.entries(attributes))
    shape.setAttribute(name, String(typeof value === "number" ? hundredths(value) : value))
}

export const hundredths = (/** @type {number} */ number) => Math.round(number * 100) / 100

/** A token to choose or to read a weight beside.
    @type {(role: string, known: boolean, tokens: string[], index: number) => HTMLElement} */
export function makeChip(role, known, tokens, index) {
  const token = distinct(tokens, index)
  const chip = makeName("div", known ? "token" : "token unknown", null, token)
  chip.setAttribute("role", role)
  chip.id = `${role}-${index}`
  if (role === "option") chip.setAttribute("aria-selected", "false")
  if (!known) chip.title = `${token}: no vector, zeros`
  return chip
}

/** @type {(parent: Element) => HTMLElement[]} */
export function childrenOf(parent) {
  return /** @type {HTMLElement[]} */ ([...parent.children])
}

/** The element of a kind on which something happened.
    @type {(event: Event, selector: string) => HTMLElement | null} */
export function under(event, selector) {
  return event.target instanceof Element ? event.target.closest(selector) : null
}

/** Runs a task with the element of a kind within another that is clicked.
    @type {(element: Element, selector: string, task: (clicked: HTMLElement) => void) => void} */
export function whenClicked(element, selector, task) {
  element.addEventListener("click", (event) => {
    const clicked = under(event, selector)
    if (clicked) task(clicked)
  })
}

/** Which of some elements something happened on, -1: on none.
    @type {(event: Event, elements: HTMLElement[]) => number} */
export function placeUnder({ target }, elements) {
  return target instanceof Element ? elements.findIndex((each) => each.contains(target)) : -1
}

/** Sets lengths of an element's style, in pixels.
    @type {(element: HTMLElement, lengths: Record<string, number>) => void} */
export function setLengths(element, lengths) {
  for (const [name, length] of Object.entries(lengths))
    element.style.setProperty(name, `${length}px`)
}

/** Runs a task after the next frame is on the screen: the heatmap, which is awaited, goes first.
    @type {(task: () => void) => void} */
export function afterPaint(task) {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = task
    port2.postMessage(null)
  })
}

/** Runs the last of a view's tasks once none has come for a while.
    @type {(view: object, milliseconds: number, task: () => void) => void} */
export function settle(view, milliseconds, task) {
  clearTimeout(tasks.get(view))
  tasks.set(view, setTimeout(task, milliseconds))
}

/** Scrolls to what is out of sight.
    @type {(scroll: HTMLElement, top: number, height: number) => void} */
export function reveal(scroll, top, height) {
  const { scrollTop, clientHeight } = scroll
  const seen = top >= scrollTop && top + height <= scrollTop + clientHeight
  if (!seen) scroll.scrollTop = top - clientHeight / 2
}
