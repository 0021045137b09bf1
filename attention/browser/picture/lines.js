import { listenToTokens, markQueries } from "../shared/choosing.js"
import { make, makeChip, makeShape, reveal, setLengths } from "../shared/elements.js"
import { makeSight, watch, writeInSight } from "../shared/sight.js"
import { glance, precise, sizeOf } from "../shared/words.js"
import { maskWords, rowOf, summary } from "./sums.js"

/** @import { At, Content, Part } from "./index.js"
    @typedef {ReturnType<typeof build>} View
    @typedef {{ row: Float32Array, masked: Uint8Array }} Row */

const MOST_ROOMY = 8
const MOST_READ = 20
const GAP = 4
const PADDING = 3
const PART = 16
const MOST_ALONE = 64 // keys
const LEVELS = 32
const MOST_WOVEN = 900 // pairs of a query and a key
const WOVEN_LEVELS = 4

/** Queries and keys as text, joined by lines as strong as the weights of one query; of two sequences
    faint lines behind them join all queries with their keys.
    @type {(parent: HTMLElement, content: Content) => Part} */
export function buildLines(parent, content) {
  const view = build(parent, content)
  listenToTokens(view)
  return { draw: (content) => draw(view, content), show: (at) => show(view, at) }
}

/** @param {HTMLElement} parent
    @param {Content} content */
function build(parent, content) {
  const heads = make("div", "heads", parent)
  make("span", "", heads, { textContent: "query" })
  const title = make("span", "", heads)
  const scroll = make("div", "scroll", parent)
  const queries = make("div", "queries", scroll)
  const lines = makeShape("svg", { preserveAspectRatio: "none" }, scroll)
  const keys = make("div", "keys", scroll, { role: "list" })
  const told = make("p", "summary", parent, { role: "status" })
  const notes = make("div", "", parent)
  lines.ariaHidden = "true"
  const woven = makeShape("g", { class: "woven" }, lines)
  const joined = makeShape("g", { class: "joined" }, lines)
  const pointed = makeShape("path", {}, lines)
  const [options, items] = /** @type {HTMLElement[][]} */ ([[], []])
  const view = {
    ...{ content, scroll, queries, options, lines, woven, joined, pointed, keys, items, told },
    ...{
      notes,
      title,
      names: "",
      height: 0,
      held: -1,
      wovenIn: "",
      isNew: true,
      sight: makeSight(),
    },
    at: /** @type {At | undefined} */ (undefined),
    weights: /** @type {Text[]} */ ([]),
  }
  const again = () => view.at && join(view, view.at)
  scroll.addEventListener("scroll", () => {
    if (scroll.querySelector(".held")) requestAnimationFrame(again)
  })
  new ResizeObserver(again).observe(scroll)
  return view
}

/** Of two sequences the shorter one, where it fits, stays in view while the other scrolls.
    @type {(view: View, content: Content) => void} */
function draw(view, content) {
  const { tokens, known, keys, keysKnown, own } = content
  const names = JSON.stringify([tokens, known, keys, keysKnown])
  view.content = content
  view.title.textContent = `key and its ${content.called}`
  view.keys.ariaLabel = `Keys, each with the ${content.called} it gets`
  view.at = undefined
  view.isNew = true
  view.wovenIn = ""
  if (view.names !== names) write(view)
  view.names = names
  const room = own ? 0 : view.scroll.clientHeight
  view.queries.classList.toggle("held", tokens.length * (view.height + GAP) < room)
  view.keys.classList.toggle("held", keys.length * (view.height + GAP) < room)
}

/** @type {(view: View) => void} */
function write(view) {
  const { tokens, known, keys, keysKnown } = view.content
  const most = Math.max(tokens.length, keys.length)
  view.height = most > MOST_ROOMY ? 24 : 30
  view.scroll.classList.toggle("long", most > MOST_READ)
  setLengths(view.scroll, { "--height": view.height })
  view.options = tokens.map((_, index) => makeChip("option", known[index], tokens, index))
  view.items = keys.map((_, index) => makeChip("listitem", keysKnown[index], keys, index))
  view.weights = view.items.map((item) => make("small", "", item).appendChild(new Text()))
  view.held = -1
  view.queries.replaceChildren(...parts(view, view.options))
  const keyParts = parts(view, view.items)
  view.keys.replaceChildren(...keyParts)
  watch(view.sight, keyParts)
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
  const { scroll, queries, height, at: before } = view
  if (view.held !== held) reveal(scroll, queries.offsetTop + below(height, held), height)
  view.at = at
  if (before?.query !== query) join(view, at)
  else if (before.key !== key) point(view, at)
  if (before?.query !== query || before.wanted !== at.wanted) tell(view, at)
  view.held = held
  markQueries(view, held, query)
  for (const marked of scroll.querySelectorAll(".keys .previewed"))
    marked.classList.remove("previewed")
  if (key !== null) view.items[key].classList.add("previewed")
}

