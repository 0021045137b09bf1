import { palette, ramp } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { childrenOf, make, makeName, whenClicked } from "../shared/elements.js"
import { countDrawing, paintNumbers } from "../shared/painter.js"
import { choose, whenMoved, where } from "../shared/selection.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

const ROOM = 132 // pixels of all keys and values, one below the other
const MOST_ROW = 11
const GAP = 1 // column between keys and values

export default component(build, draw)

/** @param {Mount<"states">} mount */
function build({ root, content }) {
  const frame = make("div", "states", root, {
    role: "group",
    ariaLabel: "The state after each token",
  })
  const bands = ["state", "stack"].map((name) => {
    const band = make("div", `states-band ${name}`, frame)
    const title = make("p", "states-title", band)
    return { title, tiles: make("div", "states-tiles", band) }
  })
  const view = { content, frame, bands }
  for (const { tiles } of bands)
    whenClicked(tiles, "button", (tile) =>
      choose("query", view.content.positions[childrenOf(tiles).indexOf(tile)]),
    )
  whenMoved(frame, () => mark(view))
  return view
}

/** @type {(view: View) => void} */
function draw(view) {
  const { frame, content, bands } = view
  const { tokens, positions, keys, values, count, numbers } = content
  const shades = ramp(palette(frame, "diverging"))
  const size = keys * values
  const held = numbers.subarray(0, positions.length * size)
  const rest = numbers.subarray(positions.length * size)
  const [ofKeys, ofValues] = [rest.subarray(0, count * keys), rest.subarray(count * keys)]
  const [most, greatest] = [held, rest].map(sizeOf)
  const pixels = Math.max(1, Math.min(MOST_ROW, Math.floor(ROOM / count)))
  bands[0].title.textContent = `This layer keeps one state: ${size.toLocaleString("en")} numbers`
  bands[1].title.textContent = "A softmax keeps every key and value"
  for (const { tiles } of bands) tiles.replaceChildren()
  for (const [at, position] of positions.entries()) {
    const tile = makeTile(bands[0].tiles, tokens[at], size)
    const own = held.subarray(at * size, (at + 1) * size)
    paintNumbers(tile, values, own, [-most, most], shades)
    tile.style.aspectRatio = `${values} / ${keys}`
    const rows = position + 1
    const stack = makeTile(bands[1].tiles, tokens[at], rows * (keys + values))
    const both = beside(ofKeys, ofValues, rows, keys, values)
    paintNumbers(stack, keys + GAP + values, both, [-greatest, greatest], shades)
    stack.style.height = `${rows * pixels}px`
  }
  countDrawing(bands[0].tiles.querySelector("canvas") ?? make("canvas", ""))
  mark(view)
}

/** @type {(tiles: HTMLElement, token: string, count: number) => HTMLCanvasElement} */
function makeTile(tiles, token, count) {
  const words = `${count.toLocaleString("en")}`
  const tile = make("button", "", tiles, {
    type: "button",
    ariaLabel: `${token}: ${words} numbers`,
  })
  makeName("span", "states-token", tile, token)
  const canvas = make("canvas", "", tile, { ariaHidden: "true" })
  make("span", "states-count", tile, { textContent: words })
  return canvas
}

/** Rows of keys and values side by side, with a column between them that stays clear.
    @type {(keys: Float32Array, values: Float32Array, rows: number, wide: number, other: number)
      => Float32Array} */
export function beside(keys, values, rows, wide, other) {
  const across = wide + GAP + other
  const both = new Float32Array(rows * across).fill(Number.NaN)
  for (let row = 0; row < rows; row++) {
    both.set(keys.subarray(row * wide, (row + 1) * wide), row * across)
    both.set(values.subarray(row * other, (row + 1) * other), row * across + wide + GAP)
  }
  return both
}

/** @type {(numbers: Float32Array) => number} */
function sizeOf(numbers) {
  return numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0) || 1
}

/** @type {(view: View) => void} */
function mark({ content: { positions, count }, bands }) {
  const { query } = where(count)
  for (const { tiles } of bands)
    for (const [at, tile] of childrenOf(tiles).entries())
      tile.ariaPressed = String(positions[at] === query)
}
