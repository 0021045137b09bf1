import { listenTo } from "../shared/choosing.js"
import { ramp } from "../shared/colours.js"
import { make, makeName, makeShape, setLengths, under } from "../shared/elements.js"
import { paintNumbers } from "../shared/painter.js"
import { curve, strongest, widthOf } from "../shared/token_lines.js"
import { distinct, fixed, glance, named, sizeOf } from "../shared/words.js"
import { hueOf } from "./lines.js"
import * as sums from "./sums.js"

/** @import { At, Content, Part } from "./index.js"
    @typedef {Record<"score" | "weight" | "bar", HTMLElement> & { line: HTMLElement[],
      value: HTMLCanvasElement }} Row
    @typedef {ReturnType<typeof build>} View */

const MOST_KEYS = 12
const ROW = 32
const LEAST = 2 * ROW // in which the query's two lines and the softmax stand
const WIDE = 100
const HEADS = ["query", "", "key", "scaled score", "", "weight", "", "value", "", "sum"]

/** From the chosen token's query to its new vector, as a diagram that is folded behind other parts.
    @type {(parent: HTMLElement, content: Content) => Part} */
export function buildDiagram(parent, content) {
  const view = build(parent, content)
  return {
    draw: (content) => {
      view.content = content
      view.drawn = -1
    },
    show: (at) => show(view, at),
  }
}

/** @param {HTMLElement} parent
    @param {Content} content */
function build(parent, content) {
  const details = make("details", "", parent)
  details.open = !parent.previousElementSibling
  make("summary", "", details, {
    textContent: "How the new vector is computed: query, keys, weights, values",
  })
  const words = make("p", "words", details)
  const flow = make("div", "flow", details, { ariaHidden: "true" })
  const more = make("p", "more", details)
  const view = {
    ...{ content, details, words, flow, more, drawn: -1 },
    ...{ query: make("span", ""), output: make("canvas", ""), fan: makeLines(), join: makeLines() },
    at: /** @type {At | null} */ (null),
    rows: /** @type {Row[]} */ ([]),
    keys: /** @type {number[]} */ ([]),
  }
  details.addEventListener("toggle", () => view.at && show(view, view.at))
  listenTo(flow, (event) => {
    const row = under(event, "[data-row]")?.dataset.row
    return row === undefined ? null : { key: view.keys[Number(row)] }
  })
  return view
}

/** @type {(view: View, at: At) => void} */
function show(view, at) {
  view.at = at
  if (!view.details.open) return
  if (view.drawn !== at.query) write(view, at.query)
  view.drawn = at.query
  for (const [row, { line }] of view.rows.entries())
    for (const cell of line) cell.classList.toggle("pointed", view.keys[row] === at.key)
}

/** What happens, in words.
    @type {(content: Pick<Content, "tokens" | "scale" | "sent" | "weighed">, query: number) => string} */
export function told({ tokens, scale, sent, weighed }, query) {
  const added = sent.includes("scaled") ? " plus what positions add" : ""
  const mixed = sent.includes("mixed") ? ", mixed across heads before it and after" : ""
  return (
    `The query q of ${named(tokens, query)} meets each key k and gives a score, here times ` +
    `${Number(scale.toPrecision(4))}${added}; ${weighed}${mixed}; ` +
    "each value v is multiplied by its weight, and their sum is y."
  )
}

