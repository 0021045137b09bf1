import { chooseByKeys } from "../shared/choosing.js"
import { inkOn, palette, ramp } from "../shared/colours.js"
import { make, makeName, sharp, viewIn, whenThemed } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { countDrawing, paintNumbers } from "../shared/painter.js"
import { adopt, choose, pointAt, where, whenMoved } from "../shared/place.js"

const MOST_SIDE = 400
const LARGEST_CELL = 64
const LEAST_LABEL = 13
const LEAST_LINED = 8
const LEAST_WRITTEN = 34
const BARS = 124
const BETWEEN = 20
const WIDE = 680

export default function ({ data, parentElement }) {
  const view = viewIn(parentElement, build)
  const { numbers, place, ...content } = decode(data)
  view.content = null
  adopt(place)
  const { size } = content
  const [a, b] = [numbers.subarray(0, size * size), numbers.subarray(size * size, 2 * size * size)]
  view.content = content
  view.cells = [a, b, difference(a, b, content)]
  view.bits = numbers.subarray(2 * size * size)
  draw(view)
}

/* What is hidden on one side has weight 0 there; what is hidden on both, or has no other side, is no number. */
function difference(a, b, { size, both }) {
  const cells = new Float64Array(size * size)
  for (let cell = 0; cell < cells.length; cell++) {
    const paired = both[Math.floor(cell / size)] && both[cell % size]
    const [before, after] = [a[cell], b[cell]]
    cells[cell] = !paired || (Number.isNaN(before) && Number.isNaN(after)) ? NaN : (after || 0) - (before || 0)
  }
  return cells
}

function build(parent) {
  const frame = make("div", "frame", parent)
  const row = make("div", "row", frame)
  const readout = make("p", "readout", frame)
  readout.setAttribute("role", "status")
  row.tabIndex = 0
  row.setAttribute("role", "application")
  const view = { frame, row, readout, shown: [], outline: null, content: null, width: 0 }
  chooseByKeys(row, () => [where(view.content.size).held, view.content.size], (at) => choose("query", at))
  row.addEventListener("pointermove", (event) => pointAt(cellAt(view, event)))
  row.addEventListener("pointerleave", () => pointAt(null))
  row.addEventListener("click", (event) => {
    const name = event.target.closest(".down span")
    const to = name ? [...name.parentNode.children].indexOf(name) : cellAt(view, event)?.query
    if (to !== undefined) choose("query", to)
  })
  new ResizeObserver(() => view.content && view.width !== frame.clientWidth && draw(view)).observe(frame)
  whenThemed(parent, () => view.content && draw(view))
  whenMoved(frame, () => view.content && mark(view))
  return view
}

function cellAt(view, event) {
  const shown = view.shown.find(({ box }) => box === event.target.closest(".box"))
  if (!shown) return null
  const { left, top, width, height } = shown.canvas.getBoundingClientRect()
  const within = (share) => Math.min(view.content.size - 1, Math.max(0, Math.floor(share * view.content.size)))
  return { query: within((event.clientY - top) / height), key: shown.bars ? null : within((event.clientX - left) / width) }
}

/* Elements are made anew only when names or the room for them change; numbers alone are painted over. */
function draw(view) {
  const { size, names, changed, titles } = view.content
  view.width = view.frame.clientWidth
  if (!view.width) return
  const outline = JSON.stringify([names, changed, titles, view.width])
  if (outline !== view.outline) lay(view)
  view.outline = outline
  const [sequential, diverging] = ["sequential", "diverging"].map((kind) => palette(view.frame, kind))
  const most = greatest(view.cells[0], view.cells[1])
  const widest = greatest(view.cells[2])
  view.primary = getComputedStyle(view.frame).getPropertyValue("--st-primary-color")
  for (const [index, shown] of view.shown.entries()) {
    if (shown.bars) bars(view, shown)
    else paint(view, shown, view.cells[index], index < 2 ? [0, most] : [-widest, widest], index < 2 ? sequential : diverging)
  }
  view.row.setAttribute("aria-label", `${titles.join(", ")}: ${size} queries down, ${size} keys across. Arrow keys choose a query.`)
  mark(view)
}

function greatest(...lists) {
  let most = 0
  for (const list of lists) for (const number of list) if (Math.abs(number) > most) most = Math.abs(number)
  return most || 1
}

