import { chooseByKeys } from "../shared/choosing.js"
import { palette, ramp } from "../shared/colours.js"
import { make, makeName, settle, sharp, viewIn, whenThemed } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { countDrawing, paintNumbers } from "../shared/painter.js"

const MOST_SIDE = 440
const LARGEST_CELL = 56
const LEAST_LABEL = 13
const LEAST_LINED = 8
const BARS = 120
const MOST_LINES = 16

export default function ({ data, parentElement, setTriggerValue }) {
  const view = viewIn(parentElement, build)
  const { numbers, rest, ...content } = decode(data)
  const cells = content.size * content.size
  view.content = content
  view.base = numbers.subarray(0, cells)
  view.bias = content.biased ? numbers.subarray(cells, 2 * cells) : null
  view.dots = rest
  view.weights = new Float64Array(cells)
  view.turn = Math.max(view.turn, content.turn)
  view.release = () => setTriggerValue("at", [++view.turn, view.value])
  view.choose = (row) => setTriggerValue("query", row)
  view.query = content.query
  if (!view.moving && view.turn === content.turn) view.value = content.at
  draw(view)
}

function build(parent) {
  const frame = make("div", "frame", parent)
  const top = make("div", "slider", frame)
  const label = make("label", "", top)
  const title = make("b", "", label)
  const slider = make("input", "", label)
  slider.type = "range"
  slider.min = 0
  slider.step = 1
  const output = make("output", "", top)
  const row = make("div", "row", frame)
  const plot = make("div", "plot", row)
  plot.tabIndex = 0
  plot.setAttribute("role", "application")
  const list = make("div", "list", row)
  const multiples = make("div", "multiples", frame)
  multiples.setAttribute("role", "group")
  const view = { frame, title, slider, output, plot, list, multiples, outline: null, content: null, width: 0, moving: false, turn: 0 }
  slider.addEventListener("input", () => {
    view.moving = true
    move(view, view.content.values[slider.value])
  })
  slider.addEventListener("change", () => {
    view.moving = false
    view.release()
  })
  chooseByKeys(plot, () => [view.query, view.content.size], (row) => pick(view, row))
  plot.addEventListener("click", (event) => {
    const { top, height } = view.canvas.getBoundingClientRect()
    const row = Math.floor(((event.clientY - top) / height) * view.content.size)
    if (row >= 0 && row < view.content.size) pick(view, row)
  })
  new ResizeObserver(() => view.content && view.width !== frame.clientWidth && draw(view)).observe(frame)
  whenThemed(parent, () => view.content && draw(view))
  return view
}

/* The weights and the entropy of each row at one value, in 64-bit floats as Python has them. */
function work(view) {
  const { base, bias, weights, value, content: { size, kind } } = view
  view.entropy = new Float64Array(size)
  for (let row = 0; row < size; row++) {
    const start = row * size
    let greatest = -Infinity
    for (let key = 0; key < size; key++) {
      let scaled = base[start + key]
      if (kind === "scale") scaled = scaled * value + (bias ? bias[start + key] : 0)
      else if (kind === "temperature") scaled /= value
      else if (Math.abs(row - key) > value) scaled = NaN
      weights[start + key] = scaled
      if (scaled > greatest) greatest = scaled
    }
    let sum = 0
    for (let cell = start; cell < start + size; cell++) {
      if (Number.isNaN(weights[cell])) continue
      weights[cell] = Math.exp(weights[cell] - greatest)
      sum += weights[cell]
    }
    let bits = 0
    for (let cell = start; cell < start + size; cell++) {
      if (Number.isNaN(weights[cell])) continue
      weights[cell] /= sum
      if (weights[cell] > 0) bits -= weights[cell] * Math.log2(weights[cell])
    }
    view.entropy[row] = sum ? Math.max(0, bits) : NaN
  }
}

function draw(view) {
  const { size, names, kind, values, shown } = view.content
  view.width = view.frame.clientWidth
  if (!view.width) return
  const outline = JSON.stringify([names, view.width])
  if (outline !== view.outline) lay(view)
  view.outline = outline
  view.title.textContent = kind
  view.slider.max = values.length - 1
  view.slider.disabled = values.length < 2
  view.multiples.setAttribute("aria-label", `The weights at ${shown.length} values; press one to go there`)
  view.plot.setAttribute("aria-label", `Weights, ${size} queries down, ${size} keys across. Arrow keys choose a query.`)
  const style = getComputedStyle(view.frame)
  view.shades = ramp(palette(view.frame, "sequential"))
  view.primary = style.getPropertyValue("--st-primary-color")
  view.text = style.color
  small(view)
  move(view, view.value)
}

function lay(view) {
  const { size, names } = view.content
  const longest = names.reduce((most, name) => Math.max(most, [...name].length), 0)
  const room = Math.min(112, longest * 7 + 10)
  const cell = Math.min(LARGEST_CELL, Math.min(MOST_SIDE, view.width - room - BARS - 12) / size)
  view.side = Math.max(1, Math.floor(cell * size))
  view.cell = view.side / size
  view.plot.replaceChildren()
  const labelled = view.cell >= LEAST_LABEL
  if (labelled) {
    const across = make("div", "across", view.plot)
    for (const name of names) makeName("span", "", across, name)
  }
  make("div", "title", view.plot).textContent = "entropy, bits"
  const down = make("div", "down", view.plot)
  if (labelled) for (const name of names) makeName("span", "", down, name)
  down.style.width = labelled ? `${room}px` : "0"
  const box = make("div", "box", view.plot)
  box.style.width = box.style.height = `${view.side}px`
  view.canvas = make("canvas", "", box)
  view.canvas.style.imageRendering = view.cell < 1 ? "auto" : "pixelated"
  const lines = make("div", "lines", box)
  lines.hidden = view.cell < LEAST_LINED
  lines.style.setProperty("--cell", `${view.cell}px`)
  view.chosen = make("div", "chosen", box)
  const bits = make("div", "bits", view.plot)
  bits.style.width = `${BARS}px`
  bits.style.height = `${view.side}px`
  view.bits = make("canvas", "", bits)
}

