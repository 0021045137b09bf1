import { palette, ramp } from "../shared/colours.js"
import { component, isAnswered } from "../shared/component.js"
import { childrenOf, make, setLengths } from "../shared/elements.js"
import * as heads from "../shared/head_map.js"
import { countDrawing, paintNumbers, sharp } from "../shared/painter.js"

/** @import { HeadGridHeader } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @import { Layout } from "../shared/head_map.js"
    @typedef {ReturnType<typeof build>} View */

const FREE = { left: 0, top: 0, label: 20, gap: 8, turned: false }
const MOST_HEIGHT = 470
const LARGEST = 230
const LAYERS = { left: 74, top: 20, gap: 4, largest: 72, least: 24, most: 700, towers: true }
const ROOM_BETWEEN = 5
const WIDTH_OF_LOOK = 190

export default component(build, draw)

/** @param {Mount<"head_grid">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const map = heads.makeMap(frame, "Heads; arrow keys move", {
    point: (head) => lookAt(view, head),
    choose: (head) => choose(view, head),
  })
  const look = make("div", "look", map.box, { ariaHidden: "true", hidden: true })
  const large = { look, canvas: make("canvas", "", look), name: make("span", "", look) }
  const caption = make("p", "caption", frame)
  const textContent = "Arrow keys go from one head to the next."
  make("p", "hint", frame, { textContent, hidden: !isAnswered(content, "head") })
  const view = { content, frame, map, caption, large, width: 0, send }
  return view
}

/** One row for each layer where there are several, or one column where rows would be taller than a
    screen and columns have room. Else as large as fits a screen, in as many columns as that takes;
    no dot ever shares a pixel.
    @type {(content: Pick<HeadGridHeader, "heads" | "rows" | "columns" | "layers">, width: number)
      => Layout} */
export function layoutOf({ heads: count, rows, columns, layers }, width) {
  if (layers.length) return heads.layoutOf({ layers, heads: count }, width, LAYERS)
  const { gap, label } = FREE
  const least = Math.max(rows, columns, 40)
  let best = { ...FREE, across: 1, side: 0, width: 0, height: 0 }
  for (let across = 1; across <= count; across++) {
    const side = Math.min(LARGEST, Math.floor((width - gap * (across - 1)) / across))
    const height = Math.ceil(count / across) * (side + label + gap) - gap
    if (across > 1 && (side < least || best.height <= MOST_HEIGHT)) break
    best = { ...FREE, across, side, width: across * (side + gap) - gap, height }
  }
  // as many rows, but no head alone in the last one where they can be shared out
  const across = Math.ceil(count / Math.ceil(count / best.across))
  return { ...best, across, width: across * (best.side + gap) - gap }
}

/** @type {(view: View) => void} */
function draw(view) {
  const { content, frame, map } = view
  view.width = frame.clientWidth
  if (!view.width) return
  map.layout = layoutOf(content, view.width)
  lay(view)
  const context = sharp(map.canvas, map.layout.width, map.layout.height)
  const shades = ramp(palette(frame, "sequential"))
  view.large.look.hidden = true
  for (const [head] of childrenOf(map.tiles).entries())
    heads.paintDots(context, map, head, dotsOf(view, head), content.columns, shades)
  countDrawing(map.canvas)
  view.caption.textContent = content.caption
}

/** @type {(view: View, head: number) => Uint8Array} */
function dotsOf({ content: { rows, columns, rest } }, head) {
  return rest.subarray(head * rows * columns, (head + 1) * rows * columns)
}

/** Shows one of many heads large, with its name, beside its tile; -1: none.
    @type {(view: View, head: number) => void} */
function lookAt(view, head) {
  const { content, map, large, width } = view
  const { layout, tiles } = map
  large.look.hidden = layout.label > 0 || head < 0
  if (large.look.hidden) return
  const shades = ramp(palette(view.frame, "sequential"))
  paintNumbers(large.canvas, content.columns, dotsOf(view, head), [0, 255], shades)
  const { ariaLabel, ariaDescription } = childrenOf(tiles)[head]
  large.name.textContent = [ariaLabel, ariaDescription].filter(Boolean).join(": ")
  const [left, top] = heads.corner(layout, head)
  const beside = left + layout.side + ROOM_BETWEEN
  const before = left - WIDTH_OF_LOOK - ROOM_BETWEEN
  setLengths(large.look, {
    left: beside + WIDTH_OF_LOOK > width ? Math.max(0, before) : beside,
    top: top + layout.side + ROOM_BETWEEN,
    width: WIDTH_OF_LOOK,
  })
}

/** @type {(view: View) => void} */
function lay({ frame, map, content }) {
  const { layers, said } = content
  const { label, turned } = map.layout
  const hues = palette(frame, "categorical")
  map.tiles.classList.toggle("plain", !label)
  const down = (/** @type {number} */ row) => (turned ? `head ${row}` : layers[row])
  for (const [head, tile] of heads.layMap(map, content, (head) => said[head], down).entries()) {
    tile.style.setProperty("--hue", hues[head % hues.length])
    if (tile.firstChild) continue
    const name = make("span", "", tile)
    make("i", "", name)
    name.append(`${head}`)
    make("b", "", tile)
  }
}

/** @type {(view: View, head: number) => void} */
function choose(view, head) {
  if (head === view.content.chosen || !isAnswered(view.content, "head")) return
  view.content.chosen = head
  heads.markTile(view.map, head)
  view.send("head", head, 40)
}
