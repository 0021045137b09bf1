import { listenToTokens, markQueries } from "../shared/choosing.js"
import { make, makeChip, place, reveal } from "../shared/elements.js"
import { choose } from "../shared/place.js"
import { fixed } from "../shared/words.js"
import { maskWords, rowOf, summary } from "./sums.js"

/** @import { Tokens } from "../shared/choosing.js"
    @import { At, Content, Part } from "./index.js"
    @typedef {Record<"scroll" | "told" | "notes", HTMLElement> & Tokens & { content: Content,
      lines: SVGElement, number: HTMLInputElement, height: number, weights: Text[], paths: Element[],
      names: string, at?: At, held: number }} View */

const SVG = "http://www.w3.org/2000/svg"
const MOST_ROOMY = 14
const GAP = 4
const PADDING = 3
const PART = 16

/** Queries and keys as text, joined by lines as strong as the weights of one query.
    @type {(parent: HTMLElement) => Part} */
export function buildLines(parent) {
  const heads = make("div", "heads", parent)
  const label = make("label", "", heads, { textContent: "query token " })
  const number = make("input", "", label, { type: "number", min: "0", step: "1" })
  make("span", "", heads, { textContent: "key and weight" })
  const scroll = make("div", "scroll", parent)
  const queries = make("div", "queries", scroll)
  const lines = scroll.appendChild(document.createElementNS(SVG, "svg"))
  const words = "Keys, each with the weight it gets"
  const keys = make("div", "keys", scroll, { role: "list", ariaLabel: words })
  const told = make("p", "summary", parent, { role: "status" })
  const notes = make("div", "", parent)
  lines.ariaHidden = "true"
  lines.setAttribute("preserveAspectRatio", "none")
  /** @type {View} */
  const view = /** @type {any} */ ({ scroll, queries, lines, keys, number, told, notes })
  listenToTokens(view)
  number.addEventListener("change", () => {
    const wanted = Math.round(number.valueAsNumber)
    const last = view.options.length - 1
    if (Number.isFinite(wanted)) choose("query", Math.min(last, Math.max(0, wanted)))
    number.value = String(view.held)
  })
  const again = () => view.at && join(view, view.at.query)
  scroll.addEventListener("scroll", () => {
    if (scroll.querySelector(".held")) requestAnimationFrame(again)
  })
  new ResizeObserver(again).observe(scroll)
  return { draw: (content) => draw(view, content), show: (at) => show(view, at) }
}

/** Of two sequences the shorter one, where it fits, stays in view while the other scrolls.
    @type {(view: View, content: Content) => void} */
function draw(view, content) {
  const { tokens, known, keys, keysKnown, own } = content
  const names = JSON.stringify([tokens, known, keys, keysKnown])
  Object.assign(view, { content, at: undefined })
  if (view.names !== names) write(view)
  view.names = names
  const room = own ? 0 : view.scroll.clientHeight
  view.queries.classList.toggle("held", tokens.length * (view.height + GAP) < room)
  view.keys.classList.toggle("held", keys.length * (view.height + GAP) < room)
}

/** @type {(view: View) => void} */
function write(view) {
  const { tokens, known, keys, keysKnown } = view.content
  const long = Math.max(tokens.length, keys.length) > MOST_ROOMY
  view.height = long ? 24 : 30
  view.scroll.classList.toggle("long", long)
  place(view.scroll, { "--height": view.height })
  view.options = tokens.map((token, index) => makeChip("option", known[index], token, index))
  view.items = keys.map((token, index) => makeChip("listitem", keysKnown[index], token, index))
  view.weights = view.items.map((item) => make("small", "", item).appendChild(new Text()))
  view.paths = keys.map(() => document.createElementNS(SVG, "path"))
  view.number.max = String(tokens.length - 1)
  view.held = -1
  view.queries.replaceChildren(...parts(view, view.options))
  view.keys.replaceChildren(...parts(view, view.items))
  view.lines.replaceChildren(...view.paths)
}

/** A few tokens each: the browser leaves parts alone that are scrolled out of sight.
    @type {(view: View, tokens: HTMLElement[]) => HTMLElement[]} */
function parts({ height }, tokens) {
  return Array.from({ length: Math.ceil(tokens.length / PART) }, (_, index) => {
    const part = make("div", "", null, { role: "presentation" })
    part.append(...tokens.slice(index * PART, (index + 1) * PART))
    part.style.containIntrinsicBlockSize = `${part.children.length * (height + GAP) - GAP}px`
    return part
  })
}

/** What asks for the layout comes before what changes it, which would have it worked out twice.
    @type {(view: View, at: At) => void} */
function show(view, at) {
  const { query, key, held } = at
  const { scroll, queries, height } = view
  if (view.held !== held) reveal(scroll, queries.offsetTop + below(height, held), height)
  if (view.at?.query !== query) join(view, query)
  if (view.at?.query !== query || view.at.wanted !== at.wanted) tell(view, at)
  if (view.held !== held) view.number.value = String(held)
  Object.assign(view, { at, held })
  markQueries(view, held, query)
  for (const marked of scroll.querySelectorAll(".keys .previewed, path.previewed"))
    marked.classList.remove("previewed")
  if (key !== null)
    for (const marked of [view.items[key], view.paths[key]]) marked.classList.add("previewed")
}

/** The lines from the query to the keys, and each key's weight.
    @type {(view: View, query: number) => void} */
function join(view, query) {
  const { columns, numbers, hidden } = view.content
  const row = rowOf(numbers.weights, columns, query)
  const masked = rowOf(hidden, columns, query)
  const most = row.reduce((most, weight) => Math.max(most, weight), 0) || 1
  const { clientWidth: width, clientHeight } = view.lines
  view.lines.setAttribute("viewBox", `0 0 ${width || 1} ${clientHeight || 1}`)
  const middle = view.height / 2
  const from = view.queries.offsetTop + below(view.height, query) + middle
  const start = view.keys.offsetTop + middle
  for (const [key, weight] of row.entries()) {
    const [item, line] = [view.items[key], view.paths[key]]
    const share = `${6 + (44 * weight) / most}%`
    const colour = `color-mix(in srgb, var(--st-primary-color) ${share}, transparent)`
    const none = Boolean(masked[key])
    item.classList.toggle("masked", none)
    item.style.backgroundColor = none ? "" : colour
    view.weights[key].data = none ? "masked" : fixed(weight, columns > 64 ? 4 : 3)
    line.setAttribute("d", none ? "" : curve(width, from, start + below(view.height, key)))
    line.setAttribute("stroke-width", String(none ? 0 : 0.75 + 7 * weight))
    line.setAttribute("stroke-opacity", String(none ? 0 : 0.08 + (0.8 * weight) / most))
  }
}

/** @type {(width: number, from: number, to: number) => string} */
export function curve(width, from, to) {
  return `M0,${from} C${width / 2},${from} ${width / 2},${to} ${width},${to}`
}

/** @type {(view: View, at: At) => void} */
function tell({ content, told, notes }, { query, wanted }) {
  told.textContent = summary(content, query)
  const last = content.rows - 1
  const beyond = `There is no token ${wanted} in this sentence; showing the last, ${last}.`
  const words = [wanted > last ? beyond : "", maskWords(content, query)].filter(Boolean)
  notes.replaceChildren(...words.map((textContent) => make("p", "note", null, { textContent })))
}

/** How far below the top of its list a token stands.
    @type {(height: number, index: number) => number} */
export function below(height, index) {
  return PADDING + index * (height + GAP)
}
