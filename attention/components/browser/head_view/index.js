import { listenToQueries, markQueries } from "../shared/choosing.js"
import { palette } from "../shared/colours.js"
import { afterPaint, make, makeChip, viewIn, whenThemed } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { countDrawing } from "../shared/painter.js"

const MOST_FAINT = 32
const FAINT_LEVELS = 4
const MOST_TOLD = 12

export default function ({ data, parentElement, setTriggerValue }) {
  const view = viewIn(parentElement, build)
  view.select = (query) => setTriggerValue("query", query)
  view.send = (active) => setTriggerValue("active", active)
  const content = decode(data)
  const names = JSON.stringify([content.tokens, content.known])
  view.content = content
  view.active = new Set(content.active)
  view.query = content.query
  afterPaint(() => {
    if (view.names !== names) write(view)
    view.names = names
    chips(view)
    reveal(view)
    show(view, view.query)
  })
}

function build(parent) {
  const frame = make("div", "frame", parent)
  const bar = make("div", "chips", frame)
  bar.setAttribute("role", "group")
  bar.setAttribute("aria-label", "Heads drawn")
  make("p", "hint", frame).textContent = "Click a head to turn it on or off, double-click to keep it alone."
  const titles = make("div", "titles", frame)
  for (const title of ["query", "key, and its weight in each head drawn"]) make("span", "", titles).textContent = title
  const scroll = make("div", "scroll", frame)
  const queries = make("div", "queries", scroll)
  const lines = make("canvas", "", make("div", "between", scroll))
  const keys = make("div", "keys", scroll)
  const dots = make("canvas", "dots", make("div", "between", scroll))
  const summary = make("p", "summary", frame)
  summary.setAttribute("role", "status")
  keys.setAttribute("role", "list")
  keys.setAttribute("aria-label", "Keys")
  for (const canvas of [lines, dots]) canvas.setAttribute("aria-hidden", "true")
  const view = { frame, bar, scroll, queries, keys, lines, dots, summary, names: null, lit: null, before: null, key: -1 }
  listenToQueries(view, show, reveal)
  listenToHeads(view)
  listenToKeys(view)
  const again = () => view.names !== null && show(view, view.shown)
  scroll.addEventListener("scroll", () => requestAnimationFrame(again), { passive: true })
  new ResizeObserver(again).observe(scroll)
  whenThemed(parent, () => view.names !== null && (chips(view), again()))
  return view
}

/* Pointing at a key tells what it gets from each head drawn, in numbers. */
function listenToKeys(view) {
  const { keys } = view
  const point = (key) => {
    if (key === view.key) return
    view.key = key
    if (view.names !== null) show(view, view.shown)
  }
  keys.addEventListener("pointerover", (event) => point([...keys.children].indexOf(event.target.closest(".token"))))
  keys.addEventListener("pointerleave", () => point(-1))
}

/* The first click of a double click toggles at once; the second starts over from what was before. */
function listenToHeads(view) {
  const { bar } = view
  const head = (event) => [...bar.children].indexOf(event.target.closest("button"))
  bar.addEventListener("click", (event) => {
    const index = head(event)
    if (index < 0) return
    const second = event.detail === 2 && view.before !== null
    const from = second ? view.before : view.active
    view.before = second ? null : from
    const alone = from.size === 1 && from.has(index)
    const next = new Set(from)
    if (second || event.shiftKey) {
      next.clear()
      if (!alone) next.add(index)
    } else if (!next.delete(index)) next.add(index)
    view.active = next.size ? next : new Set(Array.from({ length: view.content.heads }, (_, each) => each))
    mark(view)
    show(view, view.query)
    clearTimeout(view.toggling)
    view.toggling = setTimeout(() => view.send([...view.active].sort((a, b) => a - b)), event.detail === 1 ? 300 : 20)
  })
  bar.addEventListener("pointerover", (event) => light(view, head(event)))
  bar.addEventListener("pointerleave", () => light(view, -1))
}

