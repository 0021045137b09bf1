import { make, setLengths } from "./elements.js"
import { corner } from "./tiles.js"

/** @import { Layout } from "./tiles.js"
    A map of all heads of a model: how many of a layer, and something of each layer.
    @typedef {{ layers: readonly unknown[], heads: number }} Heads
    @typedef {Layout & { width: number }} MapLayout */

const GAP = 3
const LEFT = 22
const TOP = 18
const LARGEST = 46
const MOST_HEIGHT = 330
const LEAST = 20 // of a tile on a phone, where layers go down

/** The longer of layers and heads across where there is room, else layers down.
    @type {(content: Heads, width: number) => MapLayout} */
export function layoutOf({ layers, heads }, width) {
  const sideOf = (/** @type {number} */ columns) =>
    Math.min(LARGEST, Math.floor((width - LEFT) / columns) - GAP)
  const turned = layers.length >= heads && sideOf(layers.length) >= LEAST
  const [columns, rows] = turned ? [layers.length, heads] : [heads, layers.length]
  const fits = columns < rows ? LARGEST : Math.floor((MOST_HEIGHT - TOP) / rows) - GAP
  const side = Math.max(1, Math.min(sideOf(columns), fits))
  return {
    across: heads,
    side,
    width: LEFT + columns * (side + GAP), // the last gap has room for an outline
    height: TOP + rows * (side + GAP),
    left: LEFT,
    top: TOP,
    label: 0,
    gap: GAP,
    turned,
  }
}

/** Numbers of layers and heads along the map.
    @type {(names: HTMLElement, { layers, heads }: Heads, layout: MapLayout) => void} */
export function nameTiles(names, { layers, heads }, { side, gap, left, top, turned }) {
  const [across, down] = turned ? [layers.length, heads] : [heads, layers.length]
  names.replaceChildren()
  for (let at = 0; at < across; at++) {
    const name = make("span", "across", names, { textContent: String(at) })
    setLengths(name, { left: left + at * (side + gap), width: side, top: 0 })
  }
  make("span", "axis", names, { textContent: turned ? "layer" : "head" })
  for (let at = 0; at < down; at++) {
    const name = make("span", "down", names, { textContent: String(at) })
    setLengths(name, { top: top + at * (side + gap), height: side, left: 0, width: left - 4 })
  }
}

/** Layer and head with a point between, of a position among all.
    @type {(map: Pick<Heads, "heads">, head: number) => string} */
export function nameOf({ heads }, head) {
  return `${Math.floor(head / heads)}.${head % heads}`
}

/** @type {(context: CanvasRenderingContext2D, layout: Layout, head: number, colour: string)
      => void} */
export function fillTile(context, layout, head, colour) {
  const [x, y] = corner(layout, head)
  context.fillStyle = colour
  context.beginPath()
  context.roundRect(x, y, layout.side, layout.side, 2)
  context.fill()
}

/** @type {(context: CanvasRenderingContext2D, layout: Layout, head: number, wide: number,
      colour: string) => void} */
export function outlineTile(context, layout, head, wide, colour) {
  const [x, y] = corner(layout, head)
  context.strokeStyle = colour
  context.lineWidth = wide
  context.beginPath()
  context.roundRect(x - 1, y - 1, layout.side + 2, layout.side + 2, 3)
  context.stroke()
}
