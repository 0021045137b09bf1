import { childrenOf, make, setLengths, under } from "./elements.js"
import { sharp } from "./painter.js"

/** A map of all heads: a canvas, the numbers of layers and heads along it, and above it a tile for
    each head, one of which is chosen by click or arrow keys.
    @typedef {{ box: HTMLElement, canvas: HTMLCanvasElement, names: HTMLElement, tiles: HTMLElement,
      layout: Layout }} HeadMap

    How many heads there are of a layer, and something of each layer.
    @typedef {{ layers: readonly unknown[], heads: number }} Heads

    Where tiles stand: so many across, or where they are turned so many down, `side` wide, `label`
    higher than wide.
    @typedef {{ across: number, side: number, width: number, height: number, left: number,
      top: number, label: number, gap: number, turned: boolean }} Layout

    Room that a map takes: left and top for names, gap between tiles, the largest tile, the least of
    one in a map whose layers go across, the most height; towers: layers go across only where they
    would be higher than that.
    @typedef {{ left: number, top: number, gap: number, largest: number, least: number,
      most: number, towers: boolean }} Look

    What is done as a head is pointed at (-1: none is any more), and as it is chosen.
    @typedef {{ point: (head: number) => void, choose: (head: number) => void }} Tasks */

const MAP = { left: 22, top: 18, gap: 3, largest: 46, least: 20, most: 330, towers: false }
const DIGIT = 7 // pixels
const APART = 5 // pixels between two numbers

/** @type {(parent: HTMLElement, ariaLabel: string, tasks: Tasks) => HeadMap} */
export function makeMap(parent, ariaLabel, { point, choose }) {
  const box = make("div", "map", parent)
  const canvas = make("canvas", "", box, { ariaHidden: "true" })
  const names = make("div", "names", box, { ariaHidden: "true" })
  const tiles = make("div", "tiles", box, { role: "radiogroup", ariaLabel })
  const map = { box, canvas, names, tiles, layout: layoutOf({ layers: [], heads: 1 }, 0) }
  /** @type {(event: Event) => number} */
  const at = (event) => {
    const tile = under(event, "button")
    return tile ? childrenOf(tiles).indexOf(tile) : -1
  }
  tiles.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse" && at(event) >= 0) point(at(event))
  })
  tiles.addEventListener("pointerleave", () => point(-1))
  tiles.addEventListener("click", (event) => at(event) >= 0 && choose(at(event)))
  tiles.addEventListener("keydown", (event) => {
    const all = childrenOf(tiles)
    const chosen = all.findIndex((tile) => tile.ariaChecked === "true")
    const next = headAfter(event.key, chosen, all.length, map.layout)
    if (next === undefined) return
    event.preventDefault()
    if (!all[next] || all[next].hidden) return
    all[next].focus()
    choose(next)
  })
  return map
}

/** The longer of layers and heads across where there is room, else layers down.
    @type {(content: Heads, width: number, look?: Look) => Layout} */
export function layoutOf({ layers, heads }, width, look = MAP) {
  const { left, top, gap, largest, least, most, towers } = look
  const sideOf = (/** @type {number} */ columns) =>
    Math.min(largest, Math.floor((width - left) / columns) - gap)
  const fit = towers && layers.length * (sideOf(heads) + gap) <= most
  const turned = layers.length >= heads && sideOf(layers.length) >= least && !fit
  const [columns, rows] = turned ? [layers.length, heads] : [heads, layers.length]
  const high = columns < rows ? largest : Math.floor((most - top) / rows) - gap
  const side = Math.max(1, Math.min(sideOf(columns), high))
  // the last gap has room for an outline
  const [wide, height] = [left + columns * (side + gap), top + rows * (side + gap)]
  return { across: heads, side, width: wide, height, left, top, label: 0, gap, turned }
}

/** Lays out so many tiles, each made anew only where their number changes, and marks the chosen one.
    fill: writes into a new tile.
    @type {(map: HeadMap, layout: Layout, count: number, chosen: number,
      fill?: (tile: HTMLElement, head: number) => void) => HTMLElement[]} */
