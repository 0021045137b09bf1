import { cellAt, listenToCells } from "../shared/choosing.js"
import { palette, ramp } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { childrenOf, make, setLengths } from "../shared/elements.js"
import { frameCells, LEAST_NAMED, makeMatrix, paintBars, paintMatrix } from "../shared/matrix.js"
import { countDrawing, paintNumbers } from "../shared/painter.js"
import { whenMoved, where } from "../shared/selection.js"
import { fixed, roomFor } from "../shared/words.js"

/** @import { SweepHeader } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @import { Content } from "../shared/message.js"
    @import { Matrix } from "../shared/matrix.js"
    @typedef {ReturnType<typeof build>} View */

const MOST_SIDE = 440
const LARGEST_CELL = 56
const BARS = 120
const MOST_LINES = 16

export default component(build, take, draw)

/** @type {(view: View) => void} */
function take(view) {
  const { at } = view.content
  if (!view.moving) view.value = at
  draw(view)
}

/** @param {Mount<"sweep">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const top = make("div", "slider", frame)
  const label = make("label", "", top)
  const title = make("b", "", label)
  const slider = make("input", "", label, { type: "range", min: "0", step: "1" })
  const output = make("output", "", top)
  const row = make("div", "row", frame)
  const plot = make("div", "plot", row, { tabIndex: 0, role: "application" })
  const list = make("div", "list", row)
  const multiples = make("div", "multiples", frame, { role: "group" })
  const matrix = /** @type {Matrix | null} */ (null)
  const bits = make("canvas", "")
  const view = {
    ...{ content, frame, title, slider, output, plot, list, multiples, matrix, bits },
    ...{ outline: "", width: 0, side: 0 },
    ...{ moving: false, value: content.at, asked: 0 },
    weights: /** @type {Float64Array} */ (new Float64Array()),
    entropy: /** @type {Float64Array} */ (new Float64Array()),
    release: () => send("at", view.value),
  }
  slider.addEventListener("input", () => {
    view.moving = true
    move(view, view.content.values[Number(slider.value)])
  })
  slider.addEventListener("change", () => {
    view.moving = false
    view.release()
  })
  listenToCells(
    plot,
    () => view.content.size,
    (event) => {
      const { size } = view.content
      const box = view.matrix?.canvas.getBoundingClientRect() ?? new DOMRect()
      const inside = event.clientY >= box.top && event.clientY < box.bottom
      return inside ? { query: cellAt(event, box, size, size)[0] } : null
    },
  )
  whenMoved(frame, () => view.entropy.length && mark(view))
  return view
}

/** The weights and the entropy of each row at one value, in 64-bit floats as Python has them.
    @typedef {Pick<Content<"sweep">, "kind" | "size" | "biased" | "numbers">} Scores
    @type {(scores: Scores, value: number) => Record<"weights" | "entropy", Float64Array>} */
export function work({ kind, size, biased, numbers }, value) {
  const [weights, entropy] = [new Float64Array(size * size), new Float64Array(size)]
  for (let row = 0; row < size; row++) {
    const [start, end] = [row * size, (row + 1) * size]
    let greatest = -Infinity
    for (let cell = start; cell < end; cell++) {
      let scaled = numbers[cell]
      if (kind === "scale") scaled = scaled * value + (biased ? numbers[size * size + cell] : 0)
      else if (kind === "temperature") scaled /= value
      else if (Math.abs(start + row - cell) > value) scaled = Number.NaN
      weights[cell] = scaled
      if (scaled > greatest) greatest = scaled
    }
    if (greatest === -Infinity) greatest = 0 // scores of −∞ throughout: weights of 0
    let sum = 0
    for (let cell = start; cell < end; cell++) {
      weights[cell] = Math.exp(weights[cell] - greatest)
      sum += weights[cell] || 0
    }
    let bits = 0
    for (let cell = start; cell < end; cell++) {
      weights[cell] /= sum || 1
      if (weights[cell] > 0) bits -= weights[cell] * Math.log2(weights[cell])
    }
    entropy[row] = sum ? Math.max(0, bits) : Number.NaN
  }
  return { weights, entropy }
}

/** @type {(view: View) => void} */
function draw(view) {
  const { size, names, kind, values, shown } = view.content
  view.width = view.frame.clientWidth
  if (!view.width) return
  const outline = JSON.stringify([names, view.width])
  if (outline !== view.outline) lay(view)
  view.outline = outline
  view.title.textContent = kind
  view.slider.max = String(values.length - 1)
  view.slider.disabled = values.length < 2
  view.multiples.ariaLabel = `The weights at ${shown.length} values; press one to go there`
  const sizes = `${size} queries down, ${size} keys across`
  view.plot.ariaLabel = `Weights, ${sizes}. Arrow keys choose a query.`
  drawSmall(view)
  move(view, view.value)
}

/** @type {(view: View) => void} */
function lay(view) {
  const { size, names } = view.content
  const room = roomFor(names)
  const side = Math.min(MOST_SIDE, view.width - room - BARS - 12)
  view.side = Math.max(1, Math.floor(Math.min(LARGEST_CELL * size, side)))
  const labelled = view.side / size >= LEAST_NAMED
  view.plot.replaceChildren()
  make("div", "title", view.plot, { textContent: "entropy, bits" })
  view.matrix = makeMatrix(view.plot, {
    ...{ rows: size, columns: size, width: view.side, height: view.side, frames: ["chosen"] },
    ...(labelled ? { across: names, down: names, room } : { down: [], room: 0 }),
  })
  const bits = make("div", "bits", view.plot)
  setLengths(bits, { width: BARS, height: view.side })
  view.bits = make("canvas", "", bits)
}

