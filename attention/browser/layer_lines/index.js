import { chooseByKeys, markQueries } from "../shared/choosing.js"
import { palette } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { make, makeChip, makeShape, setLengths, under } from "../shared/elements.js"
import { countDrawing } from "../shared/painter.js"
import { choose, pointAt, whenMoved, where } from "../shared/selection.js"
import { fixed, named } from "../shared/words.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {import("../shared/message.js").Content<"layer_lines">} Content
    @typedef {{ layer: number, key: number, weight: number, head: number }} Link
    @typedef {{ row: number, pitch: number, width: number, height: number }} Layout
    @typedef {ReturnType<typeof build>} View */

const ROOMY = 24
const ROW = 24
const NARROW_ROW = 15
const LEAST_PITCH = 17
const MOST_PITCH = 120
const NAME = 18
const TOP = 22
const EDGE = 8
const THICKEST = 7
const MOST_TOLD = 5
const HINT = "Point at a layer or at a token for its numbers; click a token to choose it."

export default component(build, take, draw)

/** @type {(view: View) => void} */
function take(view) {
  draw(view)
}

/** @param {Mount<"layer_lines">} mount */
function build({ root, content }) {
  const frame = make("div", "frame", root)
  const picture = make("div", "picture", frame)
  const left = make("div", "left", picture)
  const head = make("div", "word", left, { ariaHidden: "true" })
  const ariaLabel = "Tokens; up and down choose one, left and right go through the layers"
  const queries = make("div", "queries", left, { tabIndex: 0, role: "listbox", ariaLabel })
  const scroll = make("div", "scroll", picture, { tabIndex: 0, role: "group", ariaLabel: "Layers" })
  const drawing = makeShape("svg", { "aria-hidden": "true" }, scroll)
  const readout = make("p", "readout", frame, { role: "status" })
  const options = /** @type {HTMLElement[]} */ ([])
  const shapes = /** @type {{ link: Link, shape: Element }[]} */ ([])
  const band = makeShape("rect", {})
  const view = {
    ...{ content, frame, head, queries, options, scroll, drawing, band, readout, shapes },
    ...{ names: "", width: 0, lit: -1, layout: layoutOf(content, 0) },
  }
  listen(view)
  whenMoved(frame, () => show(view))
  return view
}