export function layMap(map, layout, count, chosen, fill) {
  const { box, canvas, tiles } = map
  const { width, height, side, label } = layout
  map.layout = layout
  for (const element of [box, canvas]) setLengths(element, { width, height })
  if (tiles.children.length !== count)
    tiles.replaceChildren(
      ...Array.from({ length: count }, (_, head) => {
        const tile = make("button", "", null, { type: "button", role: "radio" })
        fill?.(tile, head)
        return tile
      }),
    )
  for (const [head, tile] of childrenOf(tiles).entries()) {
    const [left, top] = corner(layout, head)
    setLengths(tile, { left, top, width: side, height: side + label })
  }
  markTile(map, chosen)
  return childrenOf(tiles)
}

/** Numbers of layers and heads along the map, of those across as many as have room; down: what is
    written at a row.
    @type {(map: HeadMap, heads: Heads, down?: (row: number) => string) => void} */
export function nameTiles({ names, layout }, { layers, heads }, down = String) {
  const { side, gap, left, top, turned } = layout
  const [columns, rows] = turned ? [layers.length, heads] : [heads, layers.length]
  names.replaceChildren()
  const every = numbersApart(columns, side + gap)
  for (let at = 0; at < columns; at += every) {
    const name = make("span", "", names, { textContent: String(at) })
    setLengths(name, { left: left + at * (side + gap), width: side, top: 0 })
  }
  make("span", "axis", names, { textContent: turned ? "layer" : "head" })
  for (let at = 0; at < rows; at++) {
    const name = make("span", "name-down", names, { textContent: down(at) })
    setLengths(name, { top: top + at * (side + gap), height: side, left: 0, width: left - 4 })
  }
}

/** Which columns have their number written, every one or every so many, so that none touch.
    @type {(across: number, column: number) => number} */
export function numbersApart(across, column) {
  return Math.ceil((String(across - 1).length * DIGIT + APART) / column)
}

/** Marks the chosen tile, -1: none is.
    @type {(map: HeadMap, chosen: number) => void} */
export function markTile({ tiles }, chosen) {
  for (const [head, tile] of childrenOf(tiles).entries()) {
    tile.ariaChecked = String(head === chosen)
    tile.tabIndex = head === Math.max(0, chosen) ? 0 : -1
  }
}

/** The head that a key leads to; it may lie beyond the last one.
    @type {(key: string, at: number, heads: number, layout: Pick<Layout, "across" | "turned">)
      => number | undefined} */
export function headAfter(key, at, heads, { across, turned }) {
  const [beside, below] = turned ? [across, 1] : [1, across]
  const ends = { ArrowLeft: at - beside, ArrowRight: at + beside, Home: 0, End: heads - 1 }
  const next = { ...ends, ArrowUp: at - below, ArrowDown: at + below }
  return Object.hasOwn(next, key) ? next[/** @type {keyof typeof next} */ (key)] : undefined
}

/** @type {(layout: Omit<Layout, "width" | "height">, head: number) => [number, number]} */
export function corner({ across, side, left, top, label, gap, turned }, head) {
  const position = [head % across, Math.floor(head / across)]
  const [column, row] = turned ? position.reverse() : position
  return [left + column * (side + gap), top + row * (side + label + gap)]
}

/** Layer and head with a point between, of a position among all.
    @type {(map: Pick<Heads, "heads">, head: number) => string} */
export function nameOf({ heads }, head) {
  return `${Math.floor(head / heads)}.${head % heads}`
}

/** Paints each tile in its colour, null: no tile; gives what further marks are painted with.
    @type {(map: HeadMap, colours: (string | null)[]) => CanvasRenderingContext2D} */
export function paintTiles({ canvas, layout }, colours) {
  const context = sharp(canvas, layout.width, layout.height)
  for (const [head, colour] of colours.entries()) {
    if (colour === null) continue
    const [x, y] = corner(layout, head)
    context.fillStyle = colour
    context.beginPath()
    context.roundRect(x, y, layout.side, layout.side, 2)
    context.fill()
  }
  return context
}

/** @type {(context: CanvasRenderingContext2D, map: HeadMap, head: number, wide: number,
      colour: string) => void} */
export function outlineTile(context, { layout }, head, wide, colour) {
  const [x, y] = corner(layout, head)
  context.strokeStyle = colour
  context.lineWidth = wide
  context.beginPath()
  context.roundRect(x - 1, y - 1, layout.side + 2, layout.side + 2, 3)
  context.stroke()
}
