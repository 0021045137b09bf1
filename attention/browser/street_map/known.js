import * as geometry from "./geometry.js"

/** @import { MapLink } from "../messages.js"
    @import { View } from "./index.js"
    @import { At, Room } from "./geometry.js" */

const SIDE = 600 // pixels of the map, at most, and
const TALL = 560
export const EDGE = { left: 64, top: 58 } // for names along it
export const NARROW = 480
export const NAMED = 12 // pixels of a cell that has its name
export const MARK = "#d97706"

/** The room that the map has between its names.
    @type {(view: View) => Room} */
export function roomOf({ width }) {
  const side = Math.min(SIDE, width)
  return { width: side - leftOf(width), height: Math.min(side - leftOf(width), TALL) }
}

export const leftOf = (/** @type {number} */ width) => (width < NARROW ? 44 : EDGE.left)

/** Keeps what was used last, up to so many.
    @type {<Value>(kept: Map<string, Value>, key: string, value: Value, most: number) => void} */
export function keep(kept, key, value, most) {
  kept.delete(key)
  kept.set(key, value)
  for (const first of kept.keys()) {
    if (kept.size <= most) break
    kept.delete(first)
  }
}

/** @type {(view: View, at: At) => string} */
export function keyOf({ content }, at) {
  return `${content.map} ${at.join(" ")}`
}

/** @type {(view: View) => { weights: Float32Array, greatest: MapLink[] } | undefined} */
export function rowOf({ rows, content, chosen }) {
  return rows.get(`${content.map} ${chosen[0]}`)
}

/** The text of a query (side 0) or a key, null while it is not there.
    @type {(view: View, side: number, at: number) => string | null} */
export function textOf({ texts, content }, side, at) {
  const { sides, chunk } = content
  const key = `${Math.min(side, sides - 1)} ${Math.floor(at / chunk)}`
  return texts.get(key)?.[at % chunk] ?? null
}

/** The tiles to be seen, and that of the whole, which stands in where others are not there yet.
    @type {(view: View) => At[]} */
export function wantedTiles(view) {
  const { content, place } = view
  const level = geometry.levelAt(place.cell, content.top)
  const side = geometry.sideOf(level, content)
  return geometry.tilesIn(place, level, side, content, roomOf(view))
}
