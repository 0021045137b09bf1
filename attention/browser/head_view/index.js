import { listenToTokens, markQueries } from "../shared/choosing.js"
import { palette } from "../shared/colours.js"
import { component } from "../shared/component.js"
import * as elements from "../shared/elements.js"
import { countDrawing, pencil } from "../shared/painter.js"
import { whenMoved, where } from "../shared/selection.js"
import { fixed, named, sizeOf } from "../shared/words.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {import("../shared/message.js").Content<"head_view">} Content
    @typedef {ReturnType<typeof build>} View */

const MOST_FAINT = 32
const FAINT_LEVELS = 4
const MOST_TOLD = 12
const HINT = "Click a head to turn it on or off, double-click to keep it alone."
const { make } = elements

export default component(build, take, again)

/** @type {(view: View) => void} */
function take(view) {
  const { content } = view
  const names = JSON.stringify([content.tokens, content.known])
  view.active = new Set(content.active)
  elements.afterPaint(() => {
    if (view.names !== names) write(view)
    view.names = names
    view.held = -1
    chips(view)
    show(view)
  })
}

/** @param {Mount<"head_view">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const bar = make("div", "chips", frame, { role: "group", ariaLabel: "Heads drawn" })
  make("p", "hint", frame, { textContent: HINT })
  const titles = make("div", "titles", frame)
  for (const title of ["query", "key, and its weight in each head drawn"])
    make("span", "", titles, { textContent: title })
  const scroll = make("div", "scroll", frame)
  const queries = make("div", "queries", scroll)
  const lines = make("canvas", "", make("div", "between", scroll), { ariaHidden: "true" })
  const keys = make("div", "keys", scroll, { role: "list", ariaLabel: "Keys" })
  const dots = make("canvas", "dots", make("div", "between", scroll), { ariaHidden: "true" })
  const summary = make("p", "summary", frame, { role: "status" })
  const [options, items] = /** @type {HTMLElement[][]} */ ([[], []])
  const view = {
    ...{ content, frame, bar, scroll, queries, keys, options, items, lines, dots, summary },
    ...{ names: "", lit: -1, held: -1, query: 0, pitch: 0, start: 0 },
    active: new Set(content.active),
    before: /** @type {Set<number> | null} */ (null),
    hues: /** @type {string[]} */ ([]),
    send,
  }
  listenToTokens(view)
  listenToHeads(view)
  const redraw = () => view.names && show(view)
  scroll.addEventListener("scroll", () => requestAnimationFrame(redraw), { passive: true })
  new ResizeObserver(redraw).observe(scroll)
  whenMoved(frame, () => moved(view))
  return view
}

/** @type {(view: View) => void} */
function again(view) {
  if (!view.names) return
  chips(view)
  show(view)
}

/** Pointing at a key, or at a query whose rows have not been sent, moves no line.
    @type {(view: View) => void} */
function moved(view) {
  if (!view.names) return
  const { held, query } = at(view)
  if (view.held === held && view.query === query) say(view)
  else show(view)
}

/** The first click of a double click toggles at once; the second starts over from what was before.
    @type {(view: View) => void} */
function listenToHeads(view) {
  const { bar } = view
  /** @type {(event: Event) => number} */
  const headOf = (event) => {
    const chip = elements.under(event, "button")
    return chip ? elements.childrenOf(bar).indexOf(chip) : -1
  }
  bar.addEventListener("click", (event) => {
    const head = headOf(event)
    if (head < 0) return
    const second = event.detail === 2 ? view.before : null
    const from = second ?? view.active
    view.before = second ? null : from
    view.active = toggled(from, head, view.content.heads, event.shiftKey || second !== null)
    mark(view)
    show(view)
    view.send("active", sorted(view.active), event.detail === 1 ? 300 : 20)
  })
  bar.addEventListener("pointerover", (event) => light(view, headOf(event)))
  bar.addEventListener("pointerleave", () => light(view, -1))
}

/** The heads drawn once one of them has been turned on or off, or kept alone; never none.
    @type {(active: Set<number>, head: number, heads: number, alone: boolean) => Set<number>} */
export function toggled(active, head, heads, alone) {
  const next = new Set(alone ? [] : active)
  const only = active.size === 1 && active.has(head)
  if (alone ? !only : !next.delete(head)) next.add(head)
  return next.size ? next : new Set(Array(heads).keys())
}

/** @type {(active: Set<number>) => number[]} */
function sorted(active) {
  return [...active].sort((a, b) => a - b)
}

