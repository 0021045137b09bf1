import { axis, strands } from "../shared/axis.js"
import { cellAfter } from "../shared/cells.js"
import { listenTo } from "../shared/choosing.js"
import { inkOn, palette, ramp, rgb, shadeOf } from "../shared/colours.js"
import { component, isAnswered } from "../shared/component.js"
import { childrenOf, make, makeName, setLengths, under } from "../shared/elements.js"
import { paintNumbers } from "../shared/painter.js"
import { choose, pointAt, whenMoved, where } from "../shared/selection.js"
import { distinct, lengthOf, precise, roomFor, sizeOf } from "../shared/words.js"
import { fitted, less, scaleOf, softmax, written } from "./numbers.js"

/** @import { WordRowsHeader } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @import { Cell } from "../shared/cells.js"

    Where rows stand: in the columns of the words above, across with words at their left, below
    words of their own, or as colours alone.
    @typedef {"under" | "across" | "own" | "colours"} Layout
    @typedef {{ numbers: ArrayLike<number>, low: number, high: number }} Shown of one row
    @typedef {ReturnType<typeof build>} View */

const NARROW = 600 // pixels of a window in which words stand one below the other
const MOST_CELLS = 64 // keys, above which cells are colours alone
const NAMES = { words: 80, rows: 120, least: 48 } // pixels at the left
const CELLS = { least: 19, usual: 52, colour: [2, 12] } // pixels of a cell's width
const MOST_TOLD = 12
/** @type {Record<string, number>} */
const TURNS = { PageUp: -1, PageDown: 1 }

export default component(build, draw, again)

/** @param {Mount<"word_rows">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const factor = make("label", "factor", frame)
  const title = make("b", "", factor)
  const slider = make("input", "", factor, { type: "range" })
  const output = make("output", "", factor)
  const grid = make("div", "grid", frame, { role: "grid" })
  const readout = make("p", "readout", frame)
  const around = make("i", "outline", null)
  const view = {
    ...{ content, frame, factor, title, slider, output, grid, readout, around, send },
    ...{ width: 0, left: 0, outline: "", at: 0, query: -1, layout: /** @type {Layout} */ ("own") },
    key: /** @type {number | null} */ (null),
    focus: /** @type {Cell} */ ([Math.max(0, content.chosen), 0]),
    widths: /** @type {number[]} */ ([]),
    rows: /** @type {HTMLElement[][]} */ ([]), // of each its name, then its cells
    heads: /** @type {HTMLElement[]} */ ([]),
    shown: /** @type {Shown[]} */ ([]),
    shades: /** @type {Uint32Array[]} */ ([]), // around zero, and from zero on
    hues: /** @type {string[]} */ ([]),
  }
  listen(view)
  axis.follow(frame, () => view.width && axis.of(view.content.tokens) && again(view))
  whenMoved(frame, () => view.width && move(view))
  return view
}

/** @type {(view: View) => void} */
function listen(view) {
  const { grid, slider } = view
  /** @type {(event: MouseEvent) => { key: number } | null} */
  const at = (event) => {
    const key = placeOf(view, event)[1] - 1
    return key < 0 ? null : { key }
  }
  listenTo(grid, at, "pointermove")
  grid.addEventListener("click", (event) => {
    const [row, column] = placeOf(view, event)
    if (row < 0) return column > 0 ? choose("query", column - 1) : undefined
    focus(view, [row, column])
    if (under(event, ".mark") || event.shiftKey) return mark(view, row)
    act(view, row, column)
  })
  grid.addEventListener("keydown", (event) => press(view, event))
  slider.addEventListener("input", () => {
    view.at = Number(slider.value)
    fill(view)
  })
  slider.addEventListener("change", () => view.send("factor", view.at))
}

/** The row and the column where something happened, the names being column 0 and the words row -1.
    @type {(view: View, event: MouseEvent) => Cell} */
