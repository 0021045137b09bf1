import { make, setLengths } from "../shared/elements.js"
import * as geometry from "./geometry.js"
import { EDGE, leftOf, roomOf } from "./known.js"
import { choose, goTo, jump, next, pan, zoom } from "./moving.js"
import { readoutOf } from "./reading.js"

/** @import { View } from "./index.js"
    @import { At } from "./geometry.js" */

const LEGEND = 160 // pixels
const POSITION = /^[\d,]{1,9}$/ // a word of digits is written in quotation marks
const MOVED = 5 // pixels, from which on a pointer pans

/** A button of a name.
    @type {(parent: HTMLElement, words: string, task: () => void, label?: string)
      => HTMLButtonElement} */
function makeButton(parent, words, task, label = words) {
  const button = make("button", "", parent, { type: "button", textContent: words })
  button.ariaLabel = label
  button.addEventListener("click", task)
  return button
}

/** @type {(view: View, tools: HTMLElement) => void} */
export function makeZoom(view, tools) {
  const group = make("div", "group", tools, { role: "group", ariaLabel: "Zoom" })
  tools.prepend(group)
  makeButton(group, "−", () => zoom(view, 0.5), "Zoom out")
  makeButton(group, "+", () => zoom(view, 2), "Zoom in")
  makeButton(group, "Whole", () => zoom(view, 0), "Show the whole map")
}

/** @type {(tools: HTMLElement) => { form: HTMLFormElement, input: HTMLInputElement,
      side: HTMLSelectElement, output: HTMLElement }} */
export function makeSearch(tools) {
  const form = make("form", "group", tools, { role: "search" })
  const input = make("input", "", form, {
    type: "search",
    maxLength: 200,
    placeholder: "Word or position",
  })
  input.ariaLabel = "Search for a word, or go to a position"
  const side = make("select", "", form, { ariaLabel: "Search among" })
  for (const words of ["queries", "keys"]) make("option", "", side, { textContent: words })
  make("button", "", form, { type: "submit", textContent: "Find" })
  const output = make("output", "", form)
  return { form, input, side, output }
}

/** @type {(parent: HTMLElement) => { form: HTMLFormElement, apart: HTMLInputElement,
      first: HTMLInputElement, button: HTMLButtonElement, list: HTMLElement, words: HTMLElement }} */
export function makeFar(parent) {
  const details = make("details", "", parent)
  make("summary", "", details, { textContent: "The strongest far links" })
  const form = make("form", "group", details)
  const label = make("label", "", form, { textContent: "At least " })
  const apart = make("input", "", label, { type: "number", min: "0", step: "1", value: "64" })
  label.append(" tokens apart")
  const without = make("label", "", form)
  const first = make("input", "", without, { type: "checkbox", checked: true })
  without.append(" without the first key")
  const button = make("button", "", form, { type: "submit", textContent: "Find the strongest" })
  const words = make("p", "", details, { role: "status" })
  return { form, apart, first, button, words, list: make("ol", "links", details) }
}

/** @type {(view: View) => void} */
export function makeLegend(view) {
  const { legend, scale, bounds } = view
  legend.append(scale, bounds)
  setLengths(scale, { width: LEGEND, height: 12 })
  scale.setAttribute("aria-hidden", "true")
  const label = make("label", "", legend)
  const box = make("input", "", label, { type: "checkbox" })
  label.append(" by difference")
  box.addEventListener("change", () => {
    view.even = box.checked
    view.soon()
  })
}

/** @type {(view: View) => void} */
export function listen(view) {
  const { plot, search, far, bars, whole } = view
  listenToPointers(view)
  plot.addEventListener(
    "wheel",
    (event) => {
      const least = geometry.fitting(view.content, roomOf(view))
      if (event.deltaY > 0 && view.place.cell <= least) return // the page scrolls on
      event.preventDefault()
      const pixels = event.deltaY * (event.deltaMode === 1 ? 33 : 1) * (event.ctrlKey ? 8 : 1)
      zoom(view, 2 ** (-Math.max(-300, Math.min(300, pixels)) / 150), ...pointOf(view, event))
    },
    { passive: false },
  )
  plot.addEventListener("keydown", (event) => {
    const factors = /** @type {Record<string, number>} */ ({ "+": 2, "=": 2, "-": 0.5, 0: 0 })
    if (event.altKey || event.metaKey) return
    if (Object.hasOwn(factors, event.key) && !event.ctrlKey) zoom(view, factors[event.key])
    else if (!move(view, event)) return
    event.preventDefault()
    event.stopPropagation()
  })
  search.form.addEventListener("submit", (event) => {
    event.preventDefault()
    const typed = search.input.value.trim()
    const words = typed.replace(/^"(.+)"$/, "$1")
    const side = Math.min(search.side.selectedIndex, view.content.sides - 1)
    if (POSITION.test(typed)) return goTo(view, side, Number(typed.replaceAll(",", "")))
    if (view.found.words === words && view.found.side === side) return next(view)
    Object.assign(view.wish, { words, side })
    if (words) view.soon()
  })
  far.form.addEventListener("submit", (event) => {
    event.preventDefault()
    const apart = Math.max(0, Math.min(1 << 24, Math.floor(far.apart.valueAsNumber || 0)))
    view.wish.far = [apart, far.first.checked ? 1 : 0]
    view.soon()
  })
  bars.addEventListener("click", ({ offsetX }) => {
    const { columns } = view.content
    const key = Math.floor((offsetX / bars.clientWidth) * columns)
    jump(view, view.chosen[0], Math.min(columns - 1, Math.max(0, key)))
  })
  whole.addEventListener("click", ({ offsetX, offsetY }) => {
    const { columns, rows } = view.content
    const [column, row] = [offsetX / whole.clientWidth, offsetY / whole.clientHeight]
    const middle = /** @type {const} */ ([Math.floor(row * rows), Math.floor(column * columns)])
    view.place = geometry.around(view.place, ...middle, 0, view.content, roomOf(view))
    view.soon()
  })
  // Letters are for the field alone: the page and Streamlit have keys of their own.
  for (const kind of ["keydown", "keypress", "keyup"])
    for (const form of [search.form, far.form])
      form.addEventListener(kind, (event) => event.stopPropagation())
}