/** The greatest of each block of cells, so that no strong one is lost.
    @type {(weights: Float64Array, size: number, block: number) => Float64Array} */
export function pooled(weights, size, block) {
  const dots = Math.ceil(size / block)
  const most = new Float64Array(dots * dots)
  for (let cell = 0; cell < weights.length; cell++) {
    const [row, column] = [Math.floor(cell / size), cell % size]
    const dot = Math.floor(row / block) * dots + Math.floor(column / block)
    if (weights[cell] > most[dot]) most[dot] = weights[cell]
  }
  return most
}

/** The weights at a few values.
    @type {(view: View) => void} */
function drawSmall(view) {
  const { shown, kind, size, block } = view.content
  const shades = ramp(palette(view.frame, "sequential"))
  if (view.multiples.children.length !== shown.length)
    view.multiples.replaceChildren(...shown.map((_, index) => makeSmall(view, index)))
  for (const [index, button] of childrenOf(view.multiples).entries()) {
    const [text, canvas] = childrenOf(button)
    text.textContent = said(kind, shown[index])
    const most = pooled(work(view.content, shown[index]).weights, size, block)
    const dots = Math.ceil(size / block)
    paintNumbers(/** @type {HTMLCanvasElement} */ (canvas), dots, most, [0, 1], shades)
  }
}

/** @type {(view: View, index: number) => HTMLElement} */
function makeSmall(view, index) {
  const button = make("button", "", null, { type: "button" })
  make("span", "", button)
  make("canvas", "", button)
  button.addEventListener("click", () => {
    move(view, view.content.shown[index])
    view.release()
  })
  return button
}

/** @type {(kind: string, value: number) => string} */
export function said(kind, value) {
  const plain = String(Number(value.toFixed(3)))
  if (kind === "scale") return `scores × ${plain}`
  return kind === "temperature" ? `÷ ${plain}` : `± ${plain} tokens`
}

/** The position of the number nearest to a value; of two the first one.
    @type {(numbers: number[], value: number) => number} */
export function nearest(numbers, value) {
  const apart = numbers.map((number) => Math.abs(number - value))
  return apart.indexOf(Math.min(...apart))
}

/** Works out and shows one value; many moves between two frames are one.
    @type {(view: View, value: number) => void} */
function move(view, value) {
  view.value = value
  cancelAnimationFrame(view.asked)
  view.asked = requestAnimationFrame(() => {
    const { values, kind, shown } = view.content
    if (!view.moving) view.slider.value = String(nearest(values, value))
    view.output.textContent = said(kind, value)
    view.slider.setAttribute("aria-valuetext", said(kind, value))
    for (const [index, button] of childrenOf(view.multiples).entries())
      button.ariaPressed = String(shown[index] === value)
    const { weights, entropy } = work(view.content, value)
    view.weights = weights
    view.entropy = entropy
    paint(view)
    mark(view)
  })
}

/** The weights, and the entropy of each row; a full bar is that of a row spread evenly over all keys.
    @type {(view: View) => void} */
function paint({ frame, matrix, weights, bits, entropy, side, content: { size, digits } }) {
  if (!matrix) return
  paintMatrix(matrix, weights, [0, 1], ramp(palette(frame, "sequential")))
  const scale = { most: Math.log2(size), digits: Math.min(3, digits) }
  paintBars(bits, entropy, { width: BARS, height: side, ...scale })
  countDrawing(matrix.canvas)
}

/** A row as names and weights; of many keys the strongest, and what the others come to.
    @type {(names: string[], row: Float64Array) => [string, number][]} */
export function strongest(names, row) {
  const keys = [...row.keys()]
  const seen = keys.filter((key) => !Number.isNaN(row[key]))
  if (keys.length > MOST_LINES) seen.sort((a, b) => row[b] - row[a])
  const kept = keys.length > MOST_LINES ? seen.slice(0, MOST_LINES) : keys
  /** @type {[string, number][]} */
  const lines = kept.map((key) => [names[key], row[key]])
  const others = seen.slice(kept.length)
  if (others.length)
    lines.push([`${others.length} others`, others.reduce((sum, key) => sum + row[key], 0)])
  return lines
}

/** The chosen row framed, and in numbers, or those of the one that is pointed at.
    @type {(view: View) => void} */
function mark({ list, matrix, weights, entropy, content: { size, names, digits } }) {
  const { held, query } = where(size)
  if (matrix) frameCells(matrix, matrix.frames.chosen, held, null)
  const lines = strongest(names, weights.subarray(query * size, (query + 1) * size))
  const bits = entropy[query]
  const words = Number.isNaN(bits)
    ? "may look at nothing: all its weights are 0."
    : `has an entropy of ${fixed(bits, digits)} bits.`
  if (list.children.length !== lines.length + 1) {
    list.replaceChildren(make("p", ""))
    for (const _ of lines) {
      const line = make("div", "line", list)
      line.append(make("bdi", ""), make("i", ""), make("small", ""))
    }
  }
  const [head, ...shown] = childrenOf(list)
  head.textContent = `The row of “${names[query]}” ${words}`
  for (const [index, line] of shown.entries()) {
    const [name, weight] = lines[index]
    const [text, bar, number] = childrenOf(line)
    Object.assign(text, { textContent: name, title: name })
    bar.style.width = `${100 * (weight || 0)}%`
    number.textContent = Number.isNaN(weight) ? "masked" : fixed(weight, digits)
  }
}
