import { make } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { adopt } from "../shared/selection.js"
import { isLate } from "../shared/turns.js"

/** @import { FigureHeader, RowHeader, SceneHeader } from "../messages.js"
    @import { Draw, Given } from "../shared/component.js"
    @typedef {{ draw: Draw, base: string, style: string }} Kind
    @typedef {{ host: HTMLElement, mount: HTMLElement | ShadowRoot, digest: string,
      turn: number }} Place
    @typedef {{ given: Given, frame: HTMLElement, places: Map<string, Place>, order: string }} View */

/* What is shown by colours keeps them where a browser is told to replace all. */
const KEPT_COLOURS = `@media (forced-colors: active) {
  :host { forced-color-adjust: none; background: var(--st-background-color); } }`

/** @type {WeakMap<object, View>} */
const views = new WeakMap()
/** @type {Record<string, Kind>} */
const loaded = {}

/** Draws a scene: each figure by the module of its kind, in a place that it keeps by its key, and
    only where what it holds has changed, or answers what was done in it.
    @type {(given: Given) => Promise<void>} */
export default async function drawScene(given) {
  const root = given.parentElement
  const known = views.get(root)
  const view = known ?? {
    ...{ given, frame: make("div", "attention-scene", root), order: "" },
    places: /** @type {View["places"]} */ (new Map()),
  }
  views.set(root, view)
  view.given = given
  const content = /** @type {SceneHeader & { rest: Uint8Array }} */ (
    /** @type {unknown} */ (decode(given.data))
  )
  const { figures, rows, selection, rest } = content
  const missing = figures.filter(({ kind }) => !loaded[kind])
  if (missing.length) {
    await Promise.all(missing.map(({ kind }) => load(given, kind)))
    if (view.given !== given) return // another message came meanwhile
  }
  arrange(view, figures, rows)
  let from = 0
  const names = namesOf(figures)
  for (const [at, figure] of figures.entries()) {
    const data = rest.subarray(from, from + figure.size)
    from += figure.size
    drawFigure(view, names[at], figure, data)
  }
  if (selection) adopt(selection)
}

/** @type {(view: View, name: string, figure: FigureHeader, data: Uint8Array) => void} */
function drawFigure(view, name, { kind, key, turn, digest }, data) {
  const place = /** @type {Place} */ (view.places.get(name))
  if ((place.digest === digest && place.turn === turn) || (key && isLate(key, turn))) return
  Object.assign(place, { digest, turn })
  const setTriggerValue = (/** @type {string} */ event, /** @type {unknown} */ value) =>
    view.given.setTriggerValue(`${key}.${event}`, value)
  const within = { key: key || name, turn, answered: view.given.answered }
  loaded[kind].draw({ data, parentElement: place.mount, setTriggerValue, within })
}

/** Names of figures: their keys; of one without the number it has among its kind.
    @type {(figures: FigureHeader[]) => string[]} */
export function namesOf(figures) {
  /** @type {Record<string, number>} */
  const counts = {}
  return figures.map(({ kind, key }) => {
    if (key) return key
    counts[kind] = (counts[kind] ?? 0) + 1
    return `${kind} ${counts[kind]}`
  })
}

/** Puts the places of all figures into rows and columns; those that stay keep what they hold.
    @type {(view: View, figures: FigureHeader[], rows: RowHeader[]) => void} */
function arrange(view, figures, rows) {
  const names = namesOf(figures)
  const order = JSON.stringify([names, figures.map(({ kind }) => kind), rows])
  if (order === view.order) return
  view.order = order
  for (const [name, { host }] of view.places) {
    const at = names.indexOf(name)
    if (at >= 0 && host.dataset.kind === figures[at].kind) continue
    host.remove()
    view.places.delete(name)
  }
  const lines = rows.map(({ columns, shares }) => {
    const across = columns.map((positions) => {
      const hosts = positions.map((at) => placeOf(view, names[at], figures[at]).host)
      return around(hosts, "scene-column")
    })
    const line = around(across, "scene-row")
    line.style.gridTemplateColumns = shares.map((share) => `minmax(0, ${share}fr)`).join(" ")
    line.classList.toggle("shared", shares.length > 0)
    return line
  })
  put(view.frame, lines)
}

/** Elements in a box: in the one that the first of them with a box has, so that these stay there.
    @type {(elements: HTMLElement[], name: string) => HTMLElement} */
function around(elements, name) {
  const known = elements.find(({ parentElement }) => parentElement)?.parentElement
  const box = known ?? make("div", name)
  put(box, elements)
  return box
}

/** Puts elements into a box and takes the others out. Whatever stands right is not touched: moved, it
    would lose its focus and what it is scrolled to.
    @type {(box: HTMLElement, elements: HTMLElement[]) => void} */
function put(box, elements) {
  for (const each of [...box.children])
    if (!elements.includes(/** @type {HTMLElement} */ (each))) each.remove()
  for (const [at, each] of elements.entries())
    if (box.children[at] !== each) box.insertBefore(each, box.children[at] ?? null)
}

/** @type {(view: View, name: string, figure: FigureHeader) => Place} */
function placeOf(view, name, { kind, key, light }) {
  const known = view.places.get(name)
  if (known) return known
  const host = make("div", `scene-figure attention-${kind}-figure${key ? ` st-key-${key}` : ""}`)
  host.dataset.kind = kind
  const mount = light ? host : host.attachShadow({ mode: "open" })
  const { base, style } = loaded[kind]
  if (!light) make("style", "", mount, { textContent: base + style + KEPT_COLOURS })
  else if (style) lend(kind)
  const place = { host, mount, digest: "", turn: 0 }
  view.places.set(name, place)
  return place
}

/** The style of a kind that the page's own reaches, once in the document.
    @type {(kind: string) => void} */
function lend(kind) {
  const id = `style-of-${kind}`
  if (!document.getElementById(id))
    make("style", "", document.head, { id, textContent: loaded[kind].style })
}

/** @type {(given: Given, kind: string) => Promise<void>} */
async function load({ load, loadStyle }, kind) {
  if (!load || !loadStyle) throw new TypeError("a scene must be given what loads its figures")
  const [module, base, style] = await Promise.all([
    load(`${kind}/index.js`),
    loadStyle("shared/figure.css"),
    loadStyle(`${kind}/style.css`),
  ])
  const shared = module.style ? await loadStyle(module.style) : ""
  loaded[kind] = { draw: module.default, base, style: shared + style }
}
