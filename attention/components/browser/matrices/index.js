import { inkOn, palette, ramp, rgb, shadeOf } from "../shared/colours.js"
import { make, makeName, settle, viewIn, whenThemed } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { countDrawing, paintNumbers } from "../shared/painter.js"

const MOST_COLUMNS = 8
const MOST_ROWS = 16
const MOST_NAMES = 24

export default function ({ data, parentElement, setTriggerValue }) {
  const view = viewIn(parentElement, build)
  view.content = decode(data)
  view.choose = (cell) => setTriggerValue("cell", cell)
  draw(view)
}

function build(parent) {
  const frame = make("div", "frame", parent)
  const row = make("div", "row", frame)
  const readout = make("p", "readout", frame)
  readout.setAttribute("role", "status")
  const view = { frame, row, readout, shown: [], outline: null, content: null }
  whenThemed(parent, () => view.content && draw(view))
  return view
}

/* Elements are made anew only when names or sizes change; numbers alone are written into what stands. */
function draw(view) {
  const { parts, joins, numbers, pickable } = view.content
  const outline = JSON.stringify([parts.map(({ name, rows, columns, rowNames, columnNames }) => [name, rows, columns, rowNames, columnNames]), joins, pickable, view.content.written])
  if (outline !== view.outline) lay(view)
  view.outline = outline
  let start = 0
  for (const [index, part] of parts.entries()) {
    const cells = numbers.subarray(start, (start += part.rows * part.columns))
    Object.assign(view.shown[index], { part, cells })
    colour(view.shown[index], theme(view, part.kind))
  }
  light(view, view.content.chosen)
  countDrawing(view.frame)
}

function lay(view) {
  const { parts, joins, written: most } = view.content
  view.row.replaceChildren()
  view.shown = parts.map((part, index) => {
    const group = make("div", "group", view.row)
    if (index) make("span", "join", group).textContent = joins[index - 1]
    const figure = make("figure", "", group)
    const caption = make("figcaption", "", figure)
    make("b", "", caption).textContent = part.name
    make("span", "", caption).textContent = `${part.rows} × ${part.columns}`
    const shown = { part, figure, cells: null, grid: null, canvas: null }
    if (part.columns <= (most ?? MOST_COLUMNS) && part.rows <= MOST_ROWS) written(shown)
    else painted(shown)
    listen(view, shown, index === parts.length - 1 && view.content.pickable)
    return shown
  })
}

/* Few cells: a table with its numbers. */
function written(shown) {
  const { part, figure } = shown
  const table = make("table", "", figure)
  if (part.columnNames.length) {
    const head = make("tr", "", make("thead", "", table))
    if (part.rowNames.length) make("td", "", head)
    for (const name of part.columnNames) makeName("th", "", head, name).scope = "col"
  }
  const body = make("tbody", "", table)
  shown.grid = Array.from({ length: part.rows }, (_, row) => {
    const line = make("tr", "", body)
    if (part.rowNames.length) makeName("th", "", line, part.rowNames[row]).scope = "row"
    return Array.from({ length: part.columns }, (_, column) => {
      const cell = make("td", "cell", line)
      cell.place = [row, column]
      return cell
    })
  })
  shown.target = table
}

/* Many cells: a picture, one pixel per cell. */
function painted(shown) {
  const { part, figure } = shown
  const [width, height] = [side(part.columns, 5, 340), side(part.rows, 4, 340)]
  const plot = make("div", "plot", figure)
  const names = (list, count, kind) => {
    if (!list.length || count > MOST_NAMES) return
    const edge = make("div", kind, plot)
    for (const name of list) makeName("span", "", edge, name)
  }
  names(part.columnNames, part.columns, "across")
  names(part.rowNames, part.rows, "down")
  const box = make("div", "box", plot)
  shown.canvas = make("canvas", "", box)
  box.style.width = `${width}px`
  box.style.height = `${height}px`
  shown.band = make("div", "band", box)
  shown.target = box
}

function side(count, small, most) {
  return count <= MOST_NAMES ? count * 24 : Math.min(most, Math.max(MOST_NAMES * 10, count * small))
}

function place(shown, event) {
  if (shown.grid) return event.target.closest(".cell")?.place ?? null
  const { left, top, width, height } = shown.canvas.getBoundingClientRect()
  const within = (share, count) => Math.min(count - 1, Math.max(0, Math.floor(share * count)))
  return [within((event.clientY - top) / height, shown.part.rows), within((event.clientX - left) / width, shown.part.columns)]
}

