import { palette } from "../shared/colours.js"
import { make, makeName } from "../shared/elements.js"
import { sharp } from "../shared/painter.js"
import { inFull } from "../shared/words.js"
import * as geometry from "./geometry.js"
import { keyOf, MARK, roomOf, rowOf, textOf } from "./known.js"
import { jump } from "./moving.js"
import { paintText } from "./text.js"

/** @import { MapLink } from "../messages.js"
    @import { View } from "./index.js"
    @import { At } from "./geometry.js" */

export const BARS = 76 // pixels

/** The row of the chosen query: as bars, as its greatest weights, and as a text.
    @type {(view: View) => void} */
export function paintRow(view) {
  const { bars, content, place, chosen, frame, greatest, text, table } = view
  const row = rowOf(view)
  const width = bars.clientWidth
  const context = sharp(bars, width, BARS)
  const room = roomOf(view)
  const each = width / content.columns
  context.fillStyle = "rgb(128 128 128 / 0.15)"
  const seen = Math.min(content.columns, room.width / place.cell)
  context.fillRect(place.left * each, 0, Math.max(1, seen * each), BARS)
  context.fillStyle = palette(frame, "sequential")[6] ?? ""
  const most = row?.greatest[0]?.weight ?? 1
  for (const [at, weight] of (row ? geometry.profile(row.weights, width) : []).entries()) {
    const height = (weight / most) * (BARS - 4)
    if (height > 0) context.fillRect(at, BARS - Math.max(0.5, height), 1, height)
  }
  context.fillStyle = MARK
  if (chosen[1] >= 0) context.fillRect(Math.floor((chosen[1] + 0.5) * each), 0, 1.5, BARS)
  bars.ariaLabel = row ? `All ${content.columns} weights, the highest ${inFull(most)}` : ""
  const name = `${content.map} ${chosen[0]}`
  if (row && greatest.dataset.row !== name) {
    greatest.dataset.row = name
    greatest.replaceChildren()
    for (const link of row.greatest) makeLink(view, greatest, link, false)
  }
  paintText(text, {
    ...{ weights: row?.weights ?? null, least: content.least, table },
    ...{ query: content.sides === 1 ? chosen[0] : -1, key: chosen[1] },
    textOf: (at) => textOf(view, 1, at),
  })
}

/** A button that leads to a cell.
    @type {(view: View, parent: HTMLElement, link: MapLink, both: boolean) => void} */
function makeLink(view, parent, { query, key, weight, texts }, both) {
  const button = make("button", "", make("li", "", parent), { type: "button" })
  const names = /** @type {[string, number][]} */ (
    both
      ? [
          [texts[0], query],
          [texts[1], key],
        ]
      : [[texts[1], key]]
  )
  for (const [at, [name, position]] of names.entries()) {
    if (at) button.append(" → ")
    makeName("span", "name", button, name.trim() || "␣")
    button.append(` (${position.toLocaleString("en")})`)
  }
  make("b", "", button, { textContent: inFull(weight) })
  button.addEventListener("click", () => jump(view, query, key))
}

/** What is chosen, in a sentence.
    @type {(view: View) => void} */
export function tell(view) {
  const { told, content, chosen, way, progress, wayWords, far } = view
  const [query, key] = chosen
  const row = rowOf(view)
  const [from, to] = [textOf(view, 0, query), key < 0 ? null : textOf(view, 1, key)]
  const positions = [query, key].map((at) => at.toLocaleString("en"))
  if (row && from !== null && to !== null) {
    const weight = inFull(row.weights[key])
    const names = [from, to].map((name) => name.trim() || "␣")
    const words = `Query ${positions[0]} “${names[0]}”, key ${positions[1]} “${names[1]}”: weight ${weight}.`
    if (told.textContent !== words) told.textContent = words
  }
  const share = content.done / content.rows
  way.hidden = share >= 1
  progress.value = share
  wayWords.textContent = `A first look; all rows are read: ${Math.floor(100 * share)} %`
  far.button.disabled = share < 1
}

/** @type {(view: View, links: MapLink[]) => void} */
export function showFar(view, links) {
  const { list, words } = view.far
  list.replaceChildren()
  words.textContent = links.length ? "" : "No weight is that far from the diagonal."
  for (const link of links) makeLink(view, list, link, true)
}

/** @type {(view: View, cell: [number, number]) => string} */
export function readoutOf(view, [query, key]) {
  const { content, place, tiles } = view
  const level = geometry.levelAt(place.cell, content.top)
  const side = geometry.sideOf(level, content)
  const at = /** @type {At} */ ([level, Math.floor(query / side), Math.floor(key / side)])
  const found = tiles.get(keyOf(view, at))
  const block = geometry.blockOf(level)
  /** @type {(side: number, at: number, count: number) => string} */
  const named = (side, at, count) => {
    if (block === 1) return `${at.toLocaleString("en")} “${textOf(view, side, at)?.trim() ?? "…"}”`
    const start = Math.floor(at / block) * block
    const end = Math.min(count, start + block) - 1
    return `${start.toLocaleString("en")}–${end.toLocaleString("en")}`
  }
  const where = `query ${named(0, query, content.rows)}, key ${named(1, key, content.columns)}`
  if (!found) return where
  const [r, c] = [(query % side) / block, (key % side) / block].map(Math.floor)
  const cell = r * found.tile.width + c
  if (found.weights) return `${where}: ${inFull(found.weights[cell])}`
  const shade = found.shades[cell]
  const about = geometry.weightOf(shade, content.least).toPrecision(2)
  const words = shade === 0 ? "no weight" : shade === 1 ? `up to ${about}` : `about ${about}`
  return `${where}: ${block > 1 && shade ? "the greatest " : ""}${words}`
}
