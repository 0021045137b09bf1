import { palette, ramp } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { childrenOf, make, setLengths } from "../shared/elements.js"
import { countDrawing, paintNumbers, sharp } from "../shared/painter.js"
import { corner, layTiles, makeTiles, markTile } from "../shared/tiles.js"

/** @import { HeadGridHeader } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @import { Layout } from "../shared/tiles.js"
    @typedef {ReturnType<typeof build>} View */

const GAP = 8
const LABEL = 20
const MOST_HEIGHT = 470
const LARGEST = 230
const NARROW_GAP = 4
const LARGEST_OF_MANY = 72
const ROOM_FOR_NAME = 74
const WIDTH_OF_DIGIT = 7
const MOST_HEIGHT_OF_LAYERS = 700
const LEAST_TURNED = 24
const ROOM_BETWEEN = 5
const WIDTH_OF_LOOK = 190
const ARROWS = "Arrow keys go from one head to the next"

export default component(build, draw)

/** @param {Mount<"head_grid">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const box = make("div", "box", frame)
  const canvas = make("canvas", "grid", box, { ariaHidden: "true" })
  const label = content.asks ? "Heads; arrow keys move, Enter answers" : "Heads; arrow keys move"
  const names = make("div", "names", box, { ariaHidden: "true" })
  const tiles = makeTiles(box, label, () => view.layout, {
    point: (head) => lookAt(view, head),
    choose: (head, clicked) => choose(view, head, clicked),
  })
  const look = make("div", "look", box, { ariaHidden: "true", hidden: true })
  const large = { look, canvas: make("canvas", "", look), name: make("span", "", look) }
  const caption = make("p", "caption", frame)
  const hint = make("p", "hint", frame)
  const layout = layoutOf(content, 0)
  const shown = { canvas, names, tiles, caption, hint, large }
  const view = { content, frame, box, ...shown, width: 0, layout, send }
  return view
}

/** One row for each layer where there are several, or one column where rows would be taller than a
    screen and columns have room. Else as large as fits a screen, in as many
    columns as that takes; no dot ever shares a pixel.
    @type {(content: Pick<HeadGridHeader, "heads" | "rows" | "columns" | "layerNames">, width: number)
      => Layout} */
export function layoutOf({ heads, rows, columns, layerNames }, width) {
  if (layerNames.length) return layoutOfLayers(heads / layerNames.length, layerNames.length, width)
  const least = Math.max(rows, columns, 40)
  /** @type {Layout | undefined} */
  let best
  for (let across = 1; across <= heads; across++) {
    const side = Math.min(LARGEST, Math.floor((width - GAP * (across - 1)) / across))
    const height = Math.ceil(heads / across) * (side + LABEL + GAP) - GAP
    if (best && side < least) break
    if (!best || best.height > MOST_HEIGHT) best = { ...FREE, across, side, height }
  }
  if (!best) return { ...FREE, across: 1, side: 0, height: 0 }
  // as many rows, but no head alone in the last one where they can be shared out
  return { ...best, across: Math.ceil(heads / Math.ceil(heads / best.across)) }
}

const FREE = { left: 0, top: 0, label: LABEL, gap: GAP, turned: false }

/** @type {(across: number, layers: number, width: number) => Layout} */
function layoutOfLayers(across, layers, width) {
  const gap = NARROW_GAP
  const sideOf = (/** @type {number} */ columns) =>
    Math.max(1, Math.floor((width - ROOM_FOR_NAME - gap * (columns - 1)) / columns))
  const rows = Math.min(LARGEST_OF_MANY, sideOf(across))
  const turned = layers * (rows + gap) > MOST_HEIGHT_OF_LAYERS && sideOf(layers) >= LEAST_TURNED
  const side = turned ? Math.min(LARGEST_OF_MANY, sideOf(layers)) : rows
  const height = LABEL + (turned ? across : layers) * (side + gap) - gap
  return { across, side, height, left: ROOM_FOR_NAME, top: LABEL, label: 0, gap, turned }
}

/** @type {(view: View) => void} */
function draw(view) {
  const { heads, rows, columns, absent } = view.content
  view.width = view.frame.clientWidth
  if (!view.width) return
  view.layout = layoutOf(view.content, view.width)
  const { across, side, height, left: start, label, gap, turned } = view.layout
  const width = start + (turned ? heads / across : across) * (side + gap) - gap
  setLengths(view.box, { width, height })
  setLengths(view.canvas, { width, height })
  const context = sharp(view.canvas, width, height)
  const dots = view.canvas.width / width
  context.resetTransform()
  context.imageSmoothingEnabled = side * dots < Math.max(rows, columns)
  const shades = ramp(palette(view.frame, "sequential"))
  const small = make("canvas", "")
  view.large.look.hidden = true
  for (let head = 0; head < heads; head++) {
    if (absent.includes(head)) continue
    paintNumbers(small, columns, dotsOf(view, head), [0, 255], shades)
    const [left, top] = corner(view.layout, head)
    const [x, y, wide] = [left, top + label, side].map((length) => Math.round(length * dots))
    context.drawImage(small, x, y, wide, wide)
  }
  countDrawing(view.canvas)
  lay(view)
  view.caption.textContent = words(view.content)
  view.hint.textContent = view.content.asks ? `${ARROWS}, Enter answers.` : `${ARROWS}.`
}

