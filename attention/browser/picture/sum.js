import { cellAt } from "../shared/cells.js"
import { listenTo } from "../shared/choosing.js"
import { ramp } from "../shared/colours.js"
import { make, under } from "../shared/elements.js"
import { paintNumbers } from "../shared/painter.js"
import { fixed, glance, positionOf, precise, scientific, sizeOf } from "../shared/words.js"
import { hueOf } from "./lines.js"
import * as sums from "./sums.js"

/** @import { Content, Part, Terms } from "./index.js"
    @typedef {Record<"line" | "weight" | "bar", HTMLElement> & Record<"key" | "position" | "number",
      Text> & { cells: Text[] }} Line
    @typedef {ReturnType<typeof build>} View */

const COLUMNS = ["‖w·v‖", "share of y"]
const FEW_WRITTEN = 4 // where one line has to do, none of them rounded to 0
const LEAST_WRITTEN = 0.004

/** The new vector of one query: the sum written out, and term by term.
    @type {(parent: HTMLElement, content: Content) => Part} */
export function buildSum(parent, content) {
  const view = build(parent, content)
  listen(view)
  return {
    draw: (content) => {
      view.content = content
      view.query = -1
      view.shades = ramp(content.theme.diverging)
    },
    show: ({ query, key }) => {
      if (view.query !== query) write(view, query)
      mark(view, key)
    },
  }
}

/** @param {HTMLElement} parent
    @param {Content} content */
function build(parent, content) {
  const equation = make("p", "", make("div", "equation", parent))
  const frame = make("div", "terms", parent)
  const table = make("table", "", make("div", "scroll", frame, { tabIndex: 0 }))
  const head = make("tr", "", make("thead", "", table))
  const body = make("tbody", "", table)
  const foot = make("tr", "", make("tfoot", "", table))
  const bottom = make("div", "bottom", frame)
  const readout = make("span", "readout", bottom)
  const [, , wide] = ["key", "weight", "", ...COLUMNS].map((textContent) =>
    make("th", "", head, { scope: "col", textContent }),
  )
  wide.className = "strip"
  const over = make("span", "", wide)
  const legend = make("span", "legend", wide, { ariaHidden: "true" })
  const [low, , high] = ["", "scale", ""].map((name) => make("span", name, legend))
  make("th", "", foot, { scope: "row", textContent: "Σ = y" })
  const total = make("td", "weight total", foot)
  const strip = make("td", "strip")
  const terms = makePicture(strip)
  const sum = makePicture(make("td", "strip", foot))
  const cells = COLUMNS.map(() => make("td", "number", foot))
  return {
    ...{ content, frame, equation, body, readout, over, low, high },
    ...{ total, strip, terms, sum, sums: cells, query: -1 },
    lines: /** @type {Line[]} */ ([]),
    shown: /** @type {Terms} */ ({
      rows: [],
      terms: new Float32Array(),
      most: 1,
      length: 0,
      rounding: 0,
    }),
    shades: /** @type {Uint32Array} */ (new Uint32Array()),
  }
}

/** @type {(view: View) => void} */
function listen(view) {
  const { body, equation, terms, sum } = view
  listenTo(body, (event) => {
    const line = under(event, "tr")
    const row = view.lines.findIndex((each) => each.line === line)
    return under(event, ".strip") ? null : { key: view.shown.rows[row]?.key ?? null }
  })
  listenToTerms(equation)
  for (const canvas of [terms, sum]) {
    canvas.addEventListener("pointermove", (event) => {
      const { rows } = view.shown
      const [first, count] = canvas === sum ? [rows.length, 1] : [0, rows.length]
      const box = canvas.getBoundingClientRect()
      const [row, dimension] = cellAt(event, box, count, view.content.width)
      view.readout.textContent = words(view.shown, view.content, first + row, dimension)
    })
    canvas.addEventListener("pointerleave", () => tellHint(view))
  }
}

/** Points at the key of a term that is pointed at.
    @type {(element: HTMLElement) => void} */
export function listenToTerms(element) {
  listenTo(element, (event) => {
    const key = under(event, "[data-key]")?.dataset.key
    return key === undefined ? null : { key: Number(key) }
  })
}

/** @type {(cell: HTMLElement) => HTMLCanvasElement} */
function makePicture(cell) {
  return make("canvas", "", make("div", "strip-picture", cell), { ariaHidden: "true" })
}

/** What is said of a number; the row after the last is the sum.
    @type {(shown: Pick<Terms, "rows" | "terms" | "rounding">, content: sums.Factors, row: number,
      dimension: number) => string} */
export function words({ rows, terms, rounding }, { width, numbers }, row, dimension) {
  const term = terms[row * width + dimension]
  const said = `dimension ${dimension}: ${precise(term, 6)}`
  if (row === rows.length)
    return `y, ${said}, the sum of the column above; ‖Σ w·v − y‖ = ${scientific(rounding)}`
  const { key, name, weight } = rows[row]
  if (key === null) return `${name}, ${said}`
  const value = numbers.values[key * width + dimension]
  return `${name}, ${said} = ${precise(weight, 6)} · ${precise(value, 6)}`
}

/** @type {(view: View, key: number | null) => void} */
function mark({ equation, frame, lines, shown }, key) {
  for (const element of [equation, frame])
    for (const marked of element.querySelectorAll(".pointed")) marked.classList.remove("pointed")
  if (key === null) return
  equation.querySelector(`[data-key="${key}"]`)?.classList.add("pointed")
  lines[shown.rows.findIndex((row) => row.key === key)]?.line.classList.add("pointed")
}

