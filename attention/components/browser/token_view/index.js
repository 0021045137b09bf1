import { listenToQueries, markQueries } from "../shared/choosing.js"
import * as elements from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { named } from "../shared/words.js"

/** @import { Given, Place } from "../shared/message.js"
    @typedef {{ tokens: string[], known: boolean[] }} Sequence
    @typedef {Sequence & { memory?: Sequence, query: number, numbers: Float32Array }} Content
    @typedef {Record<"scroll" | "queries" | "keys" | "summary", HTMLElement> & { rows: Float32Array,
      lines: SVGElement, names: string, tokens: string[], keyTokens: string[], alone: boolean,
      height: number, options: HTMLElement[], items: HTMLElement[], told: Text[],
      query: number, shown?: number, select: (query: number) => void }} View */

const SVG = "http://www.w3.org/2000/svg"
const MOST_ROOMY = 14
const GAP = 4
const PADDING = 3
const PART = 16
const { make } = elements

/** @type {(given: Given) => void} */
export default function ({ data, parentElement, setTriggerValue }) {
  /** @type {Content} */
  const { numbers, tokens, known, memory, query } = decode(data, "token_view", 1)
  const view = elements.viewIn(parentElement, build)
  view.select = (query) => setTriggerValue("query", query)
  view.rows = numbers
  const names = JSON.stringify([tokens, known, memory])
  if (view.names !== names) write(view, { tokens, known }, memory)
  view.names = names
  view.query = query
  elements.afterPaint(() => {
    hold(view)
    reveal(view)
    show(view, view.query)
  })
}

/** @type {(parent: Place, view: View) => void} */
function build(parent, view) {
  const frame = make("div", "frame", parent)
  const heads = make("div", "heads", frame)
  for (const textContent of ["query", "key and weight"]) make("span", "", heads, { textContent })
  const scroll = make("div", "scroll", frame)
  const queries = make("div", "queries", scroll)
  const lines = scroll.appendChild(document.createElementNS(SVG, "svg"))
  const label = "Keys, each with the weight it gets"
  const keys = make("div", "keys", scroll, { role: "list", ariaLabel: label })
  const summary = make("p", "summary", frame, { role: "status" })
  lines.ariaHidden = "true"
  Object.assign(view, { scroll, queries, lines, keys, summary })
  listenToQueries(view, show, reveal)
  const again = () => view.shown !== undefined && show(view, view.shown)
  scroll.addEventListener("scroll", () => {
    if (scroll.querySelector(".held")) requestAnimationFrame(again)
  })
  new ResizeObserver(again).observe(scroll)
}

/** Without a memory the sentence is its own: its tokens are queries and keys.
    @type {(view: View, queries: Sequence, memory?: Sequence) => void} */
function write(view, queries, memory) {
  const keys = memory ?? queries
  view.tokens = queries.tokens
  view.keyTokens = keys.tokens
  view.alone = memory === undefined
  const long = Math.max(view.tokens.length, view.keyTokens.length) > MOST_ROOMY
  view.height = long ? 24 : 30
  view.scroll.classList.toggle("long", long)
  elements.place(view.scroll, { "--height": view.height })
  /** @type {(role: string, sequence: Sequence) => HTMLElement[]} */
  const chips = (role, { tokens, known }) =>
    tokens.map((token, index) => elements.makeChip(role, known[index], token, index))
  view.options = chips("option", queries)
  view.items = chips("listitem", keys)
  view.told = view.items.map((item) => make("small", "", item).appendChild(new Text()))
  view.shown = undefined
  view.queries.replaceChildren(...parts(view.height, view.options))
  view.keys.replaceChildren(...parts(view.height, view.items))
  view.lines.replaceChildren(...view.items.map(() => document.createElementNS(SVG, "path")))
}

/** A few tokens each: the browser leaves parts alone that are scrolled out of sight.
    @type {(height: number, tokens: HTMLElement[]) => HTMLElement[]} */
function parts(height, tokens) {
  return Array.from({ length: Math.ceil(tokens.length / PART) }, (_, index) => {
    const part = make("div", "", null, { role: "presentation" })
    part.append(...tokens.slice(index * PART, (index + 1) * PART))
    part.style.containIntrinsicBlockSize = `${part.children.length * (height + GAP) - GAP}px`
    return part
  })
}

/** @type {(view: View, query: number) => void} */
function show(view, query) {
  view.shown = query
  const n = view.keyTokens.length
  const row = view.rows.subarray(query * n, query * n + n)
  const most = row.reduce((most, weight) => Math.max(most, weight || 0), 0) || 1
  const width = view.lines.clientWidth
  const middle = view.height / 2
  const from = view.queries.offsetTop + below(view.height, query) + middle
  const start = view.keys.offsetTop + middle
  for (const [key, weight] of row.entries()) {
    const masked = Number.isNaN(weight)
    const item = view.items[key]
    const share = `${6 + (44 * weight) / most}%`
    const colour = `color-mix(in srgb, var(--st-primary-color) ${share}, transparent)`
    item.classList.toggle("masked", masked)
    item.style.backgroundColor = masked ? "" : colour
    view.told[key].data = masked ? "masked" : weight.toFixed(n > 64 ? 4 : 3)
    const line = view.lines.children[key]
    const path = curve(width, from, start + below(view.height, key))
    line.setAttribute("d", masked ? "" : path)
    line.setAttribute("stroke-width", String(masked ? 0 : 0.75 + 7 * weight))
    line.setAttribute("stroke-opacity", String(masked ? 0 : 0.08 + (0.8 * weight) / most))
  }
  markQueries(view, query)
  view.summary.textContent = summarise(view, row, query)
}

/** @type {(width: number, from: number, to: number) => string} */
export function curve(width, from, to) {
  return `M0,${from} C${width / 2},${from} ${width / 2},${to} ${width},${to}`
}

/** The two keys that a query attends to most.
    @typedef {Pick<View, "tokens" | "keyTokens" | "alone">} Names
    @type {(names: Names, row: Float32Array, query: number) => string} */
export function summarise({ tokens, keyTokens, alone }, row, query) {
  const order = [...row.keys()].filter((key) => row[key] > 0).sort((a, b) => row[b] - row[a])
  if (order.length === 0)
    return `“${tokens[query]}” may attend to nothing: weights and output are 0.`
  const told = order.slice(0, 2).map((key) => {
    const name = alone && key === query ? "itself" : named(keyTokens, key)
    return `${name} (${row[key].toFixed(3)})`
  })
  return `${named(tokens, query)} attends most to ${told.join(", then ")}.`
}

/** @type {(view: View) => void} */
function reveal({ options, queries, scroll, query, height }) {
  if (options[query]) elements.reveal(scroll, queries.offsetTop + below(height, query), height)
}

/** How far below the top of its list a token stands.
    @type {(height: number, index: number) => number} */
export function below(height, index) {
  return PADDING + index * (height + GAP)
}

/** Of two sequences the shorter one, where it fits, stays in view while the other scrolls.
    @type {(view: View) => void} */
function hold({ scroll, queries, keys, options, items, height, alone }) {
  const fits = (/** @type {HTMLElement[]} */ tokens) =>
    !alone && tokens.length * (height + GAP) < scroll.clientHeight
  queries.classList.toggle("held", fits(options))
  keys.classList.toggle("held", fits(items))
}