function light(view, head) {
  const lit = head >= 0 && view.active.has(head) && view.active.size > 1 ? head : null
  if (lit === view.lit) return
  view.lit = lit
  if (view.names !== null) show(view, view.shown)
}

function write(view) {
  const { tokens, known } = view.content
  view.scroll.classList.toggle("long", tokens.length > 14)
  const chip = (role) => (token, index) => makeChip(role, known[index], token, index)
  view.options = tokens.map(chip("option"))
  view.queries.replaceChildren(...view.options)
  view.keys.replaceChildren(...tokens.map(chip("listitem")))
}

function chips(view) {
  const { heads } = view.content
  view.hues = palette(view.frame, "categorical")
  if (view.bar.children.length !== heads)
    view.bar.replaceChildren(
      ...Array.from({ length: heads }, (_, head) => {
        const chip = Object.assign(make("button", ""), { type: "button", textContent: `${head}` })
        chip.setAttribute("aria-label", `Head ${head}`)
        chip.title = "Click: on or off. Double-click, or shift and click: alone; once more: all."
        return chip
      }),
    )
  mark(view)
}

function mark(view) {
  for (const [head, chip] of [...view.bar.children].entries()) {
    chip.setAttribute("aria-pressed", view.active.has(head))
    chip.style.setProperty("--hue", hue(view, head))
  }
}

function hue(view, head) {
  return view.hues[head % view.hues.length]
}

/* The weights of one head and query, or null where they have not been sent. */
function row(view, head, query) {
  const { numbers, tokens, whole } = view.content
  const n = tokens.length
  if (!whole && query !== view.content.query) return null
  const start = whole ? (head * n + query) * n : head * n
  return numbers.subarray(start, start + n)
}

/* The row of a query that is only pointed at can be shown where the rows of all have been sent. */
function show(view, query) {
  if (query !== view.query && !view.content.whole) return
  view.shown = query
  const drawn = [...view.active].sort((a, b) => a - b)
  const rows = drawn.map((head) => row(view, head, query))
  view.most = 0
  for (const weights of rows) for (const weight of weights ?? []) if (weight > view.most) view.most = weight
  markQueries(view, query)
  if (rows.includes(null)) return
  place(view)
  paintLines(view, query, drawn, rows)
  paintDots(view, drawn, rows)
  view.summary.textContent = view.key < 0 || view.key >= view.content.tokens.length ? summarise(view, query, drawn, rows) : tell(view, query, drawn, rows)
}

/* Where tokens lie, and canvases as large as what is seen of them: long sentences scroll beneath. */
function place(view) {
  const [first, second] = view.queries.children
  view.pitch = second ? second.offsetTop - first.offsetTop : 0
  view.start = first.offsetTop + first.offsetHeight / 2 - view.scroll.scrollTop
  view.seen = view.scroll.clientHeight
  view.dpr = window.devicePixelRatio || 1
  for (const canvas of [view.lines, view.dots]) {
    canvas.style.height = `${view.seen}px`
    const [width, height] = [canvas.clientWidth, view.seen].map((side) => Math.round(side * view.dpr))
    if (canvas.width !== width) canvas.width = width
    if (canvas.height !== height) canvas.height = height
  }
}

function pencil({ dpr }, canvas) {
  const context = canvas.getContext("2d")
  context.setTransform(dpr, 0, 0, dpr, 0, 0)
  context.clearRect(0, 0, canvas.width, canvas.height)
  return context
}