function lay(view) {
  const { size, names, changed, titles } = view.content
  const longest = names.reduce((most, name) => Math.max(most, [...name].length), 0)
  const wide = view.width > WIDE
  const fit = (room) => Math.min(MOST_SIDE, LARGEST_CELL * size, wide ? (view.width - BARS - 3 * BETWEEN - room - 16) / 3 : view.width - room - 8)
  let room = Math.min(112, longest * 7 + 14)
  const labelled = fit(room) / size >= LEAST_LABEL
  if (!labelled) room = 0
  view.side = Math.max(1, Math.floor(fit(room)))
  view.cell = view.side / size
  view.row.replaceChildren()
  view.shown = [...titles, "divergence"].map((title, index) => {
    const bars = index === titles.length
    const figure = make("figure", "", view.row)
    const caption = make("figcaption", "", figure)
    make("b", "", caption).textContent = title
    const legend = make("span", "legend", caption)
    if (labelled) label(make("div", "across", figure), bars ? [] : names, changed)
    if (labelled && (index === 0 || !wide) && !bars) {
      const down = make("div", "down", figure)
      down.style.width = `${room}px`
      label(down, names, changed)
    }
    const box = make("div", bars ? "box" : "box cells", figure)
    box.style.width = `${bars ? BARS : view.side}px`
    box.style.height = `${view.side}px`
    const shown = { bars, legend, box, canvas: make("canvas", "", box) }
    if (!bars) {
      shown.canvas.style.imageRendering = view.cell < 1 ? "auto" : "pixelated"
      const lines = make("div", "lines", box)
      lines.hidden = view.cell < LEAST_LINED
      lines.style.setProperty("--cell", `${view.cell}px`)
      shown.written = view.cell >= LEAST_WRITTEN ? make("canvas", "written", box) : null
    }
    for (const canvas of box.querySelectorAll("canvas")) canvas.setAttribute("aria-hidden", "true")
    return Object.assign(shown, { chosen: make("div", "chosen", box), pointed: make("div", "pointed", box) })
  })
}

function label(edge, names, changed) {
  for (const [index, name] of names.entries()) makeName("span", changed[index] ? "changed" : "", edge, name)
}

function paint(view, shown, cells, [low, high], colours) {
  const pixels = paintNumbers(shown.canvas, view.content.size, cells, [low, high], ramp(colours))
  if (shown.written) write(view, shown.written, cells, pixels)
  shown.legend.style.setProperty("--shades", colours.join(","))
  shown.legend.replaceChildren(tick(low), make("i", ""), tick(high))
  countDrawing(shown.canvas)
}

function tick(number) {
  return Object.assign(make("span", ""), { textContent: number === 0 ? "0" : short(number, 2) })
}

/* No zero has a sign. */
function short(number, digits) {
  const text = number.toFixed(digits)
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−")
}

/* Cells with room for it hold their numbers. */
function write(view, canvas, cells, pixels) {
  const { size } = view.content
  const context = sharp(canvas, view.side, view.side)
  const digits = view.cell >= 44 ? 3 : 2
  context.font = `${view.cell >= 44 ? 12 : 11}px ${getComputedStyle(view.frame).fontFamily}`
  context.textAlign = "center"
  context.textBaseline = "middle"
  for (let cell = 0; cell < cells.length; cell++) {
    if (Number.isNaN(cells[cell])) continue
    context.fillStyle = inkOn(pixels[cell])
    context.fillText(short(cells[cell], digits), ((cell % size) + 0.5) * view.cell, (Math.floor(cell / size) + 0.5) * view.cell)
  }
}

/* How far the rows of A and B diverge, 0 to 1 bit, beside the rows themselves. */
function bars(view, shown) {
  const context = sharp(shown.canvas, BARS, view.side)
  const thick = Math.max(1, Math.min(14, view.cell * 0.6))
  context.fillStyle = view.primary
  context.globalAlpha = 0.18
  context.fillRect(0, 0, BARS, view.side)
  context.globalAlpha = 1
  for (const [row, bits] of view.bits.entries())
    if (bits > 0) context.fillRect(0, (row + 0.5) * view.cell - thick / 2, Math.max(1, bits * BARS), thick)
  shown.legend.textContent = "0 – 1 bit"
}

/* The chosen row, and one cell, the same in all pictures, with its numbers. */
function mark(view) {
  const { held, query, key } = where(view.content.size)
  const cell = `${view.cell}px`
  for (const { chosen, pointed, bars } of view.shown) {
    Object.assign(chosen.style, { top: `${held * view.cell}px`, height: cell })
    pointed.hidden = key === null || bars
    Object.assign(pointed.style, { top: `${query * view.cell}px`, left: `${key * view.cell}px`, width: cell, height: cell })
  }
  view.readout.textContent = words(view, query, key)
}

function words({ content: { size, names, titles, both, absent }, cells, bits }, row, column) {
  const name = `“${names[row]}”`
  if (column === null) {
    const diverge = Number.isNaN(bits[row]) ? "has no divergence" : `diverges by ${number(bits[row])} bits`
    return `${name} ${diverge}. Point at a cell for its numbers; click to choose its row.`
  }
  const told = cells.map((list, index) => {
    const value = list[row * size + column]
    if (!Number.isNaN(value)) return `${titles[index]} ${index === 2 && value > 0 ? "+" : ""}${number(value)}`
    const missing = absent[index]?.[row] || absent[index]?.[column] || (index === 2 && !(both[row] && both[column]))
    return `${titles[index]} ${missing ? "—" : "masked"}`
  })
  return `${name} to “${names[column]}”: ${told.join(" · ")}`
}

function number(value) {
  const size = Math.abs(value)
  return (value === 0 || size >= 1e-3 ? value.toFixed(4) : value.toExponential(3)).replace(/-/g, "−")
}