function listen(view, shown, pickable) {
  const { target } = shown
  const result = () => view.shown[view.shown.length - 1] === shown
  target.addEventListener("pointermove", (event) => {
    const cell = place(shown, event)
    if (!cell) return
    if (result()) light(view, cell)
    view.readout.textContent = words(view, shown, cell)
  })
  target.addEventListener("pointerleave", () => light(view, view.content.chosen))
  if (!pickable) return target.setAttribute("role", shown.grid ? "table" : "img")
  target.tabIndex = 0
  target.classList.add("pickable")
  target.setAttribute("role", shown.grid ? "grid" : "application")
  target.addEventListener("click", (event) => pick(view, place(shown, event)))
  target.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [-1e9, -1e9], End: [1e9, 1e9], Enter: [0, 0], " ": [0, 0] }[event.key]
    if (!step) return
    event.preventDefault()
    const [row, column] = view.at ?? view.content.chosen ?? [0, 0]
    const cell = [Math.min(shown.part.rows - 1, Math.max(0, row + step[0])), Math.min(shown.part.columns - 1, Math.max(0, column + step[1]))]
    if (!view.content.hidden) return pick(view, cell)
    view.at = cell
    light(view, cell)
    if (step[0] === 0 && step[1] === 0) pick(view, cell)
  })
}

function pick(view, cell) {
  if (!cell) return
  view.at = null
  view.content.chosen = cell
  light(view, cell)
  settle(view, 40, () => view.choose(cell))
}

/* Lights, in every matrix, what the pointed-at cell of the result is made from. */
function light(view, cell) {
  for (const shown of view.shown) {
    const [row, column] = cell ? lit(shown.part.lights, cell) : [null, null]
    const none = row === null && column === null
    if (shown.grid) {
      for (const [r, line] of shown.grid.entries())
        for (const [c, element] of line.entries())
          element.classList.toggle("lit", !none && (row ?? r) === r && (column ?? c) === c)
      continue
    }
    shown.band.hidden = none
    const span = (at, count) => (at === null ? [0, 100] : [(100 * at) / count, 100 / count])
    const [top, height] = span(row, shown.part.rows)
    const [left, width] = span(column, shown.part.columns)
    Object.assign(shown.band.style, { top: `${top}%`, height: `${height}%`, left: `${left}%`, width: `${width}%` })
  }
  const last = view.shown[view.shown.length - 1]
  view.readout.textContent = cell ? words(view, last, cell) : ""
}

function lit(lights, [row, column]) {
  const places = { cell: [row, column], row: [row, null], column: [null, column], "row of the column": [column, null], "column of the row": [null, row] }
  return places[lights] ?? [null, null]
}

function words(view, { part, cells }, [row, column]) {
  if (row >= part.rows || column >= part.columns) return ""
  const name = (names, index) => (names[index] === undefined ? index : `${names[index]}`)
  const hidden = view.content.hidden && part === view.content.parts.at(-1)
  const number = hidden ? "?" : format(cells[row * part.columns + column], part)
  return `${part.name} [${name(part.rowNames, row)}, ${name(part.columnNames, column)}] = ${number}`
}

function format(number, { masked }) {
  if (Number.isNaN(number)) return masked ? "masked" : "not a number"
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞"
  const size = Math.abs(number)
  return (number === 0 || (size >= 1e-3 && size < 1e5) ? number.toFixed(4) : number.toExponential(3).replace("+", "")).replaceAll("-", "−")
}

function theme({ frame }, kind) {
  return ramp(palette(frame, kind === "share" ? "sequential" : "diverging"))
}

function colour({ part, cells, grid, canvas, target, figure }, shades) {
  const ends = [part.kind === "share" ? 0 : -part.most, part.most]
  figure.classList.toggle("hidden", part.hidden)
  target.setAttribute("aria-label", `${part.name}, ${part.rows} rows, ${part.columns} columns`)
  if (grid) {
    for (const [row, line] of grid.entries())
      for (const [column, element] of line.entries()) {
        const number = cells[row * part.columns + column]
        element.textContent = part.hidden ? "?" : Number.isNaN(number) && part.masked ? "" : format(number, part)
        element.classList.toggle("masked", !part.hidden && Number.isNaN(number))
        const blank = part.hidden || Number.isNaN(number)
        const pixel = blank ? null : shadeOf(number, ...ends, shades)
        element.style.background = blank ? "" : rgb(pixel)
        element.style.color = blank ? "" : inkOn(pixel)
      }
    return
  }
  paintNumbers(canvas, part.columns, part.hidden ? cells.map(() => NaN) : cells, ends, shades)
}