/** @type {(view: View, head: number) => void} */
function light(view, head) {
  const lit = view.active.has(head) && view.active.size > 1 ? head : -1
  if (lit === view.lit) return
  view.lit = lit
  show(view)
}

/** @type {(view: View) => void} */
function write(view) {
  const { tokens, known } = view.content
  view.scroll.classList.toggle("long", tokens.length > 14)
  /** @type {(role: string) => HTMLElement[]} */
  const list = (role) => tokens.map((_, at) => elements.makeChip(role, known[at], tokens, at))
  view.options = list("option")
  view.items = list("listitem")
  view.queries.replaceChildren(...view.options)
  view.keys.replaceChildren(...view.items)
}

/** @type {(view: View) => void} */
function chips(view) {
  const { heads } = view.content
  view.hues = palette(view.frame, "categorical")
  const title = "Click: on or off. Double-click, or shift and click: alone; once more: all."
  if (view.bar.children.length !== heads)
    view.bar.replaceChildren(
      ...Array.from({ length: heads }, (_, head) => {
        const words = { textContent: `${head}`, ariaLabel: `Head ${head}`, title }
        return make("button", "", null, { type: "button", ...words })
      }),
    )
  mark(view)
}

/** @type {(view: View) => void} */
function mark(view) {
  for (const [head, chip] of elements.childrenOf(view.bar).entries()) {
    chip.ariaPressed = String(view.active.has(head))
    chip.style.setProperty("--hue", hue(view, head))
  }
}

/** @type {(view: View, head: number) => string} */
function hue(view, head) {
  return view.hues[head % view.hues.length]
}

/** The weights of one head and query, or null where they have not been sent.
    @type {(content: Content, head: number, query: number) => Float32Array | null} */
export function rowOf({ numbers, tokens: { length }, whole, query: sent }, head, query) {
  if (!whole && query !== sent) return null
  const start = whole ? (head * length + query) * length : head * length
  return numbers.subarray(start, start + length)
}

/** The row of a query that is only pointed at can be shown where the rows of all have been sent.
    @type {(view: View) => { held: number, query: number, key: number | null }} */
function at({ frame, content: { tokens, whole } }) {
  const { held, query, key } = where(frame, tokens.length)
  return { held, query: whole ? query : held, key }
}

/** The heads drawn, and the weights of each of them for a query, as far as they have been sent.
    @type {(view: View, query: number) => { drawn: number[], rows: Float32Array[] }} */
function drawnOf({ content, active }, query) {
  const drawn = sorted(active)
  return { drawn, rows: drawn.flatMap((head) => rowOf(content, head, query) ?? []) }
}

/** @type {(view: View) => void} */
function show(view) {
  const { held, query } = at(view)
  markQueries(view, held, query)
  const chosen = view.options[held]
  if (view.held !== held) elements.reveal(view.scroll, chosen.offsetTop, chosen.offsetHeight)
  const { drawn, rows } = drawnOf(view, query)
  view.held = held
  view.query = query
  if (rows.length < drawn.length) return
  lay(view)
  paintLines(view, query, drawn, rows)
  paintDots(view, drawn, rows)
  say(view)
}

/** @type {(view: View) => void} */
function say(view) {
  const { query, key } = at(view)
  const { drawn, rows } = drawnOf(view, query)
  if (rows.length < drawn.length) return
  const { tokens } = view.content
  view.summary.textContent =
    key === null ? summarise(tokens, query, drawn, rows) : tell(tokens, query, key, drawn, rows)
}

/** Where tokens lie, and canvases as large as what is seen of them: long sentences scroll beneath.
    @type {(view: View) => void} */
function lay(view) {
  const [first, second] = view.options
  view.pitch = second ? second.offsetTop - first.offsetTop : 0
  view.start = first.offsetTop + first.offsetHeight / 2 - view.scroll.scrollTop
  for (const canvas of [view.lines, view.dots])
    elements.setLengths(canvas, { height: view.scroll.clientHeight })
}

/** An empty canvas to draw on; it keeps its size where it can, which is quicker.
    @type {(canvas: HTMLCanvasElement) => CanvasRenderingContext2D} */
function cleared(canvas) {
  const dots = window.devicePixelRatio || 1
  const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((side) =>
    Math.round(side * dots),
  )
  if (canvas.width !== width) canvas.width = width
  if (canvas.height !== height) canvas.height = height
  const context = pencil(canvas)
  context.setTransform(dots, 0, 0, dots, 0, 0)
  context.clearRect(0, 0, width, height)
  return context
}