/** @type {(view: View, head: number) => Uint8Array} */
function dotsOf({ content: { rows, columns, rest } }, head) {
  return rest.subarray(head * rows * columns, (head + 1) * rows * columns)
}

/** Shows one of many heads large, with its name, beside its tile; -1: none.
    @type {(view: View, head: number) => void} */
function lookAt(view, head) {
  const { content, layout, large, tiles, width } = view
  large.look.hidden = layout.label > 0 || head < 0
  if (large.look.hidden) return
  const shades = ramp(palette(view.frame, "sequential"))
  paintNumbers(large.canvas, content.columns, dotsOf(view, head), [0, 255], shades)
  const { ariaLabel, ariaDescription } = childrenOf(tiles)[head]
  large.name.textContent = [ariaLabel, ariaDescription].filter(Boolean).join(": ")
  const [left, top] = corner(layout, head)
  const beside = left + layout.side + ROOM_BETWEEN
  const before = left - WIDTH_OF_LOOK - ROOM_BETWEEN
  setLengths(large.look, {
    left: beside + WIDTH_OF_LOOK > width ? Math.max(0, before) : beside,
    top: top + layout.side + ROOM_BETWEEN,
    width: WIDTH_OF_LOOK,
  })
}

/** @type {(view: View) => void} */
function lay({ frame, tiles, names, layout, content }) {
  const { heads, layerNames, said, marked, chosen, absent } = content
  const hues = palette(frame, "categorical")
  const { across, side, gap, label, turned } = layout
  tiles.classList.toggle("plain", !label)
  for (const [head, tile] of layTiles(tiles, layout, heads, chosen, fillTile).entries()) {
    tile.hidden = absent.includes(head)
    tile.style.setProperty("--hue", hues[head % hues.length])
    tile.ariaLabel = layerNames.length
      ? `${layerNames[Math.floor(head / across)]}, head ${head % across}`
      : `Head ${head}`
    tile.ariaDescription = [head === marked && "the head asked for", said[head]]
      .filter(Boolean)
      .join("; ")
    tile.classList.toggle("marked", head === marked)
  }
  names.replaceChildren()
  const numbers = Array.from({ length: turned ? layerNames.length : across }, (_, at) => `${at}`)
  const down = turned ? Array.from({ length: across }, (_, head) => `head ${head}`) : layerNames
  for (const [row, name] of down.entries()) {
    const words = make("span", "layer", names, { textContent: name })
    setLengths(words, { left: 0, top: layout.top + row * (side + gap), height: side })
  }
  const every = numbersApart(numbers.length, side + gap)
  for (let at = 0; at < numbers.length && layerNames.length; at += every) {
    const words = make("span", "head", names, { textContent: numbers[at] })
    setLengths(words, { left: layout.left + at * (side + gap), top: 0, width: side })
  }
  if (turned)
    setLengths(make("span", "layer", names, { textContent: "layer" }), { left: 0, top: 0 })
}

/** Which columns have their number written, every one or every so many, so that none touch.
    @type {(across: number, column: number) => number} */
export function numbersApart(across, column) {
  return Math.ceil((String(across - 1).length * WIDTH_OF_DIGIT + ROOM_BETWEEN) / column)
}

/** @type {(tile: HTMLElement, head: number) => void} */
function fillTile(tile, head) {
  const name = make("span", "", tile)
  make("i", "", name)
  name.append(`${head}`)
  make("b", "", tile)
}

/** @type {(content: Pick<HeadGridHeader, "block" | "tokens" | "saturated" | "sizes">) => string} */
export function words({ block, tokens, saturated, sizes }) {
  const counted = sizes ? "sizes of weights" : "weights"
  const many = `the greatest of ${block} × ${block} ${counted}, so that no strong one is lost`
  const dot = block > 1 ? many : sizes ? "the size of a weight" : "a weight"
  const darkest = saturated
    ? "the few largest of a head share the strongest colour"
    : "the strongest colour is this head's largest"
  const counts = `Queries down, keys across, ${tokens} tokens`
  return `${counts}. Each square is ${dot}; ${darkest}.`
}

/** @type {(view: View, head: number, clicked: boolean) => void} */
function choose(view, head, clicked) {
  const { asks, chosen } = view.content
  const guessed = asks && clicked
  if (head === chosen && !guessed) return
  view.content.chosen = head
  markTile(view.tiles, head)
  if (guessed) view.send("guess", head)
  else view.send("head", head, 40)
}
