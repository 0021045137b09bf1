import { listenTo, listenToQueries, markQueries } from "../shared/choosing.js"
import * as elements from "../shared/elements.js"
import { curve, widthOf } from "../shared/token_lines.js"
import { glance, precise, sizeOf } from "../shared/words.js"
import { rowOf, summary } from "./sums.js"

/** @import { At, Content, Part } from "./index.js"
    @typedef {ReturnType<typeof build>} View */

const MOST_ROOMY = 8
const MOST_READ = 20
const GAP = 4
const PADDING = 3
const PART = 16
const MOST_ALONE = 64 // keys
const LEVELS = 32
const MOST_WOVEN = 900 // pairs of a query and a key
const WOVEN_LEVELS = 4
const LATER = 100 // milliseconds
const { make, makeChip, makeShape, placeUnder, reveal, setLengths, settle } = elements

/** Queries and keys as text, joined by lines as strong as the weights of one query; of two sequences
    faint lines behind them join all queries with their keys.
    @type {(parent: HTMLElement, content: Content) => Part} */
export function buildLines(parent, content) {
  const view = build(parent, content)
  const { queries, keys, scroll } = view
  Object.assign(queries, { tabIndex: 0, role: "listbox" })
  queries.ariaLabel = "Choose a query token; arrow keys move"
  listenToQueries(view, "query")
  listenTo(keys, (event) => {
    const key = placeUnder(event, view.items)
    return key < 0 ? null : { key }
  })
  const again = () => view.at && join(view, view.at)
  scroll.addEventListener("scroll", () => {
    if (scroll.querySelector(".held")) requestAnimationFrame(again)
  })
  new ResizeObserver(again).observe(scroll)
  return { draw: (content) => draw(view, content), show: (at) => show(view, at) }
}

/** @param {HTMLElement} parent
    @param {Content} content */
function build(parent, content) {
  const titles = make("div", "titles", parent)
  make("span", "", titles, { textContent: "query" })
  const title = make("span", "", titles)
  const scroll = make("div", "scroll token-lines", parent)
  const queries = make("div", "queries", scroll)
  const lines = makeShape("svg", { preserveAspectRatio: "none", "aria-hidden": "true" }, scroll)
  const keys = make("div", "keys", scroll, { role: "list" })
  const [options, items] = /** @type {HTMLElement[][]} */ ([[], []])
  return {
    ...{ content, title, scroll, queries, lines, keys, options, items },
    woven: makeShape("g", {}, lines),
    joined: makeShape("g", { class: "joined" }, lines),
    pointed: makeShape("path", {}, lines),
    ...{ told: make("p", "summary", parent, { role: "status" }), note: make("p", "note", parent) },
    ...{ names: "", height: 0, held: -1, wovenIn: "", isNew: true },
    at: /** @type {At | null} */ (null),
  }
}

/** Writes the tokens, where they are others; of two sequences the shorter one, where it fits, stays
    in view while the other scrolls.
    @type {(view: View, content: Content) => void} */
function draw(view, content) {
  const { scroll, title } = view
  const { tokens, known, keys, keysKnown, called, own } = content
  const names = JSON.stringify([tokens, known, keys, keysKnown])
  title.textContent = `key and its ${called}`
  view.keys.ariaLabel = `Keys, each with the ${called} it gets`
  if (view.names !== names) {
    const most = Math.max(tokens.length, keys.length)
    view.height = most > MOST_ROOMY ? 24 : 30
    scroll.classList.toggle("long", most > MOST_READ)
    setLengths(scroll, { "--height": view.height })
    view.options = tokens.map((_, at) => makeChip("option", known[at], tokens, at))
    view.items = keys.map((_, at) => makeChip("listitem", keysKnown[at], keys, at))
    for (const item of view.items) make("small", "", item)
    view.queries.replaceChildren(...partsOf(view, view.options))
    view.keys.replaceChildren(...partsOf(view, view.items))
    view.held = -1
  }
  Object.assign(view, { content, names, isNew: true, wovenIn: "", at: null })
  const room = own ? 0 : scroll.clientHeight
  for (const [list, all] of /** @type {const} */ ([
    [view.queries, tokens],
    [view.keys, keys],
  ]))
    list.classList.toggle("held", all.length * (view.height + GAP) < room)
}

