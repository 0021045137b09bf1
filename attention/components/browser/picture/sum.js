import { palette, ramp, rgb, shadeOf } from "../shared/colours.js"
import { make, whenThemed } from "../shared/elements.js"
import { paintNumbers } from "../shared/painter.js"
import { pointAt } from "../shared/place.js"
import { applied, check, COLUMNS, rowOf, scientific, shortName, signed, termsOf, written } from "./sums.js"

const ROW = 27

/* The new vector of one query: the sum written out, and term by term. */
export function buildSum(parent) {
  const equation = make("div", "equation", parent)
  const line = make("p", "", equation)
  const checked = make("p", "check", equation)
  const frame = make("div", "terms", parent)
  const table = make("table", "", make("div", "scroll", frame))
  const head = make("tr", "", make("thead", "", table))
  const body = make("tbody", "", table)
  const foot = make("tr", "", make("tfoot", "", table))
  const bottom = make("div", "bottom", frame)
  const readout = make("span", "readout", bottom)
  const save = Object.assign(make("button", "", bottom), { type: "button", textContent: "Save as SVG" })
  const heads = ["key", "weight", "", ...COLUMNS].map((text) => Object.assign(make("th", "", head), { scope: "col", textContent: text }))
  Object.assign(make("th", "", foot), { scope: "row", textContent: "Σ = y" })
  const view = { content: null, frame, line, checked, body, readout, rows: [], total: make("td", "weight total", foot), strip: make("td", "strip"), query: null, shown: null }
  for (const [name, cell] of [["terms", view.strip], ["sum", make("td", "strip", foot)]]) {
    const canvas = (view[name] = make("canvas", "", make("div", "strip-picture", cell)))
    canvas.setAttribute("aria-hidden", "true")
    canvas.addEventListener("pointermove", (event) => point(view, canvas, event))
    canvas.addEventListener("pointerleave", () => (readout.textContent = hint(view)))
  }
  view.sums = COLUMNS.map(() => make("td", "number", foot))
  heads[2].className = "strip"
  view.over = make("span", "", heads[2])
  const legend = make("span", "legend", heads[2])
  legend.setAttribute("aria-hidden", "true")
  view.ends = [make("span", "", legend), make("span", "scale", legend), make("span", "", legend)]
  body.addEventListener("pointerover", (event) => {
    const row = view.rows.findIndex((each) => each.line === event.target.closest("tr"))
    const key = event.target.closest(".strip") ? null : view.shown?.rows[row]?.key
    pointAt(key === undefined || key === null ? null : { key })
  })
  body.addEventListener("pointerleave", () => pointAt(null))
  line.addEventListener("pointerover", (event) => {
    const key = event.target.closest("[data-key]")?.dataset.key
    pointAt(key === undefined ? null : { key: Number(key) })
  })
  line.addEventListener("pointerleave", () => pointAt(null))
  save.addEventListener("click", () => download("weighted-sum.svg", svg(view)))
  whenThemed(parent, () => view.shown && paint(view))
  return { draw: (content) => Object.assign(view, { content, query: null }), show: (at) => show(view, at) }
}

function show(view, { query, key }) {
  if (view.query !== query) {
    view.query = query
    write(view)
    writeTerms(view)
  }
  for (const marked of [...view.line.querySelectorAll(".pointed"), ...view.body.querySelectorAll(".pointed")]) marked.classList.remove("pointed")
  if (key === null) return
  view.line.querySelector(`[data-key="${key}"]`)?.classList.add("pointed")
  view.rows[view.shown.rows.findIndex((row) => row.key === key)]?.line.classList.add("pointed")
}

/* y = 0.412 · v_cat + … */
function write({ content, line, checked, query }) {
  const { tokens, keys, columns, head } = content
  const { terms, count, rest } = written(rowOf(applied(content), columns, query))
  line.replaceChildren(vector("y", tokens, query), head === null ? " = " : ` of head ${head} = `)
  for (const [index, [weight, key]] of terms.entries()) {
    if (index) line.append(" + ")
    const term = make("span", "term", line)
    term.dataset.key = key
    make("b", "", term).textContent = signed(weight, 3)
    term.append(" · ", vector("v", keys ?? tokens, key))
  }
  if (count) line.append(` + ${signed(rest, 3)} in ${count} more`)
  if (!terms.length) line.append("0")
  const { total, residual } = check(content, query)
  checked.textContent = `Σw = ${total.toFixed(6)} \u2003 ‖Σ w·v − y‖ = ${scientific(residual)}`
}

function vector(letter, tokens, at) {
  const whole = make("span", "vector")
  make("i", "", whole).textContent = letter
  const below = make("sub", "", whole)
  const [name, again] = shortName(tokens, at)
  make("bdi", "", below).textContent = name
  below.append(again)
  return whole
}