/** Leads the chosen cell by a key; true if it is one of those that do.
    @type {(view: View, event: KeyboardEvent) => boolean} */
function move(view, event) {
  const { content, chosen, place } = view
  const room = roomOf(view)
  const page = {
    rows: Math.max(1, Math.floor(room.height / place.cell)),
    columns: Math.max(1, Math.floor(room.width / place.cell)),
  }
  const from = /** @type {[number, number]} */ ([chosen[0], Math.max(0, chosen[1])])
  const cell = geometry.cellAfter(event, from, content, page)
  if (!cell) return false
  choose(view, ...cell)
  view.place = geometry.showing(place, ...cell, content, room)
  return true
}

/** One finger or the mouse pans, two fingers zoom too; what does not move chooses.
    @type {(view: View) => void} */
function listenToPointers(view) {
  const { plot } = view
  /** @type {Map<number, [number, number]>} */
  const down = new Map()
  let moved = 0
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return
    plot.setPointerCapture(event.pointerId)
    down.set(event.pointerId, pointOf(view, event))
    moved = down.size > 1 ? MOVED : 0
  })
  plot.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId)
    if (!before) return pointAt(view, event)
    const now = pointOf(view, event)
    const other = [...down].find(([id]) => id !== event.pointerId)?.[1]
    const [across, below] = [now[0] - before[0], now[1] - before[1]]
    moved += Math.abs(across) + Math.abs(below)
    down.set(event.pointerId, now)
    if (moved < MOVED) return
    if (!other) return pan(view, across, below)
    const apart = (/** @type {[number, number]} */ [x, y]) =>
      Math.max(1, Math.hypot(x - other[0], y - other[1]))
    pan(view, across / 2, below / 2)
    zoom(view, apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2)
  })
  plot.addEventListener("pointerup", (event) => {
    if (down.delete(event.pointerId) && moved < MOVED) pick(view, event)
  })
  plot.addEventListener("pointercancel", ({ pointerId }) => down.delete(pointerId))
  plot.addEventListener("pointerleave", () => pointAt(view, null))
}

/** Where an event happened on the map, in pixels.
    @type {(view: View, event: MouseEvent) => [number, number]} */
function pointOf({ canvas, width }, { clientX, clientY }) {
  const { left, top } = canvas.getBoundingClientRect()
  return [clientX - left - leftOf(width), clientY - top - EDGE.top]
}

/** The query and the key there, null beside the map.
    @type {(view: View, event: MouseEvent) => [number, number] | null} */
function cellAt(view, event) {
  const [x, y] = pointOf(view, event)
  const { place, content } = view
  const [key, query] = [
    Math.floor(place.left + x / place.cell),
    Math.floor(place.top + y / place.cell),
  ]
  const there = x >= 0 && y >= 0 && query < content.rows && key < content.columns
  return there ? [query, key] : null
}

/** Chooses the cell there, or the one of the square there whose weight is the greatest.
    @type {(view: View, event: MouseEvent) => void} */
function pick(view, event) {
  const cell = cellAt(view, event)
  if (!cell) return
  const level = geometry.levelAt(view.place.cell, view.content.top)
  if (level <= 0) return choose(view, ...cell)
  const block = geometry.blockOf(level)
  view.wish.block = [level, ...cell.map((at) => Math.floor(at / block))]
  view.soon()
}

/** Tells the weight that is pointed at.
    @type {(view: View, event: MouseEvent | null) => void} */
export function pointAt(view, event) {
  view.pointer = event
  const cell = event && cellAt(view, event)
  view.readout.textContent = cell ? readoutOf(view, cell) : ""
}
