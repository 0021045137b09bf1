/** @import { Place } from "./message.js" */
const views = new WeakMap()
const tasks = new WeakMap()
/** @typedef {{ inside: Element, observer: MutationObserver, task: () => void }} Watch
    @type {Set<Watch>} */
const watching = new Set()

/** What stands in a place already, or what is built there now.
    @type {<View>(parent: Place, build: (parent: Place, view: View) => void) => View} */
export function viewIn(parent, build) {
  if (views.has(parent)) return views.get(parent)
  const view = /** @type {any} */ ({})
  views.set(parent, view)
  build(parent, view)
  return view
}

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

/** A token to choose or to read a weight beside.
    @type {(role: string, known: boolean, token: string, index: number) => HTMLElement} */
export function makeChip(role, known, token, index) {
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

/** Sets lengths of an element's style, in pixels.
    @type {(element: HTMLElement, lengths: Record<string, number>) => void} */
export function place(element, lengths) {
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

/* On paper all is in the light theme's colours, and painted before anything is measured again. */
globalThis.matchMedia?.("print").addEventListener("change", () => {
  for (const { inside, task } of watching) if (inside.isConnected) task()
})

/** Runs a task in another theme, for as long as the place is there.
    @type {(parent: Place, task: () => void) => void} */
export function whenThemed(parent, task) {
  for (const each of watching) if (!each.inside.isConnected) letGo(each)
  const inside = parent instanceof ShadowRoot ? parent.host : parent
  const themed = inside.closest("[style*='--st-']") ?? document.body
  const observer = new MutationObserver(() => requestAnimationFrame(task))
  observer.observe(themed, { attributes: true, attributeFilter: ["style"] })
  watching.add({ inside, observer, task })
}

/** @type {(watch: Watch) => void} */
function letGo(watch) {
  watch.observer.disconnect()
  watching.delete(watch)
}

/** Draws again in another width or theme, once there is something to draw.
    @typedef {{ frame: HTMLElement, width: number, content: unknown }} Drawn
    @type {<View extends Drawn>(view: View, parent: Place, draw: (view: View) => void) => void} */
export function follow(view, parent, draw) {
  const again = () => view.content && draw(view)
  const resized = () => view.width !== view.frame.clientWidth && again()
  new ResizeObserver(resized).observe(view.frame)
  whenThemed(parent, again)
}

/** Scrolls to what is out of sight.
    @type {(scroll: HTMLElement, top: number, height: number) => void} */
export function reveal(scroll, top, height) {
  const { scrollTop, clientHeight } = scroll
  const seen = top >= scrollTop && top + height <= scrollTop + clientHeight
  if (!seen) scroll.scrollTop = top - clientHeight / 2
}