/** @type {(view: Pick<View, "content">, query: number) => Row} */
function rowAt({ content: { columns, numbers, hidden } }, query) {
  return { row: rowOf(numbers.weights, columns, query), masked: rowOf(hidden, columns, query) }
}

/** The lines from the query to the keys, and each key's weight: at once of those in sight.
    @type {(view: View, at: At) => void} */
function join(view, at) {
  const { row, masked } = rowAt(view, at.query)
  const { lines, joined, isNew } = view
  const { clientWidth: width, clientHeight } = lines
  const curveTo = curvesOf(view, at.query)
  lines.setAttribute("viewBox", `0 0 ${width || 1} ${clientHeight || 1}`)
  const groups = groupsOf(row, masked)
  while (joined.children.length < groups.length) makeShape("path", {}, joined)
  while (joined.children.length > groups.length) joined.lastElementChild?.remove()
  for (const [index, { keys, weight }] of groups.entries()) {
    const line = /** @type {SVGElement} */ (joined.children[index])
    line.setAttribute("d", keys.map(curveTo).join(""))
    line.setAttribute("stroke-width", String(widthOf(weight)))
    line.setAttribute("stroke-opacity", String(0.08 + 0.8 * sizeOf(weight)))
    line.style.stroke = hueOf(view.content, weight)
    line.classList.toggle("negative", weight < 0)
  }
  weave(view, width)
  point(view, at)
  writeInSight(view, isNew, (all) => weigh(view, all))
  view.isNew = false
}

/** Faint lines from all queries of two sequences, one for all of about the same weight.
    @type {(view: View, width: number) => void} */
function weave(view, width) {
  const { content, woven, wovenIn, queries, keys } = view
  const { rows, columns, own, numbers } = content
  const within = `${width} ${queries.offsetTop} ${keys.offsetTop}`
  if (wovenIn === within) return
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
    const share = level / WOVEN_LEVELS
    if (level && d)
      makeShape("path", { d, "stroke-width": 4 * share, "stroke-opacity": 0.3 * share }, woven)
  }
}

/** Keys that are joined by one line, and how strong it is: each key by itself, or where there are
    many those together whose weights are about the same.
    @type {(row: Float32Array, masked: Uint8Array) => { keys: number[], weight: number }[]} */
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

/** The colour of a weight where some lie below 0, as the heatmap has it; "" where none do.
    @type {(content: Pick<Content, "stages" | "theme">, weight: number) => string} */
export function hueOf({ stages, theme }, weight) {
  if (!stages.weights?.diverging) return ""
  return theme.diverging.at(weight < 0 ? 1 : -2) ?? ""
}

/** @type {(weight: number) => number} */
function widthOf(weight) {
  return 0.75 + 7 * sizeOf(weight)
}

/** From a query to each key; asks for the layout once.
    @type {(view: View, query: number) => (key: number) => string} */
function curvesOf({ queries, keys, lines, height }, query) {
  const [width, middle] = [lines.clientWidth, height / 2]
  const from = queries.offsetTop + below(height, query) + middle
  const start = keys.offsetTop + middle
  return (key) => curve(width, from, start + below(height, key))
}

/** The line to the key that is pointed at.
    @type {(view: View, at: At) => void} */
function point(view, { query, key }) {
  const { row, masked } = rowAt(view, query)
  const none = key === null || masked[key]
  view.pointed.classList.toggle("previewed", !none)
  view.pointed.setAttribute("d", none ? "" : curvesOf(view, query)(key))
  if (!none) view.pointed.setAttribute("stroke-width", String(widthOf(row[key])))
}

/** What weight each key gets; of all keys, or of those in sight.
    @type {(view: View, all: boolean) => void} */
function weigh({ at, content, items, weights, sight }, all) {
  if (!at) return
  const { row, masked } = rowAt({ content }, at.query)
  for (const [key, item] of items.entries()) {
    if (!all && item.parentElement && sight.out.has(item.parentElement)) continue
    const none = Boolean(masked[key])
    const share = `${6 + 44 * sizeOf(row[key])}%`
    const hue = hueOf(content, row[key]) || "var(--st-primary-color)"
    const colour = `color-mix(in srgb, ${hue} ${share}, transparent)`
    item.classList.toggle("masked", none)
    item.style.backgroundColor = none ? "" : colour
    weights[key].data = none ? "masked" : glance(row[key], content.columns)
    if (!none) item.title = `${item.firstElementChild?.textContent}: ${precise(row[key], 6)}`
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
  const beyond = "That word is gone; the last one is selected."
  const masked = content.called === "weight" ? maskWords(content, query) : ""
  const words = [wanted > last ? beyond : "", masked].filter(Boolean)
  notes.replaceChildren(...words.map((textContent) => make("p", "note", null, { textContent })))
}

/** How far below the top of its list a token stands.
    @type {(height: number, index: number) => number} */
export function below(height, index) {
  return PADDING + index * (height + GAP)
}