/** A few tokens each: the browser leaves parts alone that are scrolled out of sight.
    @type {(view: View, tokens: HTMLElement[]) => HTMLElement[]} */
function partsOf({ height }, tokens) {
  return Array.from({ length: Math.ceil(tokens.length / PART) }, (_, index) => {
    const part = make("div", "", null, { role: "presentation" })
    part.append(...tokens.slice(index * PART, (index + 1) * PART))
    part.style.containIntrinsicBlockSize = `${part.children.length * (height + GAP) - GAP}px`
    return part
  })
}

/** Shows the chosen query, the one that is pointed at, and lines to its keys. What asks for the
    layout comes before what changes it, which would have it worked out twice.
    @type {(view: View, at: At) => void} */
function show(view, at) {
  const { scroll, queries, height, items, at: before, content, told, note } = view
  if (view.held !== at.held) {
    reveal(scroll, queries.offsetTop + below(height, at.held), height)
    if (window !== window.parent) revealInFrame(view.options[at.held])
  }
  view.held = at.held
  view.at = at
  if (before?.query !== at.query) {
    join(view, at)
    told.textContent = content.said[at.query]?.line.join("") || summary(content, at.query)
  } else if (before.key !== at.key) point(view, at)
  markQueries(view, at.held, at.query)
  for (const [key, item] of items.entries()) item.classList.toggle("previewed", key === at.key)
  note.textContent = at.wanted < content.rows ? "" : "That word is gone; the last one is selected."
}

/** Scrolls the page within a frame, as the preview of a card is, and never the page around that.
    @type {(word: HTMLElement | undefined) => void} */
function revealInFrame(word) {
  const beyond = word ? word.getBoundingClientRect().bottom - innerHeight : 0
  if (beyond > 0) document.querySelector(".stMain")?.scrollBy(0, beyond + innerHeight / 8)
}

/** The lines, and the weights beside the keys: at once where the numbers are new, else of those in
    sight, and of all once nobody points elsewhere for a while.
    @type {(view: View, at: At) => void} */
function join(view, at) {
  const { lines, joined, items, content } = view
  weave(view) // which asks for the layout, as what follows does
  const { clientWidth: width, clientHeight } = lines
  lines.setAttribute("viewBox", `0 0 ${width || 1} ${clientHeight || 1}`)
  const [first, last] = inSight(view)
  const row = rowOf(content.numbers.weights, content.columns, at.query)
  const masked = rowOf(content.hidden, content.columns, at.query)
  const groups = groupsOf(row, masked)
  const curveTo = curvesOf(view, at.query)
  while (joined.children.length < groups.length) makeShape("path", {}, joined)
  while (joined.children.length > groups.length) joined.lastElementChild?.remove()
  for (const [index, { keys, weight }] of groups.entries()) {
    const line = /** @type {SVGElement} */ (joined.children[index])
    line.setAttribute("d", keys.map(curveTo).join(""))
    line.setAttribute("stroke-width", String(widthOf(weight)))
    line.setAttribute("stroke-opacity", String(0.08 + 0.8 * sizeOf(weight)))
    line.style.stroke = hueOf(content, weight)
    line.classList.toggle("negative", weight < 0)
  }
  point(view, at)
  const write = (all = true) => {
    for (const [key, item] of items.entries())
      if (all || (key >= first && key <= last)) weigh(item, row[key], Boolean(masked[key]), content)
  }
  write(view.isNew)
  settle(view, LATER, write)
  view.isNew = false
}

/** The first and the last key that are not scrolled out of sight.
    @type {(view: View) => [number, number]} */
function inSight({ scroll, keys, height }) {
  const top = keys.classList.contains("held") ? 0 : scroll.scrollTop
  return [(top - height) / (height + GAP), (top + scroll.clientHeight) / (height + GAP)]
}

