import { chooseByKeys } from "../shared/choosing.js"
import { make, makeChip } from "../shared/elements.js"
import { choose, pointAt } from "../shared/place.js"
import { maskWords, rowOf, summary } from "./sums.js"

const SVG = "http://www.w3.org/2000/svg"
const MOST_ROOMY = 14
const GAP = 4
const PADDING = 3
const PART = 16

/* Queries and keys as text, joined by lines as strong as the weights of one query. */
export function buildLines(parent) {
  const heads = make("div", "heads", parent)
  const label = make("label", "", heads)
  label.append("query token ")
  const number = Object.assign(make("input", "", label), { type: "number", min: 0, step: 1 })
  make("span", "", heads).textContent = "key and weight"
  const scroll = make("div", "scroll", parent)
  const queries = make("div", "queries", scroll)
  const lines = scroll.appendChild(document.createElementNS(SVG, "svg"))
  const keys = make("div", "keys", scroll)
  const told = make("p", "summary", parent)
  told.setAttribute("role", "status")
  const notes = make("div", "", parent)
  queries.tabIndex = 0
  queries.setAttribute("role", "listbox")
  queries.setAttribute("aria-label", "Choose a query token; arrow keys move")
  keys.setAttribute("role", "list")
  keys.setAttribute("aria-label", "Keys, each with the weight it gets")
  lines.setAttribute("aria-hidden", "true")
  const view = { content: null, scroll, queries, lines, keys, number, told, notes, options: [], items: [], names: null, query: null, held: null }
  const among = (list) => (event) => list().indexOf(event.target.closest(".token"))
  const option = among(() => view.options)
  const item = among(() => view.items)
  queries.addEventListener("pointerover", (event) => option(event) >= 0 && pointAt({ query: option(event) }))
  queries.addEventListener("pointerleave", () => pointAt(null))
  queries.addEventListener("click", (event) => option(event) >= 0 && choose("query", option(event)))
  keys.addEventListener("pointerover", (event) => item(event) >= 0 && pointAt({ key: item(event) }))
  keys.addEventListener("pointerleave", () => pointAt(null))
  chooseByKeys(queries, () => [view.held, view.options.length], (query) => choose("query", query))
  number.addEventListener("change", () => {
    const wanted = Math.round(number.valueAsNumber)
    if (Number.isFinite(wanted)) choose("query", Math.min(view.options.length - 1, Math.max(0, wanted)))
    number.value = view.held
  })
  scroll.addEventListener("scroll", () => scroll.querySelector(".held") && requestAnimationFrame(() => join(view)))
  new ResizeObserver(() => view.query !== null && join(view)).observe(scroll)
  return { draw: (content) => draw(view, content), show: (at) => show(view, at) }
}

/* Without a memory the sentence is its own: its tokens are queries and keys. */
function draw(view, content) {
  const { tokens, known, keys, keysKnown } = (view.content = content)
  const names = JSON.stringify([tokens, known, keys, keysKnown])
  view.query = null
  if (view.names !== names) write(view, tokens, known, keys ?? tokens, keysKnown ?? known)
  view.names = names
  for (const [list, all] of [[view.queries, view.options], [view.keys, view.items]]) list.classList.toggle("held", Boolean(keys) && all.length * (view.height + GAP) < view.scroll.clientHeight)
}

function write(view, tokens, known, keys, keysKnown) {
  const long = Math.max(tokens.length, keys.length) > MOST_ROOMY
  view.height = long ? 24 : 30
  view.scroll.classList.toggle("long", long)
  view.scroll.style.setProperty("--height", `${view.height}px`)
  view.options = tokens.map((token, index) => makeChip("option", known[index], token, index))
  view.items = keys.map((token, index) => makeChip("listitem", keysKnown[index], token, index))
  for (const item of view.items) make("small", "", item).append("")
  view.number.max = tokens.length - 1
  view.held = null
  view.queries.replaceChildren(...parts(view, view.options))
  view.keys.replaceChildren(...parts(view, view.items))
  view.lines.replaceChildren(...keys.map(() => document.createElementNS(SVG, "path")))
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

function show(view, { query, key, held, wanted }) {
  const { options, items, lines } = view
  if (view.query !== query) {
    view.query = query
    view.wanted = null
    join(view)
  }
  if (view.wanted !== wanted) {
    view.wanted = wanted
    tell(view, query, wanted)
  }
  if (view.held !== held) {
    options[view.held]?.setAttribute("aria-selected", "false")
    options[held].setAttribute("aria-selected", "true")
    view.queries.setAttribute("aria-activedescendant", options[held].id)
    view.number.value = held
    view.held = held
    reveal(view, held)
  }
  for (const marked of view.scroll.querySelectorAll(".previewed")) marked.classList.remove("previewed")
  if (query !== held) options[query].classList.add("previewed")
  if (key !== null) for (const marked of [items[key], lines.children[key]]) marked.classList.add("previewed")
}

/* The lines from the query to the keys, and each key's weight. */
function join(view) {
  const { columns, numbers, hidden } = view.content
  const { query, height, items, lines } = view
  const weights = rowOf(numbers.weights, columns, query)
  const masked = rowOf(hidden, columns, query)
  const most = weights.reduce((most, weight) => (weight > most ? weight : most), 0) || 1
  const width = lines.clientWidth
  const from = view.queries.offsetTop + below(view, query) + height / 2
  const start = view.keys.offsetTop + height / 2
  for (let key = 0; key < columns; key++) {
    const weight = weights[key]
    const item = items[key]
    const line = lines.children[key]
    const to = start + below(view, key)
    item.classList.toggle("masked", Boolean(masked[key]))
    item.style.backgroundColor = masked[key] ? "" : `color-mix(in srgb, var(--st-primary-color) ${6 + (44 * weight) / most}%, transparent)`
    item.lastChild.firstChild.data = masked[key] ? "masked" : weight.toFixed(columns > 64 ? 4 : 3)
    line.setAttribute("d", masked[key] ? "" : `M0,${from} C${width / 2},${from} ${width / 2},${to} ${width},${to}`)
    line.setAttribute("stroke-width", masked[key] ? 0 : 0.75 + 7 * weight)
    line.setAttribute("stroke-opacity", masked[key] ? 0 : 0.08 + (0.8 * weight) / most)
  }
}

function tell({ content, told, notes }, query, wanted) {
  told.textContent = summary(content, query)
  const last = content.rows - 1
  const beyond = wanted > last ? `There is no token ${wanted} in this sentence; showing the last, ${last}.` : ""
  const words = [beyond, maskWords(content, query)].filter(Boolean)
  if (notes.childElementCount !== words.length) notes.replaceChildren(...words.map(() => make("p", "note")))
  for (const [index, line] of [...notes.children].entries()) line.textContent = words[index]
}

function reveal(view, query) {
  const { scrollTop, clientHeight } = view.scroll
  const top = view.queries.offsetTop + below(view, query)
  if (top < scrollTop || top + view.height > scrollTop + clientHeight) view.scroll.scrollTop = top - clientHeight / 2
}

/* How far below the top of its list a token stands. */
function below({ height }, index) {
  return PADDING + index * (height + GAP)
}