function placeOf({ rows, heads, layout, content }, event) {
  const part = under(event, "[role=gridcell], [role=rowheader], [role=columnheader]")
  if (!part) return [-1, 0]
  const row = rows.findIndex((cells) => cells.includes(part))
  if (row < 0) return [-1, heads.indexOf(part) + 1]
  const column = rows[row].indexOf(part)
  if (layout !== "colours" || !column) return [row, column]
  return [row, 1 + Math.floor((event.offsetX / part.clientWidth) * content.tokens.length)]
}

/** @type {(view: View, event: KeyboardEvent) => void} */
function press(view, event) {
  const { focus: from, rows } = view
  const { key } = event
  if (!under(event, "[role=gridcell], [role=rowheader]")) return
  const turn = TURNS[key]
  const to = cellAfter(key, from, rows.length, rows[0].length)
  if (!turn && !to) return
  event.preventDefault()
  if (!to) return view.send("turn", turn, 60)
  focus(view, to, true)
  if (key === "Enter" || key === " ") return event.shiftKey ? mark(view, to[0]) : act(view, ...to)
  pointAt(to[1] ? { key: to[1] - 1 } : null)
  if (to[0] !== from[0]) chooseRow(view, to[0], 60)
}

/** @type {(view: View, row: number, column: number) => void} */
function act(view, row, column) {
  if (column && view.content.opens) view.send("cell", [row, column - 1])
  else chooseRow(view, row)
}

/** @type {(view: View, row: number, wait?: number) => void} */
function chooseRow(view, row, wait) {
  if (!isAnswered(view.content, "row")) return
  view.content.chosen = row
  outline(view)
  view.send("row", row, wait)
}

/** @type {(view: View, row: number) => void} */
function mark(view, row) {
  const { content } = view
  const { marked } = content
  if (!content.marks) return
  content.marked = marked.includes(row) ? marked.filter((at) => at !== row) : [...marked, row]
  outline(view)
  view.send("marked", content.marked)
}

/** One place of the figure is reached by Tab, from there the others by arrow keys.
    @type {(view: View, cell: Cell, moves?: boolean) => void} */
function focus(view, cell, moves = false) {
  const { rows, grid } = view
  const row = Math.min(cell[0], rows.length - 1)
  const column = Math.min(cell[1], rows[row].length - 1)
  grid.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1")
  view.focus = [row, column]
  rows[row][column].tabIndex = 0
  if (moves) rows[row][column].focus()
}

/** @type {(view: View) => void} */
function draw(view) {
  if (!isAnswered(view.content, "marked")) view.content.marks = false
  if (!isAnswered(view.content, "factor")) view.content.slider = null
  view.at = view.content.slider?.at ?? 0
  if (view.width) place(view)
}

/** In another width, theme, or place of the words; read before anything is written.
    @type {(view: View) => void} */
function again(view) {
  const { frame } = view
  const { left, width } = frame.getBoundingClientRect()
  Object.assign(view, { left, width: width && frame.clientWidth })
  if (!width) return strands.tell(frame, [], null)
  view.hues = palette(frame, "categorical")
  view.shades = ["diverging", "sequential"].map((kind) => ramp(palette(frame, kind)))
  place(view)
}

/** How rows stand, by where the words do and how much room there is.
    @type {(kind: string | undefined, width: number, keys: number) => Layout} */
export function layoutOf(kind, width, keys) {
  if (kind === "row") return "under"
  if (keys > MOST_CELLS) return "colours"
  return width < NARROW ? "across" : "own"
}