/** The weight of a key, as text and as its ground.
    @type {(item: HTMLElement, weight: number, none: boolean, content: Content) => void} */
function weigh(item, weight, none, content) {
  const [name, number] = item.children
  const ground = hueOf(content, weight) || "var(--st-primary-color)"
  const mixed = `color-mix(in srgb, ${ground} ${6 + 44 * sizeOf(weight)}%, transparent)`
  item.classList.toggle("masked", none)
  item.style.backgroundColor = none ? "" : mixed
  const text = number.firstChild ?? number.appendChild(new Text())
  text.nodeValue = none ? "masked" : glance(weight, content.columns)
  if (!none) item.title = `${name.textContent}: ${precise(weight, 6)}`
}

/** The colour of a weight where some lie below 0, as the heatmap has it; "" where none do.
    @type {(content: Pick<Content, "stages" | "theme">, weight: number) => string} */
export function hueOf({ stages, theme }, weight) {
  if (!stages.weights?.diverging) return ""
  return theme.diverging.at(weight < 0 ? 1 : -2) ?? ""
}

/** Faint lines of all queries, one for all of about the same weight.
    @type {(view: View) => void} */
function weave(view) {
  const { woven, lines, queries, keys, content } = view
  const { own, rows, columns, numbers } = content
  const within = JSON.stringify([lines.clientWidth, queries.offsetTop, keys.offsetTop])
  if (view.wovenIn === within) return
  view.wovenIn = within
  woven.replaceChildren()
  if (own || rows * columns > MOST_WOVEN) return
  const levels = Array.from({ length: WOVEN_LEVELS + 1 }, () => "")
  for (let query = 0; query < rows; query++) {
    const curveTo = curvesOf(view, query)
    for (const [key, weight] of rowOf(numbers.weights, columns, query).entries())
      levels[Math.round(WOVEN_LEVELS * sizeOf(weight))] += curveTo(key)
  }
  for (const [level, d] of levels.entries()) {
    const part = level / WOVEN_LEVELS
    const looks = { "stroke-width": 4 * part, "stroke-opacity": 0.3 * part }
    if (level && d) makeShape("path", { d, ...looks }, woven).style.stroke = hueOf(content, 1)
  }
}

/** Keys that are joined by one line, and how strong it is: each key by itself, or where there are
    many those together whose weights are about the same.
    @type {(row: Float32Array, masked: ArrayLike<number>) => { keys: number[], weight: number }[]} */
export function groupsOf(row, masked) {
  const keys = [...row.keys()].filter((key) => !masked[key])
  if (row.length <= MOST_ALONE) return keys.map((key) => ({ keys: [key], weight: row[key] }))
  /** @type {number[][]} */
  const levels = Array.from({ length: LEVELS + 1 }, () => [])
  for (const key of keys) levels[Math.round(LEVELS * sizeOf(row[key]))].push(key)
  return levels
    .filter((level) => level.length)
    .map((keys) => ({ keys, weight: keys.reduce((sum, key) => sum + row[key], 0) / keys.length }))
}

/** From a query to each key; asks for the layout once.
    @type {(view: View, query: number) => (key: number) => string} */
function curvesOf({ queries, keys, lines, height }, query) {
  const { clientWidth: width } = lines
  const from = queries.offsetTop + below(height, query) + height / 2
  const start = keys.offsetTop + height / 2
  return (key) => curve(0, from, width, start + below(height, key))
}

/** The line to the key that is pointed at.
    @type {(view: View, at: At) => void} */
function point(view, { query, key }) {
  const { pointed, content } = view
  const { numbers, columns, hidden } = content
  const none = key === null || hidden[query * columns + key]
  pointed.classList.toggle("previewed", !none)
  pointed.setAttribute("d", none ? "" : curvesOf(view, query)(key))
  const weight = numbers.weights[query * columns + (key ?? 0)]
  pointed.setAttribute("stroke-width", String(widthOf(weight)))
}

/** How far below the top of its list a token stands.
    @type {(height: number, index: number) => number} */
export function below(height, index) {
  return PADDING + index * (height + GAP)
}
