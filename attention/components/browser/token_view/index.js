import { listenToQueries, markQueries } from "../shared/choosing.js"
import { afterPaint, make, makeChip, viewIn } from "../shared/elements.js"
import { decode } from "../shared/message.js"

const SVG = "http://www.w3.org/2000/svg"
const MOST_ROOMY = 14
const GAP = 4
const PADDING = 3
const PART = 16

export default function ({ data, parentElement, setTriggerValue }) {
  const view = viewIn(parentElement, build)
  view.select = (query) => setTriggerValue("query", query)
  const { numbers, tokens, known, memory, query } = decode(data)
  view.rows = numbers
  const names = JSON.stringify([tokens, known, memory])
  if (view.names !== names) write(view, { tokens, known }, memory)
  view.names = names
  view.query = query
  afterPaint(() => {
    hold(view)
    reveal(view)
    show(view, view.query)
  })
}

function build(parent) {
  const frame = make("div", "frame", parent)
  const heads = make("div", "heads", frame)
  make("span", "", heads).textContent = "query"
  make("span", "", heads).textContent = "key and weight"
  const scroll = make("div", "scroll", frame)
  const queries = make("div", "queries", scroll)
  const lines = scroll.appendChild(document.createElementNS(SVG, "svg"))
  const keys = make("div", "keys", scroll)
  const summary = make("p", "summary", frame)
  summary.setAttribute("role", "status")
  keys.setAttribute("role", "list")
  keys.setAttribute("aria-label", "Keys, each with the weight it gets")
  lines.setAttribute("aria-hidden", "true")

  const view = { scroll, queries, lines, keys, summary, names: null, shown: undefined }
  listenToQueries(view, show, reveal)
  scroll.addEventListener("scroll", () => scroll.querySelector(".held") && view.shown !== undefined && requestAnimationFrame(() => show(view, view.shown)))
  new ResizeObserver(() => view.shown === undefined || show(view, view.shown)).observe(scroll)
  return view
}

/* Without a memory the sentence is its own: its tokens are queries and keys. */
function write(view, queries, memory) {
  const keys = memory ?? queries
  view.tokens = queries.tokens
  view.keyTokens = keys.tokens
  view.alone = memory === undefined
  const long = Math.max(view.tokens.length, view.keyTokens.length) > MOST_ROOMY
  view.height = long ? 24 : 30
  view.scroll.classList.toggle("long", long)
  view.scroll.style.setProperty("--height", `${view.height}px`)
  const chip = (role, known) => (token, index) => makeChip(role, known[index], token, index)
  view.options = view.tokens.map(chip("option", queries.known))
  view.items = view.keyTokens.map(chip("listitem", keys.known))
  for (const item of view.items) make("small", "", item).append("")
  view.shown = undefined
  view.queries.replaceChildren(...parts(view, view.options))
  view.keys.replaceChildren(...parts(view, view.items))
  view.lines.replaceChildren(...view.keyTokens.map(() => document.createElementNS(SVG, "path")))
}

/* A few tokens each: the browser leaves parts alone that are scrolled out of sight. */
function parts({ height }, tokens) {
  return Array.from({ length: Math.ceil(tokens.length / PART) }, (_, index) => {
    const part = make("div", "")
    part.setAttribute("role", "presentation")
    part.append(...tokens.slice(index * PART, (index + 1) * PART))
    part.style.containIntrinsicBlockSize = `${part.children.length * (height + GAP) - GAP}px`
    return part
  })
}

function show(view, query) {
  view.shown = query
  const n = view.keyTokens.length
  const row = view.rows.subarray(query * n, query * n + n)
  const most = row.reduce((most, weight) => (weight > most ? weight : most), 0) || 1
  const width = view.lines.clientWidth
  const middle = view.height / 2
  const from = view.queries.offsetTop + below(view, query) + middle
  const start = view.keys.offsetTop + middle
  for (let key = 0; key < n; key++) {
    const weight = row[key]
    const masked = Number.isNaN(weight)
    const item = view.items[key]
    item.classList.toggle("masked", masked)
    item.style.backgroundColor = masked ? "" : `color-mix(in srgb, var(--st-primary-color) ${6 + (44 * weight) / most}%, transparent)`
    item.lastChild.firstChild.data = masked ? "masked" : weight.toFixed(n > 64 ? 4 : 3)
    const line = view.lines.children[key]
    const to = start + below(view, key)
    line.setAttribute("d", masked ? "" : `M0,${from} C${width / 2},${from} ${width / 2},${to} ${width},${to}`)
    line.setAttribute("stroke-width", masked ? 0 : 0.75 + 7 * weight)
    line.setAttribute("stroke-opacity", masked ? 0 : 0.08 + (0.8 * weight) / most)
  }
  markQueries(view, query)
  view.summary.textContent = summarise(view, row, query)
}

function summarise({ tokens, keyTokens, alone }, row, query) {
  const order = [...row.keys()].filter((key) => row[key] > 0).sort((a, b) => row[b] - row[a])
  if (order.length === 0) return `“${tokens[query]}” may attend to nothing: weights and output are 0.`
  const name = (list, position) => `“${list[position]}”${list.indexOf(list[position]) === list.lastIndexOf(list[position]) ? "" : ` at ${position}`}`
  const named = order.slice(0, 2).map((key) => `${alone && key === query ? "itself" : name(keyTokens, key)} (${row[key].toFixed(3)})`)
  return `${name(tokens, query)} attends most to ${named.join(", then ")}.`
}

function reveal(view) {
  if (!view.options[view.query]) return
  const { scrollTop, clientHeight } = view.scroll
  const place = view.queries.offsetTop + below(view, view.query)
  if (place < scrollTop || place + view.height > scrollTop + clientHeight) view.scroll.scrollTop = place - clientHeight / 2
}

/* How far below the top of its list a token stands. */
function below({ height }, index) {
  return PADDING + index * (height + GAP)
}

/* Of two sequences the shorter one, where it fits, stays in view while the other scrolls. */
function hold({ scroll, queries, keys, options, items, height, alone }) {
  for (const [list, tokens] of [[queries, options], [keys, items]]) list.classList.toggle("held", !alone && tokens.length * (height + GAP) < scroll.clientHeight)
}