function paintLines(view, query, drawn, rows) {
  const context = pencil(view, view.lines)
  const width = view.lines.clientWidth
  const at = (token) => view.start + token * view.pitch
  const apart = Math.min(3, 15 / drawn.length)
  const shift = (index) => (index - (drawn.length - 1) / 2) * apart
  const line = (from, to, off) => {
    context.moveTo(0, from + off)
    context.bezierCurveTo(width / 2, from + off, width / 2, to + off, width, to + off)
  }
  const n = view.content.tokens.length
  if (n <= MOST_FAINT)
    for (const [index, head] of drawn.entries()) faint(view, context, head, query, Math.min(0.25, 1.5 / drawn.length), (from, to) => line(at(from), at(to), shift(index)))
  context.lineWidth = 2.5
  for (const [index, head] of drawn.entries()) {
    context.strokeStyle = hue(view, head)
    const dim = view.lit === null || view.lit === head ? 1 : 0.12
    for (let key = 0; key < n; key++) {
      const weight = rows[index][key]
      if (!weight) continue
      context.globalAlpha = (dim * weight) / view.most
      context.beginPath()
      line(at(query), at(key), shift(index))
      context.stroke()
    }
  }
  countDrawing(view.lines)
}

/* The lines of all other queries, a few shades of each head at a time. */
function faint(view, context, head, query, most, line) {
  if (view.lit !== null && view.lit !== head) return
  const n = view.content.tokens.length
  context.lineWidth = 1
  context.strokeStyle = hue(view, head)
  for (let level = 1; level <= FAINT_LEVELS; level++) {
    context.globalAlpha = (most * level) / FAINT_LEVELS
    context.beginPath()
    for (let other = 0; other < n; other++) {
      if (other === query) continue
      const weights = row(view, head, other)
      for (let key = 0; key < n; key++) if (Math.ceil(Math.min(1, weights[key]) * FAINT_LEVELS) === level) line(other, key)
    }
    context.stroke()
  }
}

/* Beside each key one square per head, as opaque as the line that leads there. */
function paintDots(view, drawn, rows) {
  const context = pencil(view, view.dots)
  const step = Math.min(16, view.dots.clientWidth / drawn.length)
  const height = Math.min(16, view.pitch || 16)
  for (const [index, head] of drawn.entries()) {
    context.fillStyle = hue(view, head)
    const dim = view.lit === null || view.lit === head ? 1 : 0.12
    for (const [key, weight] of rows[index].entries()) {
      const top = view.start + key * view.pitch - height / 2
      if (top + height < 0 || top > view.seen) continue
      context.globalAlpha = (dim * weight) / (view.most || 1)
      context.fillRect(index * step, top, Math.max(1, step - (step > 4 ? 1.5 : 0)), height)
    }
  }
}

function called({ content: { tokens } }, position) {
  const word = tokens[position]
  return `“${word}”${tokens.indexOf(word) === tokens.lastIndexOf(word) ? "" : ` at ${position}`}`
}

function tell(view, query, drawn, rows) {
  const told = drawn.slice(0, MOST_TOLD).map((head, index) => `head ${head} ${rows[index][view.key].toFixed(3)}`)
  const more = drawn.length - told.length
  return `${called(view, query)} to ${called(view, view.key)}: ${told.join(", ")}${more ? `, and ${more} more` : ""}.`
}

function summarise(view, query, drawn, rows) {
  const name = (position) => called(view, position)
  if (view.most === 0) return `${name(query)} may attend to nothing.`
  const named = drawn.slice(0, 3).map((head, index) => {
    const key = rows[index].indexOf(Math.max(...rows[index]))
    return `head ${head} at ${key === query ? "itself" : name(key)} (${rows[index][key].toFixed(3)})`
  })
  const more = drawn.length - named.length
  return `From ${name(query)}, ${named.join(", ")} most${more ? `; and ${more} more` : ""}.`
}

function reveal(view) {
  const item = view.options[view.query]
  if (!item) return
  const { scrollTop, clientHeight } = view.scroll
  if (item.offsetTop < scrollTop || item.offsetTop + item.offsetHeight > scrollTop + clientHeight) view.scroll.scrollTop = item.offsetTop - clientHeight / 2
}