/** @type {(view: View, query: number, drawn: number[], rows: Float32Array[]) => void} */
function paintLines(view, query, drawn, rows) {
  const context = cleared(view.lines)
  const width = view.lines.clientWidth
  const apart = Math.min(3, 15 / drawn.length)
  const faint = Math.min(0.25, 1.5 / drawn.length)
  /** @type {(index: number) => (from: number, to: number) => void} */
  const line = (index) => (from, to) => {
    const [start, end] = [from, to].map(
      (token) => view.start + token * view.pitch + (index - (drawn.length - 1) / 2) * apart,
    )
    context.moveTo(0, start)
    context.bezierCurveTo(width / 2, start, width / 2, end, width, end)
  }
  if (view.options.length <= MOST_FAINT)
    for (const [index, head] of drawn.entries())
      if (view.lit < 0 || view.lit === head) {
        context.strokeStyle = hue(view, head)
        paintFaint(view.content, context, head, query, faint, line(index))
      }
  context.lineWidth = 2.5
  for (const [index, head] of drawn.entries()) {
    context.strokeStyle = hue(view, head)
    for (const [key, weight] of rows[index].entries()) {
      if (!weight) continue
      context.globalAlpha = dim(view, head) * opacityOf(weight)
      context.beginPath()
      line(index)(query, key)
      context.stroke()
    }
  }
  countDrawing(view.lines)
}

/** @type {(view: View, head: number) => number} */
function dim(view, head) {
  return view.lit < 0 || view.lit === head ? 1 : 0.12
}

/** Lines and squares of small weights are faint, and still there.
    @type {(weight: number) => number} */
function opacityOf(weight) {
  return 0.08 + 0.92 * sizeOf(weight)
}

/** The lines of all other queries, a few shades at a time.
    @type {(content: Content, context: CanvasRenderingContext2D, head: number, query: number,
      most: number, line: (from: number, to: number) => void) => void} */
function paintFaint(content, context, head, query, most, line) {
  context.lineWidth = 1
  for (let level = 1; level <= FAINT_LEVELS; level++) {
    context.globalAlpha = (most * level) / FAINT_LEVELS
    context.beginPath()
    for (const other of content.tokens.keys()) {
      if (other === query) continue
      for (const [key, weight] of (rowOf(content, head, other) ?? []).entries())
        if (Math.ceil(Math.min(1, weight) * FAINT_LEVELS) === level) line(other, key)
    }
    context.stroke()
  }
}

/** Beside each key one square per head, as opaque as the line that leads there.
    @type {(view: View, drawn: number[], rows: Float32Array[]) => void} */
function paintDots(view, drawn, rows) {
  const context = cleared(view.dots)
  const step = Math.min(16, view.dots.clientWidth / drawn.length)
  const height = Math.min(16, view.pitch || 16)
  const seen = view.scroll.clientHeight
  for (const [index, head] of drawn.entries()) {
    context.fillStyle = hue(view, head)
    for (const [key, weight] of rows[index].entries()) {
      const top = view.start + key * view.pitch - height / 2
      if (top + height < 0 || top > seen) continue
      if (!weight) continue
      context.globalAlpha = dim(view, head) * opacityOf(weight)
      context.fillRect(index * step, top, Math.max(1, step - (step > 4 ? 1.5 : 0)), height)
    }
  }
}

/** What one key gets from each head drawn.
    @type {(tokens: string[], query: number, key: number, drawn: number[],
      rows: ArrayLike<number>[]) => string} */
export function tell(tokens, query, key, drawn, rows) {
  const told = drawn.map((head, index) => `head ${head} ${fixed(rows[index][key], 3)}`)
  const more = told.splice(MOST_TOLD).length
  const rest = more ? `, and ${more} more` : ""
  return `${named(tokens, query)} to ${named(tokens, key)}: ${told.join(", ")}${rest}.`
}

/** What the first heads drawn attend to most.
    @type {(tokens: string[], query: number, drawn: number[], rows: Float32Array[]) => string} */
export function summarise(tokens, query, drawn, rows) {
  const name = named(tokens, query)
  if (rows.every((row) => !row.some((weight) => weight > 0))) return `${name} may look at nothing.`
  const told = drawn.slice(0, 3).map((head, index) => {
    const most = Math.max(...rows[index])
    const key = rows[index].indexOf(most)
    const tied = rows[index].filter((weight) => weight === most).length
    const where = key === query ? "itself" : named(tokens, key)
    return `head ${head} at ${tied > 1 ? `${tied} keys alike` : where} (${fixed(most, 3)})`
  })
  const more = drawn.length - told.length
  return `From ${name}, ${told.join(", ")} most${more ? `; and ${more} more` : ""}.`
}
