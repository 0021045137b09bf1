import { listenToQueries, markQueries } from "../shared/choosing.js"
import { palette } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { make, makeChip, makeShape, setAttributes, setLengths } from "../shared/elements.js"
import { countDrawing } from "../shared/painter.js"
import { whenMoved, where } from "../shared/selection.js"
import { curve, widthOf } from "../shared/token_lines.js"
import { fixed, named } from "../shared/words.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {import("../shared/message.js").Content<"layer_lines">} Content
    @typedef {{ layer: number, key: number, weight: number, head: number }} Link
    @typedef {ReturnType<typeof build>} View */

const ROOMY = 24 // tokens
const ROWS = [24, 15] // pixels of a token: of few, and of many
const PITCH = [17, 120] // pixels of a layer, at least and at most
const NAME = 18
const TOP = 22
const EDGE = 8
const MOST_TOLD = 5
const HINT = "Point at a layer or at a token for its numbers; click a token to choose it."

export const style = "shared/token_lines.css"
export default component(build, draw)

/** @param {Mount<"layer_lines">} mount */
function build({ root, content }) {
  const frame = make("div", "frame", root)
  const picture = make("div", "token-lines", frame)
  const left = make("div", "left", picture)
  const head = make("div", "word", left, { ariaHidden: "true" })
  const ariaLabel = "Tokens; up and down choose one, left and right go through the layers"
  const queries = make("div", "queries", left, { tabIndex: 0, role: "listbox", ariaLabel })
  const scroll = make("div", "layers", picture, { tabIndex: 0, role: "group", ariaLabel: "Layers" })
  const drawing = makeShape("svg", { "aria-hidden": "true" }, scroll)
  const readout = make("p", "readout", frame, { role: "status" })
  const band = makeShape("rect", { class: "band", y: 0 })
  const view = {
    ...{ content, frame, head, queries, scroll, drawing, band, readout },
    ...{ width: 0, pitch: 0, lit: -1 },
    options: /** @type {HTMLElement[]} */ ([]),
    shapes: /** @type {{ link: Link, shape: Element }[]} */ ([]),
  }
  listen(view)
  whenMoved(frame, () => show(view))
  return view
}

/** @type {(view: View) => void} */
function listen(view) {
  const { queries, drawing } = view
  listenToQueries(view, "key")
  queries.addEventListener("keydown", (event) => {
    const next = layerAfter(event.key, view.lit, view.content.layers.length)
    if (next === undefined) return
    event.preventDefault()
    light(view, next)
  })
  drawing.addEventListener("pointermove", (event) => {
    const { left } = drawing.getBoundingClientRect()
    const layer = Math.floor((event.clientX - left - EDGE) / view.pitch)
    light(view, Math.min(view.content.layers.length - 1, Math.max(0, layer)))
  })
  drawing.addEventListener("pointerleave", ({ pointerType }) => {
    if (pointerType === "mouse") light(view, -1)
  })
}

/** The layer that a key leads to from another one, -1 for none of them; else undefined.
    @type {(key: string, at: number, count: number) => number | undefined} */
export function layerAfter(key, at, count) {
  const beside = { ArrowLeft: at < 0 ? count - 1 : Math.max(0, at - 1), ArrowRight: at + 1 }
  const layers = { ...beside, Escape: -1 }
  if (!Object.hasOwn(layers, key)) return undefined
  return Math.min(count - 1, layers[/** @type {keyof typeof layers} */ (key)])
}

/** The lines that are drawn, layer by layer, each with the head that its weight is of, if of one.
    @type {(content: Pick<Content, "tokens" | "layers" | "byHead" | "numbers" | "rest">) => Link[]} */
export function linksOf({ tokens, layers, byHead, numbers, rest }) {
  const [width, cells] = [tokens.length, tokens.length * layers.length]
  return Array.from({ length: cells }, (_, cell) => cell).flatMap((cell) => {
    if (!rest[cell]) return []
    const head = byHead ? rest[cells + cell] : -1
    return [{ layer: Math.floor(cell / width), key: cell % width, weight: numbers[cell], head }]
  })
}

/** As wide as there is room for, and never so narrow that layers cannot be told apart.
    @type {(view: View) => void} */
