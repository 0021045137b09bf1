import { palette } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { afterPaint, childrenOf, make, under } from "../shared/elements.js"
import { countDrawing } from "../shared/painter.js"
import { whenMoved, where } from "../shared/selection.js"
import { makeTokenLines, showTokens, writeTokens } from "../shared/token_lines.js"
import { fixed, named, sizeOf } from "../shared/words.js"

/** @import { Mount } from "../shared/component.js"
    @import { Strand } from "../shared/token_lines.js"
    @typedef {import("../shared/message.js").Content<"head_view">} Content
    @typedef {ReturnType<typeof build>} View */

const MOST_WOVEN = 32 // tokens
const MOST_TOLD = 12
const FAINT = 0.12 // of heads beside the one that is pointed at
const HINT = "Click a head to turn it on or off, double-click to keep it alone."

export const style = "shared/token_lines.css"
export default component(build, take, again)

/** @type {(view: View) => void} */
function take(view) {
  const { content } = view
  view.active = new Set(content.active)
  afterPaint(() => {
    writeTokens(view.lines, content)
    view.drawn = true
    again(view)
  })
}

/** @param {Mount<"head_view">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const bar = make("div", "chips", frame, { role: "group", ariaLabel: "Heads drawn" })
  make("p", "hint", frame, { textContent: HINT })
  const lines = makeTokenLines(frame, (item, key) => dress(view, item, key))
  lines.title.textContent = "key, and its weight in each head drawn"
  const summary = make("p", "summary", frame, { role: "status" })
  const view = {
    ...{ content, frame, bar, lines, summary, drawn: false, lit: -1, query: 0, send },
    active: new Set(content.active),
    before: /** @type {Set<number> | null} */ (null),
    hues: /** @type {string[]} */ ([]),
    strands: /** @type {Strand[]} */ ([]),
  }
  listenToHeads(view)
  whenMoved(frame, () => view.drawn && show(view))
  return view
}

/** @type {(view: View) => void} */
function again(view) {
  if (!view.drawn) return
  view.hues = palette(view.frame, "categorical")
  chips(view)
  join(view)
}

/** The first click of a double click toggles at once; the second starts over from what was before.
    @type {(view: View) => void} */
function listenToHeads(view) {
  const { bar } = view
  /** @type {(event: Event) => number} */
  const headOf = (event) => {
    const chip = under(event, "button")
    return chip ? childrenOf(bar).indexOf(chip) : -1
  }
  bar.addEventListener("click", (event) => {
    const head = headOf(event)
    if (head < 0) return
    const second = event.detail === 2 ? view.before : null
    const from = second ?? view.active
    view.before = second ? null : from
    view.active = toggled(from, head, view.content.heads, event.shiftKey || second !== null)
    chips(view)
    join(view)
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
  join(view)
}

/** @type {(view: View) => void} */
function chips({ bar, content: { heads }, active, hues }) {
  const title = "Click: on or off. Double-click, or shift and click: alone; once more: all."
  while (bar.children.length > heads) bar.lastElementChild?.remove()
  for (let head = 0; head < heads; head++) {
    const words = { textContent: `${head}`, ariaLabel: `Head ${head}`, title }
    const chip = childrenOf(bar)[head] ?? make("button", "", bar, { type: "button", ...words })
    chip.ariaPressed = String(active.has(head))
    chip.style.setProperty("--hue", hues[head % hues.length])
  }
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
function at({ content: { tokens, whole } }) {
  const { held, query, key } = where(tokens.length)
  return { held, query: whole ? query : held, key }
}

/** Draws the lines of the heads on anew.
    @type {(view: View) => void} */
function join(view) {
  const { content, active, hues, lit } = view
  const { query } = at(view)
  const drawn = sorted(active)
  const apart = Math.min(3, 15 / drawn.length)
  const weaves = content.whole && content.tokens.length <= MOST_WOVEN
  view.query = query
  view.strands = drawn.flatMap((head, index) => {
    const row = rowOf(content, head, query)
    if (!row) return []
    const others = lit >= 0 && head !== lit
    const rows = (/** @type {number} */ other) => rowOf(content, head, other)
    return {
      ...{ row, colour: () => hues[head % hues.length], share: others ? FAINT : 1 },
      aside: (index - (drawn.length - 1) / 2) * apart,
      rows: weaves && !others ? rows : undefined,
    }
  })
  show(view)
  countDrawing(view.frame)
}

/** Pointing at a key, or at a query whose rows have not been sent, draws no line anew.
    @type {(view: View) => void} */
function show(view) {
  const { content, active, lines, strands, summary } = view
  const shown = at(view)
  if (view.query !== shown.query) return join(view)
  if (strands.length < active.size) return
  showTokens(lines, shown, strands)
  const [drawn, rows] = [sorted(active), strands.map(({ row }) => row)]
  const { query, key } = shown
  summary.textContent =
    key === null
      ? summarise(content.tokens, query, drawn, rows)
      : tell(content.tokens, query, key, drawn, rows)
}

/** Beside a key one square per head, as opaque as the line that leads there.
    @type {(view: View, item: HTMLElement, key: number) => void} */
function dress({ strands }, item, key) {
  const squares = /** @type {HTMLElement} */ (item.lastElementChild)
  while (squares.children.length < strands.length) make("i", "", squares)
  while (squares.children.length > strands.length) squares.lastElementChild?.remove()
  for (const [index, { style }] of childrenOf(squares).entries()) {
    const { row, colour, share = 1 } = strands[index]
    style.background = colour(1)
    style.opacity = row[key] ? String(share * (0.08 + 0.92 * sizeOf(row[key]))) : "0"
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
