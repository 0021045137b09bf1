import { listenToTokens, markQueries } from "./choosing.js"
import { make, makeChip, makeShape, reveal, setLengths } from "./elements.js"
import { makeSight, watch, writeInSight } from "./sight.js"
import { sizeOf } from "./words.js"

/** Lines of one colour from the chosen query to its keys. masked: keys that have none; colour: of a
    weight, "" = the theme's; aside: pixels below the middle of their tokens; share: of their
    strength; rows: the weights of each query, to be woven behind them.
    @typedef {{ row: Float32Array, masked?: Uint8Array, colour: (weight: number) => string,
      aside?: number, share?: number, rows?: (query: number) => Float32Array | null }} Strand
    @typedef {{ tokens: string[], known: boolean[], keys?: string[], keysKnown?: boolean[] }} Tokens
    @typedef {{ held: number, query: number, key: number | null }} At
    @typedef {ReturnType<typeof makeTokenLines>} TokenLines */

const MOST_ROOMY = 8
const MOST_READ = 20
const GAP = 4
const PADDING = 3
const PART = 16
const MOST_ALONE = 64 // keys
const LEVELS = 32
const WOVEN_LEVELS = 4

/** Queries and keys as text, joined by lines as strong as the weights of one query.
    @param {HTMLElement} parent
    @param {(item: HTMLElement, key: number) => void} dress writes beside a key what it gets */
export function makeTokenLines(parent, dress) {
  const titles = make("div", "titles", parent)
  make("span", "", titles, { textContent: "query" })
  const title = make("span", "", titles)
  const scroll = make("div", "scroll token-lines", parent)
  const queries = make("div", "queries", scroll)
  const lines = makeShape("svg", { preserveAspectRatio: "none", "aria-hidden": "true" }, scroll)
  const keys = make("div", "keys", scroll, { role: "list", ariaLabel: "Keys" })
  const [woven, joined] = ["woven", "joined"].map((name) => makeShape("g", { class: name }, lines))
  const pointed = makeShape("path", {}, lines)
  const [options, items] = /** @type {HTMLElement[][]} */ ([[], []])
  const view = {
    ...{ title, scroll, queries, lines, keys, woven, joined, pointed, options, items, dress },
    ...{ names: "", height: 0, held: -1, wovenIn: "", isNew: true, sight: makeSight() },
    shown: /** @type {{ at: At, strands: Strand[] } | null} */ (null),
  }
  listenToTokens(view)
  const again = () => view.shown && joinTokens(view, view.shown.at, view.shown.strands)
  scroll.addEventListener("scroll", () => {
    if (scroll.querySelector(".held")) requestAnimationFrame(again)
  })
  new ResizeObserver(again).observe(scroll)
  return view
}

/** Writes the tokens, where they are others; of two sequences the shorter one, where it fits, stays
    in view while the other scrolls.
    @type {(view: TokenLines, tokens: Tokens) => void} */
export function writeTokens(view, { tokens, known, keys = tokens, keysKnown = known }) {
  const { scroll, sight } = view
  const names = JSON.stringify([tokens, known, keys, keysKnown])
  Object.assign(view, { isNew: true, wovenIn: "", shown: null })
  if (view.names !== names) {
    const most = Math.max(tokens.length, keys.length)
    view.height = most > MOST_ROOMY ? 24 : 30
    scroll.classList.toggle("long", most > MOST_READ)
    setLengths(scroll, { "--height": view.height })
    view.options = tokens.map((_, at) => makeChip("option", known[at], tokens, at))
    view.items = keys.map((_, at) => makeChip("listitem", keysKnown[at], keys, at))
    for (const item of view.items) make("small", "", item)
    const parts = partsOf(view, view.items)
    view.queries.replaceChildren(...partsOf(view, view.options))
    view.keys.replaceChildren(...parts)
    watch(sight, parts)
    view.held = -1
  }
  view.names = names
  const room = tokens === keys ? 0 : scroll.clientHeight
  for (const [list, { length }] of /** @type {[HTMLElement, string[]][]} */ ([
    [view.queries, tokens],
    [view.keys, keys],
  ]))
    list.classList.toggle("held", length * (view.height + GAP) < room)
}

/** A few tokens each: the browser leaves parts alone that are scrolled out of sight.
    @type {(view: TokenLines, tokens: HTMLElement[]) => HTMLElement[]} */
function partsOf({ height }, tokens) {
  return Array.from({ length: Math.ceil(tokens.length / PART) }, (_, index) => {
    const part = make("div", "", null, { role: "presentation" })
    part.append(...tokens.slice(index * PART, (index + 1) * PART))
    part.style.containIntrinsicBlockSize = `${part.children.length * (height + GAP) - GAP}px`
    return part
  })
}

/** Shows the chosen query, the one that is pointed at, and lines to its keys; the same strands as
    before stay as they are. What asks for the layout comes before what changes it, which would have
    it worked out twice.
    @type {(view: TokenLines, at: At, strands: Strand[]) => void} */
export function showTokens(view, at, strands) {
  const { scroll, queries, height, items, shown } = view
  if (view.held !== at.held) reveal(scroll, queries.offsetTop + below(height, at.held), height)
  view.held = at.held
  if (shown?.strands !== strands) joinTokens(view, at, strands)
  else if (shown.at.key !== at.key) point(view, at, strands)
  view.shown = { at, strands }
  markQueries(view, at.held, at.query)
  for (const marked of scroll.querySelectorAll(".keys .previewed"))
    marked.classList.remove("previewed")
  if (at.key !== null) items[at.key]?.classList.add("previewed")
}