/** @type {(view: View, query: number) => void} */
function write(view, query) {
  view.query = query
  view.shown = sums.termsOf(view.content, query)
  writeEquation(view.equation, view.content, query)
  writeTerms(view)
}

/** y = 0.41 v_cat + …, and what the other terms come to, where there is room for that.
    @type {(equation: HTMLElement, content: Content, query: number) => void} */
export function writeEquation(equation, content, query) {
  const { tokens, keys, columns, head, calm } = content
  const weights = sums.applied(content, query)
  const { strongest, count, rest } = sums.written(weights, calm ? FEW_WRITTEN : undefined)
  const terms = strongest.filter(([, weight]) => !calm || Math.abs(weight) >= LEAST_WRITTEN)
  const equals = calm || head === null ? " = " : ` of head ${head} = `
  equation.replaceChildren(makeVector("y", tokens, query), equals)
  for (const [index, [key, weight]] of terms.entries()) {
    const minus = index > 0 && weight < 0
    if (index) equation.append(minus ? " − " : " + ")
    const term = make("span", "term", equation, { title: precise(weight, 6) })
    term.dataset.key = String(key)
    make(calm && index ? "span" : "b", "", term, {
      textContent: glance(minus ? -weight : weight, columns),
    })
    term.append(" ", makeVector("v", keys, key))
  }
  if (count) equation.append(calm ? " + …" : ` + ${glance(rest, columns)} in ${count} more`)
  if (!terms.length) equation.append("0")
}

/** @type {(letter: string, tokens: string[], at: number) => HTMLElement} */
function makeVector(letter, tokens, at) {
  const whole = make("span", "vector")
  make("i", "", whole, { textContent: letter })
  const below = make("sub", "", whole)
  const [textContent, position] = sums.shortName(tokens, at)
  make("bdi", "", below, { textContent })
  below.append(position)
  return whole
}

/** Rows stand where they are and get other words; the strip beside them is one cell of the first.
    @type {(view: View) => void} */
function writeTerms(view) {
  const { rows, most, length } = view.shown
  if (view.lines.length !== rows.length) {
    view.lines = rows.map(makeLine)
    view.body.replaceChildren(...view.lines.map(({ line }) => line))
    view.strip.rowSpan = rows.length
    view.lines[0].weight.after(view.strip)
  }
  writeLines(view)
  const all = rows.reduce((sum, { weight }) => sum + weight, 0)
  view.total.textContent = fixed(all, 2)
  const whole = rows.reduce((sum, { share }) => sum + share, 0)
  const [size, share] = toldOf({ length, share: whole })
  view.sums[0].textContent = `‖y‖ ${size}`
  view.sums[1].textContent = share
  view.over.textContent = `w·v over ${view.content.width} dimensions`
  view.low.textContent = precise(-most, 2)
  view.high.textContent = `+${precise(most, 2)}`
  tellHint(view)
  paint(view)
}

/** @type {(view: View) => void} */
function writeLines({ content, lines, shown }) {
  for (const [index, { bar, ...texts }] of lines.entries()) {
    const { key, name, weight, ...measures } = shown.rows[index]
    texts.key.data = name
    texts.position.data = key === null ? "" : positionOf(content.keys, key)
    bar.style.width = `calc(${sizeOf(weight)} * var(--bar, 5.5rem))`
    bar.classList.toggle("negative", weight < 0)
    bar.style.background = hueOf(content, weight)
    texts.number.data = glance(weight, content.columns)
    for (const [column, text] of toldOf(measures).entries()) texts.cells[column].data = text
  }
}

/** The length of a term, and its share of the sum.
    @type {(measures: { length: number, share: number }) => string[]} */
export function toldOf({ length, share }) {
  return [fixed(length, 2), `${fixed(100 * share, 1)} %`]
}

/** @type {() => Line} */
function makeLine() {
  const line = make("tr", "")
  const name = make("th", "key", line, { scope: "row" })
  const weight = make("td", "weight", line)
  const [key, position] = [makeText("bdi", "", name), makeText("small", "", name)]
  const bar = make("span", "bar", weight)
  const number = makeText("span", "", weight)
  const cells = COLUMNS.map(() => makeText("td", "number", line))
  return { line, weight, key, position, bar, number, cells }
}

/** A text to be written anew, which costs the browser less than another text in its place.
    @type {(tag: keyof HTMLElementTagNameMap, name: string, parent: HTMLElement) => Text} */
function makeText(tag, name, parent) {
  return make(tag, name, parent).appendChild(new Text())
}

/** @type {(view: View) => void} */
function tellHint({ readout }) {
  readout.textContent = "Orange is above 0, blue below 0."
}

/** One pixel per number; the style sheet puts gaps between them where there is room.
    @type {(view: View) => void} */
function paint({ frame, content: { width }, shown, shades, terms: above, sum }) {
  const { rows, terms, most } = shown
  frame.style.setProperty("--rows", String(rows.length))
  frame.style.setProperty("--dimensions", String(width))
  const cells = rows.length * width
  paintNumbers(above, width, terms.subarray(0, cells), [-most, most], shades)
  paintNumbers(sum, width, terms.subarray(cells), [-most, most], shades)
}