/** @type {(view: View) => void} */
function listen(view) {
  const { queries, drawing } = view
  const token = (/** @type {Event} */ event) => {
    const chip = under(event, ".token")
    return chip ? view.options.indexOf(chip) : -1
  }
  queries.addEventListener("pointerover", (event) => pointAt({ key: Math.max(0, token(event)) }))
  queries.addEventListener("pointerleave", () => pointAt(null))
  queries.addEventListener("click", (event) => {
    if (token(event) >= 0) choose("query", token(event))
  })
  chooseByKeys(queries, () => view.options.length)
  queries.addEventListener("keydown", (event) => {
    const next = layerAfter(event.key, view.lit, view.content.layers.length)
    if (next === undefined) return
    event.preventDefault()
    light(view, next)
  })
  drawing.addEventListener("pointermove", (event) => {
    const { left } = drawing.getBoundingClientRect()
    const layer = Math.floor((event.clientX - left - EDGE) / view.layout.pitch)
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

/** As wide as there is room for, and never so narrow that layers cannot be told apart.
    @type {(content: Pick<Content, "tokens" | "layers">, room: number) => Layout} */
export function layoutOf({ tokens, layers }, room) {
  const row = tokens.length > ROOMY ? NARROW_ROW : ROW
  const fitting = Math.floor((room - 2 * EDGE) / layers.length)
  const pitch = Math.min(MOST_PITCH, Math.max(LEAST_PITCH, fitting))
  return { row, pitch, width: pitch * layers.length + 2 * EDGE, height: TOP + row * tokens.length }
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

/** @type {(view: View) => void} */
function draw(view) {
  const { content, frame, drawing, options } = view
  const names = JSON.stringify(content.tokens)
  if (view.names !== names) {
    const { tokens } = content
    const chips = tokens.map((_, index) => makeChip("option", true, tokens, index))
    options.splice(0, options.length, ...chips)
    view.queries.replaceChildren(...options)
  }
  view.names = names
  view.width = frame.clientWidth
  if (!view.width) return
  view.layout = layoutOf(content, view.scroll.clientWidth)
  const { row, pitch, width, height } = view.layout
  setLengths(frame, { "--row": row, "--top": TOP })
  view.head.textContent = content.layers[0].replace(/\s*\d+$/, "")
  for (const [name, value] of Object.entries({ width, height }))
    drawing.setAttribute(name, String(value))
  const x = (/** @type {number} */ column) => EDGE + column * pitch
  const y = (/** @type {number} */ token) => TOP + (token + 0.5) * row
  const own = { d: `M${x(0)},${y(content.query)} H${x(content.layers.length)}`, class: "own" }
  Object.assign(view.band.style, { display: "none" })
  drawing.replaceChildren(view.band, ...dots(content, x, y), makeShape("path", own))
  numberLayers(view)
  const hues = palette(frame, "categorical")
  view.shapes = linksOf(content).map((link) => {
    const [start, end] = [x(link.layer + 1), x(link.layer)]
    const [from, to, middle] = [y(content.query), y(link.key), (start + end) / 2]
    const stroke = link.head < 0 ? "var(--st-primary-color)" : hues[link.head % hues.length]
    const shape = makeShape("g", { class: "line" }, drawing)
    shape.style.color = stroke
    const d = `M${start},${from} C${middle},${from} ${middle},${to} ${end},${to}`
    const thick = { "stroke-width": Math.max(0.75, THICKEST * link.weight) }
    makeShape("path", { d, ...thick, "stroke-opacity": 0.4 + 0.6 * link.weight }, shape)
    makeShape("circle", { cx: end, cy: to, r: 1.5 + 2.5 * link.weight }, shape)
    return { link, shape }
  })
  show(view)
  countDrawing(frame)
}

/** A dot for each token between two layers.
    @type {(content: Content, x: (column: number) => number, y: (token: number) => number)
      => Element[]} */
function dots({ tokens, layers }, x, y) {
  return Array.from({ length: layers.length + 1 }, (_, column) => {
    const d = tokens.map((_, token) => `M${x(column)},${y(token)} h0.01`).join(" ")
    return makeShape("path", { d, class: "dots" })
  })
}

/** As many numbers of layers as have room.
    @type {(view: View) => void} */
function numberLayers({ content: { layers }, drawing, layout: { pitch } }) {
  const every = [1, 2, 5, 10].find((step) => step * pitch >= NAME) ?? 10
  for (const [layer, title] of layers.entries()) {
    if (layer % every) continue
    const at = { x: EDGE + (layer + 0.5) * pitch, y: TOP - 9, "text-anchor": "middle" }
    makeShape("text", at, drawing).textContent = title.match(/\d+$/)?.[0] ?? title
  }
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
  const { content, frame, lit, shapes, options, band, layout } = view
  if (!options.length) return
  const { held, key } = where(frame, options.length)
  markQueries(view, held, held)
  for (const [index, option] of options.entries()) option.classList.toggle("asked", index === key)
  for (const { link, shape } of shapes) {
    const stays = (lit < 0 || link.layer === lit) && (key === null || link.key === key)
    shape.classList.toggle("dim", !stays)
  }
  const { pitch, height } = layout
  for (const [name, value] of Object.entries({ x: EDGE + lit * pitch, y: 0, width: pitch, height }))
    band.setAttribute(name, String(value))
  band.setAttribute("class", "band")
  band.style.display = lit < 0 ? "none" : ""
  view.readout.textContent =
    key !== null ? tellToken(content, key) : lit >= 0 ? tellLayer(content, lit) : HINT
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
    return `${key === query ? "itself" : named(tokens, key)} ${fixed(weight, 4)}${of}`
  })
  const more = links.length - told.length
  const rest = more ? `, and ${more} more` : ""
  return `${title}: ${named(tokens, query)} looks at ${told.join(", ")}${rest}.`
}

/** In which layers the token looks most at another one.
    @type {(content: Content, key: number) => string} */
export function tellToken({ tokens, query, layers, numbers }, key) {
  const weights = layers.map((title, layer) => ({
    title,
    weight: numbers[layer * tokens.length + key],
  }))
  weights.sort((one, other) => other.weight - one.weight)
  const told = weights.slice(0, 3).map(({ title, weight }) => `${fixed(weight, 4)} in ${title}`)
  return `${named(tokens, query)} to ${named(tokens, key)}, the most: ${told.join(", ")}.`
}
