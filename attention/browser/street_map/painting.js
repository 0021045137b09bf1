import { inkOn, palette, ramp } from "../shared/colours.js"
import { setLengths } from "../shared/elements.js"
import { countDrawing, paintNumbers, sharp } from "../shared/painter.js"
import { fixed } from "../shared/words.js"
import * as geometry from "./geometry.js"
import { EDGE, keyOf, leftOf, MARK, NAMED, NARROW, roomOf, textOf, wantedTiles } from "./known.js"

/** @import { View, Tile } from "./index.js"
    @import { At } from "./geometry.js" */

const WRITTEN = 34 // pixels of a cell that has its number
const WHOLE = 84 // pixels of the map of the whole
const APART = 34 // pixels from one position along an edge to the next

/** @type {(view: View) => void} */
export function paint(view) {
  const { content, canvas, frame, even } = view
  const colours = palette(frame, "sequential")
  const look = `${colours} ${even} ${content.least}`
  if (look !== view.look) {
    view.look = look
    view.table = geometry.tableOf(ramp(colours), content.least, even)
    paintLegend(view)
  }
  const room = roomOf(view)
  const [left, top] = [leftOf(view.width), EDGE.top]
  const context = sharp(canvas, left + room.width, top + room.height)
  const ink = getComputedStyle(frame)
  context.font = `11px ${ink.fontFamily}`
  context.fillStyle = ink.color
  context.strokeStyle = MARK
  paintNames(view, context)
  context.translate(left, top)
  const { place } = view
  const [wide, high] = [
    Math.min(room.width, (content.columns - place.left) * place.cell),
    Math.min(room.height, (content.rows - place.top) * place.cell),
  ]
  setLengths(view.ground, { left, top, width: wide, height: high })
  context.save()
  context.beginPath()
  context.rect(0, 0, wide, high)
  context.clip()
  context.imageSmoothingEnabled = false
  for (const at of wantedTiles(view)) paintTile(view, context, at)
  writeNumbers(view, context)
  paintChosen(view, context)
  context.restore()
  countDrawing(canvas)
}

/** Draws a tile, or the part of a coarser one that stands there.
    @type {(view: View, context: CanvasRenderingContext2D, at: At) => void} */
function paintTile(view, context, [level, row, column]) {
  const { content, place } = view
  const side = geometry.sideOf(level, content)
  const [first, start] = [column * side, row * side]
  for (let from = level; from <= content.top; from++) {
    const over = geometry.sideOf(from, content)
    const [r, c] = [Math.floor(start / over), Math.floor(first / over)]
    const found = view.tiles.get(keyOf(view, [from, r, c]))
    if (!found) continue
    const { tile, canvas } = dressed(view, found)
    const block = geometry.blockOf(from)
    const [sx, sy] = [(first - c * over) / block, (start - r * over) / block]
    const [sw, sh] = [
      Math.min(side / block, tile.width - sx),
      Math.min(side / block, tile.height - sy),
    ]
    /** @type {(at: number, origin: number) => number} */
    const edge = (at, origin) => Math.round((at - origin) * place.cell)
    const [x, y] = [edge(first, place.left), edge(start, place.top)]
    const [right, below] = [
      edge(first + sw * block, place.left),
      edge(start + sh * block, place.top),
    ]
    context.drawImage(canvas, sx, sy, sw, sh, x, y, right - x, below - y)
    return
  }
}

/** A tile in the colours that hold now.
    @type {(view: View, found: Tile) => Tile} */
function dressed(view, found) {
  if (found.look !== view.look) {
    found.look = view.look
    paintNumbers(found.canvas, found.tile.width, found.shades, [0, 255], view.table)
  }
  return found
}

/** @type {(view: View, context: CanvasRenderingContext2D) => void} */
function writeNumbers(view, context) {
  const { place, content } = view
  if (place.cell < WRITTEN) return
  const { exactSide } = content
  Object.assign(context, { textAlign: "center", textBaseline: "middle" })
  for (const at of wantedTiles(view)) {
    const found = view.tiles.get(keyOf(view, at))
    if (!found?.weights) continue
    const { tile, weights, shades } = found
    for (const [cell, weight] of weights.entries()) {
      if (weight === 0) continue
      const row = at[1] * exactSide + Math.floor(cell / tile.width)
      const column = at[2] * exactSide + (cell % tile.width)
      context.fillStyle = inkOn(view.table[shades[cell]])
      const [x, y] = [(column + 0.5 - place.left) * place.cell, row + 0.5 - place.top]
      context.fillText(fixed(weight, 2), x, y * place.cell)
    }
  }
}

