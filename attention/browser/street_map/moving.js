import * as geometry from "./geometry.js"
import { NAMED, roomOf } from "./known.js"
import { leadTo } from "./text.js"

/** @import { View } from "./index.js" */

/** Leads to the next place of the word that was searched.
    @type {(view: View) => void} */
export function next(view) {
  const { found, search } = view
  const count = found.positions.length
  view.at = count ? (view.at + 1) % count : -1
  const words = `${view.at + 1} of ${count.toLocaleString("en")}`
  search.output.textContent = count ? words : "not there"
  if (!count) return
  const at = found.positions[view.at]
  if (search.side.selectedIndex) jump(view, view.chosen[0], at)
  else jump(view, at, -1)
}

/** Chooses a cell; a key of −1 is that with the greatest weight.
    @type {(view: View, query: number, key: number) => void} */
export function choose(view, query, key) {
  const row = view.rows.get(`${view.content.map} ${query}`)
  view.chosen = [query, key < 0 && row ? (row.greatest[0]?.key ?? 0) : key]
  if (view.chosen[1] >= 0) leadTo(view.text, view.chosen[1])
  view.soon()
}

/** Chooses a cell and shows it in the middle, large enough to be read.
    @type {(view: View, query: number, key: number) => void} */
export function jump(view, query, key) {
  choose(view, query, key)
  const column = view.chosen[1] < 0 ? Math.min(query, view.content.columns - 1) : view.chosen[1]
  view.place = geometry.around(view.place, query, column, NAMED, view.content, roomOf(view))
  view.soon()
}

/** Leads to a query (side 0) or a key, the last where there are fewer.
    @type {(view: View, side: number, at: number) => void} */
export function goTo(view, side, at) {
  const { rows, columns } = view.content
  const there = Math.min(at, (side ? columns : rows) - 1)
  view.search.output.textContent = there === at ? "" : "the last one"
  if (side) jump(view, view.chosen[0], there)
  else jump(view, there, -1)
}

/** Zooms around a point, or around the middle; a factor of 0 shows all.
    @type {(view: View, factor: number, x?: number, y?: number) => void} */
export function zoom(view, factor, x, y) {
  const room = roomOf(view)
  const [across, down] = [x ?? room.width / 2, y ?? room.height / 2]
  view.place = geometry.zoomed(view.place, factor, across, down, view.content, room)
  view.soon()
}

/** @type {(view: View, across: number, down: number) => void} */
export function pan(view, across, down) {
  const { left, top, cell } = view.place
  const moved = { left: left - across / cell, top: top - down / cell, cell }
  view.place = geometry.within(moved, view.content, roomOf(view))
  view.soon()
}