function draw(view) {
  const { content, frame, drawing, scroll, queries, head } = view
  const { tokens, layers, query } = content
  view.width = frame.clientWidth
  if (!view.width) return
  view.options = tokens.map((_, at) => makeChip("option", true, tokens, at))
  queries.replaceChildren(...view.options)
  const row = ROWS[Number(tokens.length > ROOMY)]
  const fitting = Math.floor((scroll.clientWidth - 2 * EDGE) / layers.length)
  const pitch = Math.min(PITCH[1], Math.max(PITCH[0], fitting))
  const height = TOP + row * tokens.length
  view.pitch = pitch
  setLengths(frame, { "--height": row, "--top": TOP })
  head.textContent = layers[0].replace(/\s*\d+$/, "")
  setAttributes(drawing, { width: pitch * layers.length + 2 * EDGE, height })
  const x = (/** @type {number} */ column) => EDGE + column * pitch
  const y = (/** @type {number} */ token) => TOP + (token + 0.5) * row
  const own = { d: `M${x(0)},${y(query)} H${x(layers.length)}`, class: "own" }
  setAttributes(view.band, { width: pitch, height })
  drawing.replaceChildren(view.band, makeShape("path", own))
  const dots = tokens.flatMap((_, token) =>
    [...layers, ""].map((_, column) => `M${x(column)},${y(token)} h0.01`),
  )
  makeShape("path", { d: dots.join(" "), class: "dots" }, drawing)
  const every = [1, 2, 5, 10].find((step) => step * pitch >= NAME) ?? 10
  for (const [layer, title] of layers.entries()) {
    if (layer % every) continue
    const at = { x: x(layer + 0.5), y: TOP - 9, "text-anchor": "middle" }
    makeShape("text", at, drawing).textContent = title.match(/\d+$/)?.[0] ?? title
  }
  const hues = palette(frame, "categorical")
  view.shapes = linksOf(content).map((link) => {
    const shape = makeShape("g", { class: "line" }, drawing)
    const [to, weight] = [y(link.key), link.weight]
    shape.style.color = link.head < 0 ? "var(--st-primary-color)" : hues[link.head % hues.length]
    const looks = { "stroke-width": widthOf(weight), "stroke-opacity": 0.4 + 0.6 * weight }
    makeShape("path", { d: curve(x(link.layer + 1), y(query), x(link.layer), to), ...looks }, shape)
    makeShape("circle", { cx: x(link.layer), cy: to, r: 1.5 + 2.5 * weight }, shape)
    return { link, shape }
  })
  show(view)
  countDrawing(frame)
}

/** @type {(view: View, layer: number) => void} */
function light(view, layer) {
  if (view.lit === layer) return
  view.lit = layer
  show(view)
}

/** The layer or the token that is pointed at stands out, and its numbers are told.
    @type {(view: View) => void} */
function show(view) {
  const { content, lit, shapes, options, band, pitch, readout } = view
  if (!options.length) return
  const { held, key } = where(options.length)
  markQueries(view, held, held)
  for (const [index, option] of options.entries()) option.classList.toggle("asked", index === key)
  for (const { link, shape } of shapes) {
    const stays = (lit < 0 || link.layer === lit) && (key === null || link.key === key)
    shape.classList.toggle("dim", !stays)
  }
  setAttributes(band, { x: EDGE + lit * pitch, display: lit < 0 ? "none" : "" })
  if (key !== null) readout.textContent = tellToken(content, key)
  else readout.textContent = lit >= 0 ? tellLayer(content, lit) : HINT
}

/** Where the token looks in one layer, the most first.
    @type {(content: Content, layer: number) => string} */
export function tellLayer(content, layer) {
  const { tokens, query, layers } = content
  const links = linksOf(content).filter((link) => link.layer === layer)
  links.sort((one, other) => other.weight - one.weight)
  const title = `${layers[layer][0].toUpperCase()}${layers[layer].slice(1)}`
  if (!links.length) return `${title}: ${named(tokens, query)} may look at nothing.`
  const told = links.slice(0, MOST_TOLD).map(({ key, weight, head }) => {
    const of = head < 0 ? "" : ` (head ${head})`
    return `${key === query ? "itself" : named(tokens, key)} ${fixed(weight, 2)}${of}`
  })
  const more = links.length - told.length
  const rest = more ? `, and ${more} more` : ""
  return `${title}: ${named(tokens, query)} looks at ${told.join(", ")}${rest}.`
}

/** In which layers the token looks most at another one.
    @type {(content: Content, key: number) => string} */
export function tellToken({ tokens, query, layers, numbers }, key) {
  const weightOf = (/** @type {number} */ layer) => numbers[layer * tokens.length + key]
  const order = [...layers.keys()].sort((one, other) => weightOf(other) - weightOf(one))
  const told = order.slice(0, 3).map((at) => `${fixed(weightOf(at), 2)} in ${layers[at]}`)
  return `${named(tokens, query)} to ${named(tokens, key)}, the most: ${told.join(", ")}.`
}