/** Frames the chosen cell, with hairlines along its row and column.
    @type {(view: View, context: CanvasRenderingContext2D) => void} */
function paintChosen({ place, chosen, content }, context) {
  const [query, key] = chosen
  const [x, y] = [(key - place.left) * place.cell, (query - place.top) * place.cell]
  const size = place.cell < 3 ? 0 : place.cell
  const [right, below] = [content.columns * place.cell, content.rows * place.cell]
  context.lineWidth = 1
  context.globalAlpha = 0.75
  context.strokeRect(-2, Math.round(y) - 0.5, right + 4, size + 1)
  if (key >= 0) context.strokeRect(Math.round(x) - 0.5, -2, size + 1, below + 4)
  context.globalAlpha = 1
  context.lineWidth = 2
  const around = size ? 1 : 3
  if (key >= 0) context.strokeRect(x - around, y - around, size + 2 * around, size + 2 * around)
}

/** Names along the edges, or positions where there is no room for names.
    @type {(view: View, context: CanvasRenderingContext2D) => void} */
function paintNames(view, context) {
  const { place, content, width } = view
  const room = roomOf(view)
  const left = leftOf(width)
  const named = place.cell >= NAMED
  const { rows, columns } = content
  /** @type {(side: number, at: number, letters: number) => string} */
  const nameOf = (side, at, letters) => {
    const text = named ? textOf(view, side, at)?.trim() : null
    const name = text || at.toLocaleString("en")
    return [...name].length > letters ? `${[...name].slice(0, letters - 1).join("")}…` : name
  }
  context.save()
  Object.assign(context, { textAlign: "right", textBaseline: "middle" })
  for (const at of geometry.ticks(place.top, place.cell, room.height, rows, NAMED)) {
    if (!named && !isTick(at, place.cell, APART)) continue
    const y = (at + 0.5 - place.top) * place.cell
    if (y < 0 || y > room.height) continue
    context.fillText(nameOf(0, at, width < NARROW ? 6 : 9), left - 6, EDGE.top + y)
  }
  context.rotate(-Math.PI / 2)
  context.textAlign = "left"
  for (const at of geometry.ticks(place.left, place.cell, room.width, columns, NAMED)) {
    if (!named && !isTick(at, place.cell, APART)) continue
    const x = (at + 0.5 - place.left) * place.cell
    if (x < 0 || x > room.width) continue
    context.fillText(nameOf(1, at, 8), 6 - EDGE.top, left + x)
  }
  context.restore()
}

/** Whether a position is among those that stand so many pixels apart.
    @type {(at: number, cell: number, apart: number) => boolean} */
function isTick(at, cell, apart) {
  const [first = 0, second = 1] = geometry.ticks(0, cell, 4 * apart * 3, Number.MAX_VALUE, apart)
  return at % (second - first) === 0
}

/** Where one is on the whole.
    @type {(view: View) => void} */
export function paintWhole(view) {
  const { content, place, whole } = view
  const room = roomOf(view)
  const cell = WHOLE / Math.max(content.rows, content.columns)
  const [width, height] = [content.columns * cell, content.rows * cell]
  setLengths(whole, { width, height })
  const context = sharp(whole, width, height)
  const found = view.tiles.get(keyOf(view, [content.top, 0, 0]))
  if (!found) return
  const over = geometry.blockOf(content.top)
  const [wide, high] = [content.columns / over, content.rows / over]
  context.drawImage(dressed(view, found).canvas, 0, 0, wide, high, 0, 0, width, height)
  context.strokeStyle = MARK
  context.lineWidth = 2
  const [across, down] = [room.width / place.cell, room.height / place.cell]
  const size = [Math.min(across, content.columns), Math.min(down, content.rows)]
  const [seenWide, seenHigh] = size.map((cells) => Math.max(4, cells * cell))
  context.strokeRect(place.left * cell, place.top * cell, seenWide, seenHigh)
}

/** @type {(view: View) => void} */
function paintLegend({ scale, bounds, table, content, even }) {
  const shades = Uint8Array.from({ length: 255 }, (_, at) => at + 1)
  const even01 = shades.map((_, at) => geometry.shadeOfWeight((at + 0.5) / 255, content.least))
  paintNumbers(scale, 255, even ? even01 : shades, [0, 255], table)
  const least = `1/${Math.round(1 / content.least).toLocaleString("en")}`
  bounds.textContent = even
    ? "by difference, from 0 to 1"
    : `by ratio, from an even share, ${least}, to 1`
}