/** The lines, and the weights beside the keys: at once of those in sight.
    @type {(view: TokenLines, at: At, strands: Strand[]) => void} */
function joinTokens(view, at, strands) {
  const { lines, joined, isNew, items, sight, dress } = view
  weave(view, strands) // which asks for the layout, as what follows does
  const { clientWidth: width, clientHeight } = lines
  lines.setAttribute("viewBox", `0 0 ${width || 1} ${clientHeight || 1}`)
  const groups = strands.flatMap(({ row, masked, ...strand }) => {
    const curveTo = curvesOf(view, at.query, strand.aside)
    return groupsOf(row, masked).map((group) => ({ ...strand, ...group, curveTo }))
  })
  while (joined.children.length < groups.length) makeShape("path", {}, joined)
  while (joined.children.length > groups.length) joined.lastElementChild?.remove()
  for (const [index, { keys, weight, colour, share = 1, curveTo }] of groups.entries()) {
    const line = /** @type {SVGElement} */ (joined.children[index])
    line.setAttribute("d", keys.map(curveTo).join(""))
    line.setAttribute("stroke-width", String(strands.length > 1 ? 2.5 : widthOf(weight)))
    line.setAttribute("stroke-opacity", String(share * (0.08 + 0.8 * sizeOf(weight))))
    line.style.stroke = colour(weight)
    line.classList.toggle("negative", weight < 0)
  }
  point(view, at, strands)
  writeInSight(view, isNew, (all) => {
    for (const [key, item] of items.entries())
      if (all || !item.parentElement || !sight.out.has(item.parentElement)) dress(item, key)
  })
  view.isNew = false
}

/** Faint lines of all queries, one for all of about the same weight.
    @type {(view: TokenLines, strands: Strand[]) => void} */
function weave(view, strands) {
  const { woven, lines, queries, keys, options } = view
  const looks = strands.map(({ colour, share, rows }) => rows && [colour(1), share])
  const within = JSON.stringify([lines.clientWidth, queries.offsetTop, keys.offsetTop, looks])
  if (view.wovenIn === within) return
  view.wovenIn = within
  woven.replaceChildren()
  const most = Math.min(0.3, 1.5 / strands.length)
  for (const { rows, aside, colour, share = 1 } of strands) {
    const levels = Array.from({ length: WOVEN_LEVELS + 1 }, () => "")
    for (const query of rows ? options.keys() : []) {
      const curveTo = curvesOf(view, query, aside)
      for (const [key, weight] of (rows?.(query) ?? []).entries())
        levels[Math.round(WOVEN_LEVELS * sizeOf(weight))] += curveTo(key)
    }
    for (const [level, d] of levels.entries()) {
      const part = level / WOVEN_LEVELS
      const looks = { "stroke-width": 4 * part, "stroke-opacity": share * most * part }
      if (level && d) makeShape("path", { d, ...looks }, woven).style.stroke = colour(1)
    }
  }
}

/** Keys that are joined by one line, and how strong it is: each key by itself, or where there are
    many those together whose weights are about the same.
    @type {(row: Float32Array, masked?: ArrayLike<number>) => { keys: number[], weight: number }[]} */
export function groupsOf(row, masked = []) {
  const keys = [...row.keys()].filter((key) => !masked[key])
  if (row.length <= MOST_ALONE) return keys.map((key) => ({ keys: [key], weight: row[key] }))
  /** @type {number[][]} */
  const levels = Array.from({ length: LEVELS + 1 }, () => [])
  for (const key of keys) levels[Math.round(LEVELS * sizeOf(row[key]))].push(key)
  return levels
    .filter((level) => level.length)
    .map((keys) => ({ keys, weight: keys.reduce((sum, key) => sum + row[key], 0) / keys.length }))
}

/** @type {(weight: number) => number} */
export function widthOf(weight) {
  return 0.75 + 7 * sizeOf(weight)
}

/** From a query to each key; asks for the layout once.
    @type {(view: TokenLines, query: number, aside?: number) => (key: number) => string} */
function curvesOf({ queries, keys, lines, height }, query, aside = 0) {
  const [width, middle] = [lines.clientWidth, height / 2 + aside]
  const from = queries.offsetTop + below(height, query) + middle
  const start = keys.offsetTop + middle
  return (key) => curve(0, from, width, start + below(height, key))
}

/** The line to the key that is pointed at.
    @type {(view: TokenLines, at: At, strands: Strand[]) => void} */
function point(view, { query, key }, [strand, ...more]) {
  const none = !strand || more.length || key === null || strand.masked?.[key]
  view.pointed.classList.toggle("previewed", !none)
  view.pointed.setAttribute("d", none ? "" : curvesOf(view, query)(key))
  if (!none) view.pointed.setAttribute("stroke-width", String(widthOf(strand.row[key])))
}

/** @type {(x: number, from: number, end: number, to: number) => string} */
export function curve(x, from, end, to) {
  const middle = (x + end) / 2
  return `M${x},${from} C${middle},${from} ${middle},${to} ${end},${to}`
}

/** How far below the top of its list a token stands.
    @type {(height: number, index: number) => number} */
export function below(height, index) {
  return PADDING + index * (height + GAP)
}