/* The weights at a few values, as Python worked them out. */
function small(view) {
  const { shown, kind, dots } = view.content
  if (view.multiples.children.length !== shown.length)
    view.multiples.replaceChildren(
      ...shown.map((_, index) => {
        const button = make("button", "")
        button.type = "button"
        make("span", "", button)
        make("canvas", "", button)
        button.addEventListener("click", () => {
          move(view, view.content.shown[index])
          view.release()
        })
        return button
      }),
    )
  for (const [index, button] of [...view.multiples.children].entries()) {
    const [text, canvas] = button.children
    text.textContent = said(kind, shown[index])
    canvas.width = canvas.height = dots
    const picture = new ImageData(dots, dots)
    const pixels = new Uint32Array(picture.data.buffer)
    for (let dot = 0; dot < pixels.length; dot++) pixels[dot] = view.shades[view.dots[index * pixels.length + dot] * 2]
    canvas.getContext("2d").putImageData(picture, 0, 0)
  }
}

function said(kind, value) {
  const plain = String(Number(value.toFixed(3)))
  return { scale: `scores × ${plain}`, temperature: `scaled ÷ ${plain}`, window: `± ${plain} tokens` }[kind]
}

/* Works out and shows one value; many moves between two frames are one. */
function move(view, value) {
  view.value = value
  cancelAnimationFrame(view.frameAsked)
  view.frameAsked = requestAnimationFrame(() => {
    const { values, kind, shown } = view.content
    let nearest = 0
    for (const [index, stop] of values.entries()) if (Math.abs(stop - value) < Math.abs(values[nearest] - value)) nearest = index
    if (!view.moving) view.slider.value = nearest
    view.output.textContent = said(kind, value)
    view.slider.setAttribute("aria-valuetext", said(kind, value))
    for (const [index, button] of [...view.multiples.children].entries()) button.setAttribute("aria-pressed", shown[index] === value)
    work(view)
    paint(view)
    bars(view)
    list(view)
  })
}

function paint(view) {
  const { weights, cell, shades, content: { size } } = view
  paintNumbers(view.canvas, size, weights, [0, 1], shades)
  countDrawing(view.canvas)
  Object.assign(view.chosen.style, { top: `${view.query * cell}px`, height: `${cell}px` })
}

/* The entropy of each row; a full bar is that of a row spread evenly over all keys. */
function bars(view) {
  const { entropy, cell, side, primary, text, content: { size } } = view
  const told = cell >= LEAST_LABEL
  const room = told ? BARS - 46 : BARS
  const context = sharp(view.bits, BARS, side)
  const thick = Math.max(1, Math.min(14, cell * 0.6))
  context.font = `11.5px ${getComputedStyle(view.frame).fontFamily}`
  context.textBaseline = "middle"
  for (const [row, bits] of entropy.entries()) {
    const middle = (row + 0.5) * cell
    const long = size > 1 ? (room * bits) / Math.log2(size) : 0
    context.fillStyle = primary
    if (bits > 0) context.fillRect(0, middle - thick / 2, long, thick)
    context.fillStyle = text
    if (told) context.fillText(Number.isNaN(bits) ? "—" : bits.toFixed(3), (long || 0) + 5, middle)
  }
}

/* The chosen row in numbers; of many keys the strongest. */
function list(view) {
  const { weights, entropy, query, content: { size, names } } = view
  const row = weights.subarray(query * size, (query + 1) * size)
  const seen = [...row.keys()].filter((key) => !Number.isNaN(row[key]))
  const kept = size > MOST_LINES ? seen.sort((a, b) => row[b] - row[a]).slice(0, MOST_LINES) : [...row.keys()]
  const lines = kept.map((key) => [names[key], row[key]])
  if (seen.length > kept.length) lines.push([`${seen.length - kept.length} others`, seen.slice(kept.length).reduce((sum, key) => sum + row[key], 0)])
  const words = Number.isNaN(entropy[query]) ? "may attend to nothing: all its weights are 0." : `has an entropy of ${entropy[query].toFixed(5)} bits.`
  if (view.list.children.length !== lines.length + 1) {
    view.list.replaceChildren(make("p", ""))
    for (const _ of lines) {
      const line = make("div", "line", view.list)
      for (const tag of ["bdi", "i", "small"]) make(tag, "", line)
    }
  }
  const [head, ...shown] = view.list.children
  head.textContent = `The row of “${names[query]}” ${words}`
  for (const [index, line] of shown.entries()) {
    const [name, weight] = lines[index]
    const masked = Number.isNaN(weight)
    const [text, bar, number] = line.children
    text.textContent = text.title = name
    bar.style.width = `${masked ? 0 : 100 * weight}%`
    number.textContent = masked ? "masked" : weight.toFixed(5)
  }
}

function pick(view, row) {
  view.query = row
  move(view, view.value)
  settle(view, 40, () => view.choose(row))
}