/* Rows stand where they are and get other words; the strip beside them is one cell of the first. */
function writeTerms(view) {
  const { content } = view
  const { tokens, width } = content
  const keys = content.keys ?? tokens
  const shown = (view.shown = termsOf(content, view.query))
  if (view.rows.length !== shown.rows.length) {
    view.rows = shown.rows.map(makeRow)
    view.body.replaceChildren(...view.rows.map(({ line }) => line))
    view.strip.rowSpan = shown.rows.length
    view.rows[0].weight.after(view.strip)
  }
  const greatest = Math.max(...shown.rows.map(({ weight }) => Math.abs(weight)), 1e-9)
  for (const [index, row] of view.rows.entries()) {
    const { key, weight, cells, others } = shown.rows[index]
    row.key.textContent = key === null ? `${others} others` : keys[key]
    row.position.textContent = key ?? ""
    row.bar.style.width = `${(5.5 * Math.abs(weight)) / greatest}rem`
    row.bar.classList.toggle("negative", weight < 0)
    row.number.textContent = signed(weight, 4)
    for (const [column, cell] of row.cells.entries()) cell.textContent = format(column, cells[column])
  }
  const sum = (numbers) => numbers.reduce((sum, number) => sum + number, 0)
  view.total.textContent = sum(shown.rows.map(({ weight }) => weight)).toFixed(4)
  view.sums[3].textContent = `‖y‖ ${shown.length.toFixed(3)}`
  view.sums[4].textContent = format(4, sum(shown.rows.map(({ cells }) => cells[4])))
  view.over.textContent = `w·v over ${width} dimensions`
  view.ends[0].textContent = `−${shown.most.toPrecision(2)}`
  view.ends[2].textContent = `+${shown.most.toPrecision(2)}`
  view.readout.textContent = hint(view)
  paint(view)
}

function makeRow() {
  const line = make("tr", "")
  const name = Object.assign(make("th", "key", line), { scope: "row" })
  const weight = make("td", "weight", line)
  const row = { line, weight, key: make("bdi", "", name), position: make("small", "", name), bar: make("span", "bar", weight), number: make("span", "", weight) }
  return { ...row, cells: COLUMNS.map(() => make("td", "number", line)) }
}

function hint({ shown }) {
  return `Orange adds to y, blue takes away; colours saturate at ±${shown.most.toPrecision(2)}. Point at a cell for its number.`
}

function format(column, number) {
  if (number === null) return ""
  if (COLUMNS[column] !== "share of y") return number.toFixed(COLUMNS[column].includes("v") ? 3 : 4)
  const share = (100 * number).toFixed(1)
  return `${share === "-0.0" ? "0.0" : share} %`
}

/* One pixel per number; the style sheet puts gaps between them where there is room. */
function paint(view) {
  const { width } = view.content
  const { rows, terms, most } = view.shown
  view.frame.style.setProperty("--rows", rows.length)
  view.frame.style.setProperty("--dimensions", width)
  const shades = ramp(palette(view.frame, "diverging"))
  paintNumbers(view.terms, width, terms.subarray(0, rows.length * width), [-most, most], shades)
  paintNumbers(view.sum, width, rowOf(terms, width, rows.length), [-most, most], shades)
}

function point(view, canvas, event) {
  const { width, tokens, keys } = view.content
  const { rows, terms } = view.shown
  const dimension = Math.min(width - 1, Math.max(0, Math.floor((event.offsetX / canvas.clientWidth) * width)))
  if (canvas === view.sum) {
    view.readout.textContent = `y, dimension ${dimension}: ${terms[rows.length * width + dimension].toPrecision(6)}, the sum of the column above`
    return
  }
  const row = Math.min(rows.length - 1, Math.max(0, Math.floor(event.offsetY / ROW)))
  const { key, weight, others } = rows[row]
  const term = terms[row * width + dimension]
  const name = key === null ? `${others} others` : (keys ?? tokens)[key]
  const parts = key === null || !weight ? "" : ` = ${weight.toPrecision(6)} · ${(term / weight).toPrecision(6)}`
  view.readout.textContent = `${name}, dimension ${dimension}: ${term.toPrecision(6)}${parts}`
}

function svg(view) {
  const { width: dimensions, tokens, keys } = view.content
  const { rows, terms, most } = view.shown
  const [left, bar, step] = [110, 120, Math.max(400 / dimensions, 9)]
  const shades = ramp(palette(view.frame, "diverging"))
  const escape = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  const text = (x, y, words, anchor) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${escape(words)}</text>`
  const boxes = (row, top) =>
    Array.from(rowOf(terms, dimensions, row), (term, dimension) => {
      const x = (left + bar + dimension * step).toFixed(2)
      return `<rect x="${x}" y="${top + 2}" width="${(step - 1).toFixed(2)}" height="${ROW - 4}" fill="${rgb(shadeOf(term, -most, most, shades))}"/>`
    })
  const greatest = Math.max(...rows.map(({ weight }) => Math.abs(weight)), 1e-9)
  const parts = rows.flatMap(({ key, weight, others }, row) => {
    const middle = row * ROW + ROW / 2 + 4
    const length = (70 * Math.abs(weight)) / greatest
    const block = `<rect x="${left}" y="${row * ROW + 7}" width="${length}" height="${ROW - 14}" fill="${weight < 0 ? "#d97706" : "#1f6fb2"}"/>`
    const name = key === null ? `${others} others` : (keys ?? tokens)[key]
    return [text(left - 8, middle, name, "end"), block, text(left + length + 4, middle, signed(weight, 3), "start"), ...boxes(row, row * ROW)]
  })
  const count = rows.length
  parts.push(...boxes(count, (count + 0.5) * ROW), text(left - 8, (count + 1) * ROW + 4, "Σ = y", "end"))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + bar + step * dimensions}" height="${(count + 2) * ROW}" font-family="Helvetica, Arial, sans-serif" font-size="13">${parts.join("")}</svg>`
}

function download(name, text) {
  const link = make("a", "")
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