/** @type {(view: View) => void} */
function place(view) {
  const { frame, grid, content, left, width } = view
  const { tokens, rows, marks, slider, least, label } = content
  const found = axis.of(tokens)
  const [first, second] = found?.words ?? []
  const gap = second ? second.left - first.left - first.width : 4
  const stands = found?.kind === "row" && first.left - left - gap < NAMES.least ? null : found
  view.layout = layoutOf(stands?.kind, width, tokens.length)
  const { layout } = view
  const outline = JSON.stringify([tokens, rows, marks, layout === "colours"])
  if (outline !== view.outline) write(view)
  view.outline = outline
  frame.dataset.layout = layout
  frame.toggleAttribute("data-fine", least > 0)
  grid.ariaLabel = label
  const across = Math.max(CELLS.least, (width - NAMES.words) / rows.length - 3)
  view.widths = tokens.map((_, key) => {
    if (layout === "under") return stands?.words[key].width ?? 0
    return layout === "across"
      ? across
      : Math.max(CELLS.usual, 8 + roomFor([distinct(tokens, key)]))
  })
  const lead = layout === "under" ? first.left - left - gap : NAMES.rows
  const spread = Math.floor((width - NAMES.rows) / tokens.length)
  const [narrow, wide] = CELLS.colour
  const all = Math.min(wide, Math.max(narrow, spread)) * tokens.length
  setLengths(grid, { "--gap": layout === "under" ? gap : 4, "--room": across, "--all": all })
  grid.style.setProperty("--keys", String(tokens.length))
  grid.style.setProperty("--columns", `${lead}px ${view.widths.map((w) => `${w}px`).join(" ")}`)
  view.factor.hidden = !slider
  if (slider) {
    const { low, high, step } = slider
    view.title.textContent = slider.label
    Object.assign(view.slider, { min: String(low), max: String(high), step: String(step) })
    view.slider.value = String(view.at)
  }
  fill(view)
}

/** The words, the names of the rows, and empty cells.
    @type {(view: View) => void} */
function write(view) {
  const { grid, content, layout } = view
  const { tokens, rows, marks } = content
  const colours = layout === "colours"
  grid.replaceChildren()
  view.key = null
  const top = make("div", "row words", grid, { role: "row", hidden: colours })
  make("span", "corner", top, { role: "gridcell" })
  view.heads = (colours ? [] : tokens).map((_, key) =>
    Object.assign(makeName("span", "", top, distinct(tokens, key)), { role: "columnheader" }),
  )
  view.rows = rows.map(({ name, kind, beside }) => {
    const line = make("div", `row ${kind}`, grid, { role: "row" })
    const first = make("div", "name", line, { role: "rowheader", tabIndex: -1 })
    if (marks)
      make("button", "mark", first, { type: "button", tabIndex: -1, ariaLabel: `Mark ${name}` })
    make("span", "", first, { textContent: name, title: [name, beside].filter(Boolean).join(": ") })
    const cells = (colours ? [0] : tokens).map(() =>
      make("div", "cell", line, { role: "gridcell", tabIndex: -1 }),
    )
    make("small", "beside", line, { textContent: beside })
    if (colours) make("canvas", "", cells[0], { role: "img" })
    else if (kind === "bar") for (const cell of cells) make("i", "", cell)
    return [first, ...cells]
  })
  if (rows.length) focus(view, view.focus)
}

/** The numbers of a row for a query; of one that hangs on the slider, at its factor.
    @type {(view: View, row: number, query: number) => ArrayLike<number>} */
function numbersOf(view, row, query) {
  const { rows, numbers, tokens, slider } = view.content
  if (slider && view.at !== slider.at) {
    const to = () => softmax(numbersOf(view, slider.of, query), view.at)
    if (row === slider.to) return to()
    const base = rows.findIndex(({ kind }) => kind === "share")
    if (row === slider.change) return less(to(), numbersOf(view, base, query))
  }
  const before = rows.slice(0, row).reduce((sum, { queries }) => sum + queries, 0)
  const from = (before + (rows[row].queries > 1 ? query : 0)) * tokens.length
  return numbers.subarray(from, from + tokens.length)
}

/** @type {(view: View) => void} */
function fill(view) {
  const { content, output, rows, shades } = view
  const { key: before } = view
  const { query, key } = where(content.tokens.length)
  Object.assign(view, { query, key })
  output.textContent = precise(view.at, 3)
  view.shown = content.rows.map(({ kind }, row) => {
    const numbers = numbersOf(view, row, query)
    const [low, high] = scaleOf(kind, numbers)
    return { numbers, low, high }
  })
  for (const [row, { numbers, low, high }] of view.shown.entries()) {
    const [canvas] = rows[row][1].getElementsByTagName("canvas")
    if (!canvas) for (const [at] of content.tokens.entries()) colour(view, row, at)
    else {
      const all = Float32Array.from(numbers)
      const greatest = all.reduce((most, each) => (each > most ? each : most), -Infinity)
      const most = Math.max(0, all.indexOf(greatest))
      paintNumbers(canvas, all.length, all, [low, high], shades[low < 0 ? 0 : 1])
      canvas.ariaLabel = `most at ${distinct(content.tokens, most)}: ${precise(all[most], 3)}`
    }
  }
  outline(view)
  light(view, before)
}