/** @type {(view: View, query: number) => void} */
function write(view, query) {
  const { content, words, more } = view
  const { tokens, keys, columns, width, numbers, hidden, theme } = content
  const weights = sums.applied(content, query)
  view.keys = strongest(weights, MOST_KEYS)
  if (view.rows.length !== view.keys.length) lay(view)
  const row = rowHeight(view.keys)
  const height = view.keys.length * row
  words.textContent = told(content, query)
  view.query.firstElementChild?.replaceWith(makeName("span", "", null, distinct(tokens, query)))
  const masked = sums.rowOf(hidden, columns, query)
  const values = view.keys.map((key) => sums.rowOf(numbers.values, width, key))
  const output = sums.rowOf(numbers.output, width, query)
  const most = [...values, output].reduce((most, row) => Math.max(most, sums.quantile(row, 1)), 0)
  const shades = ramp(theme.diverging)
  /** @type {(canvas: HTMLCanvasElement, row: Float32Array) => void} */
  const paint = (canvas, row) => {
    paintNumbers(canvas, width, row, [-(most || 1), most || 1], shades)
  }
  /** @type {SVGElement[][]} */
  const lines = [[], []]
  for (const [index, key] of view.keys.entries()) {
    const { line, score, weight, bar, value } = view.rows[index]
    const none = Boolean(masked[key])
    line[0].firstElementChild?.replaceWith(makeName("span", "", null, distinct(keys, key)))
    for (const cell of line) cell.classList.toggle("masked", none)
    const scaled = sums.scaledAt(content, query * columns + key)
    score.textContent = none ? "masked" : fixed(scaled, 2)
    weight.textContent = glance(weights[key], columns)
    bar.style.width = `${2.5 * sizeOf(weights[key])}rem`
    bar.classList.toggle("negative", weights[key] < 0)
    bar.style.background = hueOf(content, weights[key])
    paint(value, values[index])
    const middle = (index + 0.5) * row
    if (!none) lines[0].push(makeLine(curve(0, height / 2, WIDE, middle), 1, false))
    const thickness = weights[key] ? widthOf(weights[key]) : 0
    const to = makeLine(curve(0, middle, WIDE, height / 2), thickness, weights[key] < 0)
    to.style.stroke = hueOf(content, weights[key])
    lines[1].push(to)
  }
  for (const [side, svg] of [view.fan, view.join].entries()) {
    svg.setAttribute("viewBox", `0 0 ${WIDE} ${height}`)
    svg.replaceChildren(...lines[side])
  }
  paint(view.output, output)
  const left = columns - view.keys.length
  const rest = weights.reduce((sum, weight) => sum + weight, 0)
  const shown = view.keys.reduce((sum, key) => sum + weights[key], 0)
  more.textContent = left
    ? `${left} more keys, together of weight ${glance(rest - shown, columns)}.`
    : ""
}

/** @type {(keys: number[]) => number} */
function rowHeight(keys) {
  return Math.max(ROW, LEAST / keys.length)
}

/** @type {(view: View) => void} */
function lay(view) {
  const { flow, keys } = view
  flow.replaceChildren()
  const row = rowHeight(keys)
  setLengths(flow, { "--height": keys.length * row, "--row": row })
  flow.style.setProperty("--keys", String(keys.length))
  for (const textContent of HEADS) make("span", "head", flow, { textContent })
  /** @type {(name: string, column: number) => HTMLElement} */
  const whole = (name, column) => {
    const box = make("div", `whole ${name}`, flow)
    box.style.gridColumn = String(column)
    return box
  }
  view.query = makeRoles(whole("end", 1), "x", "q")
  view.fan = makeLines(whole("", 2))
  make("span", "", whole("softmax", 5), { textContent: view.content.between })
  view.join = makeLines(whole("", 9))
  const end = whole("end", 10)
  make("span", "", end, { textContent: "Σ" })
  view.output = make("canvas", "", end)
  make("i", "", end, { textContent: "y" })
  view.rows = keys.map((_, row) => makeRow(flow, row))
}

/** A token, and what becomes of it.
    @type {(box: HTMLElement, from: string, to: string) => HTMLElement} */
function makeRoles(box, from, to) {
  makeName("span", "", box, "")
  const roles = make("small", "", box)
  make("i", "", roles, { textContent: from })
  roles.append(" → ")
  make("i", "", roles, { textContent: to })
  return box
}

/** @type {(flow: HTMLElement, row: number) => Row} */
function makeRow(flow, row) {
  /** @type {(name: string, column: number) => HTMLElement} */
  const cell = (name, column) => {
    const box = make("div", name, flow)
    Object.assign(box.style, { gridColumn: String(column), gridRow: String(row + 2) })
    box.dataset.row = String(row)
    return box
  }
  const key = makeRoles(cell("key", 3), "x", "k")
  const [score, given, times, valued] = [
    cell("number", 4),
    cell("weight", 6),
    cell("times", 7),
    cell("value", 8),
  ]
  const [bar, weight] = [make("span", "bar", given), make("span", "", given)]
  times.textContent = "×"
  make("i", "", valued, { textContent: "v" })
  const value = make("canvas", "", valued)
  return { line: [key, score, given, times, valued], score, weight, bar, value }
}

/** @type {(parent?: HTMLElement) => SVGElement} */
function makeLines(parent) {
  return makeShape("svg", { preserveAspectRatio: "none" }, parent)
}

/** @type {(d: string, thickness: number, negative: boolean) => SVGElement} */
function makeLine(d, thickness, negative) {
  return makeShape("path", { d, "stroke-width": thickness, class: negative ? "negative" : "" })
}
