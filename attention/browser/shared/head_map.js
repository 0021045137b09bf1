import { palette, ramp, rgb, shadeOf } from "./colours.js"
import { childrenOf, make, placeUnder, setLengths } from "./elements.js"
import { countDrawing, paintNumbers, sharp } from "./painter.js"

/** A map of all heads: a canvas, the numbers of layers and heads along it, and above it a tile for
    each head, one of which is chosen by click or arrow keys.
    @typedef {{ box: HTMLElement, canvas: HTMLCanvasElement, names: HTMLElement, tiles: HTMLElement,
      layout: Layout, small: HTMLCanvasElement }} HeadMap

    What the layers are called, none: there is one; how many heads there are of a layer, the chosen
    one of all, and those that a layer has not.
    @typedef {{ layers: string[], heads: number, chosen: number, absent?: number[] }} Heads

    What tiles can show, by name: words on the colours, the number of the darkest, and names of
    those with blue fills alone.
    @typedef {{ legends: Record<string, string>, darkest: Record<string, number>,
      blue: string[] }} Shown

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
const BESIDE = 19 * 16 + 36 // pixels of what stands beside a map
const NARROW = 884 // pixels of a page on which it stands below
const ORANGE = "#d97706"

/** @type {(parent: HTMLElement, ariaLabel: string, tasks: Tasks) => HeadMap} */
export function makeMap(parent, ariaLabel, { point, choose }) {
  const box = make("div", "map", parent)
  const canvas = make("canvas", "", box, { ariaHidden: "true" })
  const names = make("div", "names", box, { ariaHidden: "true" })
  const tiles = make("div", "tiles", box, { role: "radiogroup", ariaLabel })
  const layout = layoutOf({ layers: [], heads: 1 }, 0)
  const map = { box, canvas, names, tiles, layout, small: make("canvas", "") }
  const at = (/** @type {Event} */ event) => placeUnder(event, childrenOf(tiles))
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

/** Lays out a map with something beside it, or below it on a narrow page; true if it is narrow.
    @type {(view: { frame: HTMLElement, width: number, map: HeadMap,
      content: { layers: unknown[], heads: number } }) => boolean} */
export function layBeside({ frame, width, map, content }) {
  const narrow = width < NARROW
  frame.classList.toggle("narrow", narrow)
  map.layout = layoutOf(content, width - (narrow ? 0 : BESIDE))
  return narrow
}

/** The longer of layers and heads across where there is room, else layers down.
    @type {(content: { layers: unknown[], heads: number }, width: number, look?: Look) => Layout} */
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

/** Lays out the tiles, each made anew only where their number changes, names them, and marks the
    chosen one. tell: what is said of a head; down: what is written at a row.
    @type {(map: HeadMap, content: Heads, tell: (head: number) => string | undefined,
      down?: (row: number) => string) => HTMLElement[]} */
export function layMap(map, { layers, heads, chosen, absent = [] }, tell, down = String) {
  const { box, canvas, tiles, layout } = map
  const { width, height, side, label } = layout
  const count = heads * (layers.length || 1)
  for (const element of [box, canvas]) setLengths(element, { width, height })
  if (tiles.children.length !== count)
    tiles.replaceChildren(
      ...Array.from({ length: count }, () =>
        make("button", "", null, { type: "button", role: "radio" }),
      ),
    )
  for (const [head, tile] of childrenOf(tiles).entries()) {
    const [left, top] = corner(layout, head)
    setLengths(tile, { left, top, width: side, height: side + label })
    const layer = layers[Math.floor(head / heads)]
    tile.ariaLabel = layers.length ? `${layer}, head ${head % heads}` : `Head ${head}`
    tile.ariaDescription = tell(head) ?? ""
    tile.hidden = absent.includes(head)
  }
  markTile(map, chosen)
  if (layers.length) nameLines(map, layers.length, heads, down)
  return childrenOf(tiles)
}

/** Numbers of layers and heads along the map, of those across as many as have room.
    @type {(map: HeadMap, layers: number, heads: number, down: (row: number) => string) => void} */
function nameLines({ names, layout }, layers, heads, down) {
  const { side, gap, left, top, turned } = layout
  const [columns, rows] = turned ? [layers, heads] : [heads, layers]
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
    @type {(map: { heads: number }, head: number) => string} */
export function nameOf({ heads }, head) {
  return `${Math.floor(head / heads)}.${head % heads}`
}

/** Names of what tiles can show, by group, one of which is chosen.
    @type {(menu: HTMLSelectElement, groups: readonly (readonly [string, readonly string[]])[],
      chosen: string) => void} */
export function writeMenu(menu, groups, chosen) {
  menu.replaceChildren()
  for (const [label, names] of groups) {
    const group = make("optgroup", "", menu, { label })
    for (const name of names) make("option", "", group, { value: name, textContent: name })
  }
  menu.value = chosen
}

/** The scale of the colours that tiles have now, and words on it. half: of a scale without the rest.
    @type {(bar: { frame: HTMLElement, scale: HTMLElement, legend: HTMLElement }, shown: Shown,
      name: string, half?: string) => void} */
export function tellColours({ frame, scale, legend }, { legends, blue }, name, half = "") {
  const colours = palette(frame, blue.includes(name) ? "sequential" : "diverging")
  scale.style.background = `linear-gradient(to right, ${colours}) ${half}`
  legend.textContent = legends[name]
}

/** The colour of each number, from blue to orange around 0 or blue alone; null: it is none.
    @type {(frame: HTMLElement, shown: Shown, name: string, numbers: Float32Array)
      => (string | null)[]} */
export function fillsOf(frame, { darkest, blue }, name, numbers) {
  const only = blue.includes(name)
  const shades = ramp(palette(frame, only ? "sequential" : "diverging"))
  const [low, high] = [only ? 0 : -darkest[name], darkest[name]]
  return Array.from(numbers, (number) =>
    Number.isNaN(number) ? null : rgb(shadeOf(number, low, high, shades)),
  )
}

/** Paints each tile in its colour, or where it has none as the ground; further: what is painted over
    it. The chosen one is outlined, in orange where no fill is.
    @type {(map: HeadMap, frame: HTMLElement, content: Pick<Heads, "chosen" | "absent">,
      blue: boolean, fills: (string | null)[], further?: (context: CanvasRenderingContext2D, head: number,
      x: number, y: number) => void) => CanvasRenderingContext2D} */
export function paintTiles({ canvas, layout }, frame, { chosen, absent }, blue, fills, further) {
  const { width, height, side } = layout
  const context = sharp(canvas, width, height)
  const ground = palette(frame, "sequential")[0] || "#fff"
  for (const [head, fill] of fills.entries()) {
    if (absent?.includes(head)) continue
    const [x, y] = corner(layout, head)
    context.fillStyle = fill ?? ground
    context.beginPath()
    context.roundRect(x, y, side, side, 2)
    context.fill()
    further?.(context, head, x, y)
  }
  const ink = getComputedStyle(frame).color
  if (chosen >= 0) outlineTile(context, layout, chosen, 2.5, blue ? ORANGE : ink)
  countDrawing(canvas)
  return context
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

/** Paints the dots of a head, uint8 row by row, into its tile.
    @type {(context: CanvasRenderingContext2D, map: HeadMap, head: number, dots: Uint8Array,
      columns: number, shades: Uint32Array) => void} */
export function paintDots(context, { layout, small }, head, dots, columns, shades) {
  const [x, y] = corner(layout, head)
  const { side, label } = layout
  paintNumbers(small, columns, dots, [0, 255], shades)
  const most = Math.max(columns, small.height)
  context.imageSmoothingEnabled = side * devicePixelRatio < most
  context.drawImage(small, x, y + label, side, side)
}