/** @type {(view: View, row: number, key: number) => void} */
function colour(view, row, key) {
  const { content, rows, shown, shades } = view
  const { numbers, low, high } = shown[row]
  const { kind, name } = content.rows[row]
  const number = numbers[key]
  const masked = Number.isNaN(number)
  const cell = rows[row][key + 1]
  cell.classList.toggle("masked", masked)
  cell.title = `${name}, ${distinct(content.tokens, key)}: ${masked ? "masked" : precise(number, 6)}`
  if (kind === "bar") return cell.style.setProperty("--size", lengthOf(sizeOf(number / high) || 0))
  const pixel = shadeOf(number, low, high, shades[low < 0 ? 0 : 1])
  cell.style.background = masked ? "" : rgb(pixel)
  cell.style.color = masked ? "" : inkOn(pixel)
  label(view, row, key)
}

/** The number of a cell, as far as there is room; the one that is pointed at however small it is.
    @type {(view: View, row: number, key: number) => void} */
function label({ content, rows, shown, widths, key: pointed }, row, key) {
  const { numbers, high } = shown[row]
  const least = key === pointed ? 0 : content.least
  const whole = written(content.rows[row].kind, numbers[key], high, least)
  const { text, tight } = fitted(whole, widths[key])
  const cell = rows[row][key + 1]
  if (cell.textContent !== text) cell.textContent = text
  cell.classList.toggle("tight", tight)
}

/** @type {(view: View) => void} */
function move(view) {
  const { query, key } = where(view.content.tokens.length)
  if (query !== view.query) return fill(view)
  if (key === view.key) return
  const before = view.key
  view.key = key
  light(view, before)
}

/** The column of the word that is pointed at, and what rows have there.
    @type {(view: View, before: number | null) => void} */
function light(view, before) {
  const { content, rows, heads, shown, key, query, layout, readout } = view
  if (layout !== "colours")
    for (const at of [before, key]) {
      if (at === null) continue
      heads[at].classList.toggle("pointed", at === key)
      for (const [row, cells] of rows.entries()) {
        cells[at + 1].classList.toggle("pointed", at === key)
        if (content.least && content.rows[row].kind !== "bar") label(view, row, at)
      }
    }
  for (const [at, head] of heads.entries()) head.ariaSelected = String(at === query)
  const tells = key !== null && (layout === "colours" || layout === "across")
  const said = content.rows.slice(0, MOST_TOLD).map(({ kind, name }, row) => {
    const number = shown[row].numbers[key ?? 0]
    const text = kind === "bar" ? precise(number, 3) : written(kind, number, shown[row].high)
    return `${name} ${text || "masked"}`
  })
  readout.textContent = tells ? `${distinct(content.tokens, key)}: ${said.join(", ")}` : ""
}

/** The chosen row, and the marked ones, of which the sentence is told.
    @type {(view: View) => void} */
function outline({ content, rows, hues, around, grid, frame, shown }) {
  const { chosen, marked, tokens } = content
  const line = rows[chosen]?.[0].parentElement
  if (line) line.append(around)
  else around.remove()
  for (const each of childrenOf(grid)) each.ariaSelected = String(each === line)
  const hue = (/** @type {number} */ row) => hues[marked.indexOf(row) % hues.length] ?? ""
  for (const [row, [name]] of rows.entries()) {
    name.style.setProperty("--hue", hue(row))
    name.querySelector("button")?.setAttribute("aria-pressed", String(marked.includes(row)))
  }
  const told = marked.map((row) => ({ colour: hue(row), weights: shown[row].numbers }))
  strands.tell(frame, tokens, told)
}
