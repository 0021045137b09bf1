import { component } from "../shared/component.js"
import { whenBack } from "../shared/cuts.js"
import { make, setLengths } from "../shared/elements.js"
import { listen, makeFar, makeLegend, makeSearch, makeZoom, pointAt } from "./controls.js"
import * as geometry from "./geometry.js"
import { EDGE, keep, keyOf, leftOf, NAMED, roomOf, rowOf, textOf, wantedTiles } from "./known.js"
import { choose, next } from "./moving.js"
import { paint, paintWhole } from "./painting.js"
import { BARS, paintRow, showFar, tell } from "./reading.js"
import { layText, leadTo, makeText, missing } from "./text.js"

/** @import { MapAsked, MapFound, MapLink, MapTile, StreetMapHeader } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @import { At, Place } from "./geometry.js"
    @typedef {{ tile: MapTile, done: number, shades: Uint8Array, weights: Float32Array | null,
      canvas: HTMLCanvasElement, look: string }} Tile
    @typedef {Pick<MapAsked, "block" | "words" | "side" | "far">} Wish
    @typedef {ReturnType<typeof build>} View */

const MOST_TILES = 160 // each takes up to a third of a megabyte
const MOST_NUMBERS = 1 << 22 // of rows
const MOST_CHUNKS = 256
const AT_ONCE = 64
const TEXTS_AT_ONCE = 8
const PATIENCE = 4000 // milliseconds, after which an answer is not waited for any more
const LOOK_AGAIN = 400 // milliseconds, while a first look stands for the rest
const SOON = 5
const SETTLED = 500 // milliseconds after which the server hears where one looks
const NOTHING = /** @type {Wish} */ ({ block: [], words: "", side: 0, far: [] })
const MAP = "Weights of the head: queries down, keys across"
const KEYS =
  "Arrow keys move the chosen cell, Page Up and Page Down by a screen, plus and minus zoom, 0 shows all."

/** @type {Set<View>} */
const views = new Set()

export default component(build, draw, again)

/* What was asked while the server was away is lost. */
whenBack(() => {
  for (const view of views) {
    view.waiting = 0
    ask(view)
  }
})

/** @param {Mount<"street_map">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const tools = make("div", "tools", frame)
  const columns = make("div", "columns", frame)
  const [left, right] = [make("div", "left", columns), make("div", "right", columns)]
  const plot = make("div", "plot", left, { tabIndex: 0, role: "application", ariaLabel: MAP })
  const ground = make("div", "ground", plot)
  const canvas = make("canvas", "map", plot, { ariaHidden: "true" })
  const foot = make("div", "foot", left)
  const beside = make("div", "", foot)
  const readout = make("p", "readout", beside)
  const way = make("p", "way", beside)
  const progress = make("progress", "", way, { max: 1, ariaLabel: "Reading the map" })
  const wayWords = make("span", "", way)
  const legend = make("div", "legend", beside)
  const whole = make("canvas", "whole", foot, { ariaHidden: "true" })
  plot.setAttribute("aria-description", KEYS)
  const told = make("p", "told", right, { role: "status" })
  make("h3", "", right, { textContent: "The row of the chosen query" })
  const bars = make("canvas", "bars", right, { role: "img" })
  const greatest = make("ol", "links", right, { ariaLabel: "Its greatest weights" })
  const view = {
    ...{ content, send, frame, plot, ground, canvas, readout, way, progress, wayWords, legend },
    ...{ whole, pointer: /** @type {MouseEvent | null} */ (null), soon: () => {} },
    ...{ told, bars, greatest, width: 0, map: "", taken: /** @type {unknown} */ (null) },
    ...{ scale: make("canvas", "", null), bounds: make("span", "", null) },
    text: makeText(right),
    place: /** @type {Place} */ ({ left: 0, top: 0, cell: 0 }),
    chosen: /** @type {[number, number]} */ ([-1, -1]), // query and key, −1: the greatest
    announced: /** @type {[number, number]} */ ([-1, -1]),
    led: -1, // the query that the server is known to follow
    even: false,
    look: "",
    table: geometry.tableOf(new Uint32Array(512), 0.5, false),
    tiles: /** @type {Map<string, Tile>} */ (new Map()),
    rows: /** @type {Map<string, { weights: Float32Array, greatest: MapLink[] }>} */ (new Map()),
    texts: /** @type {Map<string, string[]>} */ (new Map()),
    wish: { ...NOTHING },
    waiting: 0, // since when, 0: for nothing
    answered: 0, // when
    frames: 0,
    timer: 0,
    said: "", // the cell and the part that the server knows
    moved: 0, // when
    found: /** @type {MapFound} */ ({ words: "", side: 0, positions: [] }),
    at: -1, // of the places found
    search: makeSearch(tools),
    far: makeFar(right),
  }
  view.soon = () => soon(view)
  view.text.changed = view.soon
  view.text.pick = (at) =>
    view.content.sides === 1 ? choose(view, at, -1) : choose(view, view.chosen[0], at)
  makeZoom(view, tools)
  makeLegend(view)
  listen(view)
  return view
}

/** @type {(view: View) => void} */
function draw(view) {
  const { content } = view
  for (const other of views) if (!other.frame.isConnected) views.delete(other)
  views.add(view)
  if (view.taken !== content) take(view)
  again(view)
}

/** @type {(view: View) => void} */
function again(view) {
  view.width = view.frame.clientWidth
  if (!view.width) return
  lay(view)
  paintAll(view)
  ask(view)
}

/** @type {(view: View) => void} */
function paintAll(view) {
  announce(view)
  paint(view)
  paintWhole(view)
  paintRow(view)
  tell(view)
  pointAt(view, view.pointer)
  const waits = !rowOf(view) || wantedTiles(view).some((at) => lacks(view, at) === "missing")
  view.plot.ariaBusy = String(waits)
  view.plot.dataset.map = view.map
  const isWhole = view.place.cell <= geometry.fitting(view.content, roomOf(view))
  view.plot.style.touchAction = isWhole ? "pan-y" : "none" // then a finger scrolls the page
}

/** Tells who holds the map, as a notebook does, of another cell that is chosen.
    @type {(view: View) => void} */
function announce(view) {
  const [query, key] = view.chosen
  if (query === view.announced[0] && key === view.announced[1]) return
  view.announced = [query, key]
  const detail = { detail: view.announced, bubbles: true }
  view.frame.dispatchEvent(new CustomEvent("chosen", detail))
}

/** @type {(view: View) => void} */
function lay(view) {
  const { plot, canvas, content, bars, width } = view
  const { width: wide, height } = roomOf(view)
  for (const element of [plot, canvas])
    setLengths(element, { width: leftOf(width) + wide, height: EDGE.top + height })
  setLengths(bars, { height: BARS })
  const least = geometry.fitting(content, { width: wide, height })
  const { left, top, cell } = view.place
  const whole = { left: 0, top: 0, cell: least }
  const now = cell ? { left, top, cell: Math.max(cell, least) } : whole
  view.place = geometry.within(now, content, { width: wide, height })
}

/** Takes over what has come.
    @type {(view: View) => void} */
function take(view) {
  const { content } = view
  const { map, rows, columns, numbers, rest, done } = content
  if (map !== view.map) {
    const run = map.split(" ")[0]
    if (run !== view.map.split(" ")[0] || view.text.count !== columns) {
      Object.assign(view, { place: { left: 0, top: 0, cell: 0 }, chosen: [rows - 1, -1], led: -1 })
      layText(view.text, columns)
      view.texts.clear()
      Object.assign(view.found, { words: "", positions: [] })
    } else {
      view.chosen = [Math.min(view.chosen[0], rows - 1), view.chosen[1]]
    }
    view.far.list.replaceChildren()
    view.far.words.textContent = ""
    view.map = map
  }
  if (content.chosen >= 0 && content.chosen !== view.led) view.chosen = [content.chosen, -1]
  view.led = content.chosen
  view.taken = content
  view.waiting = 0
  view.answered = performance.now()
  let [byte, number] = [0, 0]
  for (const tile of content.tiles) {
    const count = tile.height * tile.width
    const exact = tile.level === geometry.EXACT
    const weights = exact ? numbers.slice(number, number + count) : null
    const shades = weights
      ? Uint8Array.from(weights, (weight) => geometry.shadeOfWeight(weight, content.least))
      : rest.slice(byte, byte + count)
    if (exact) number += count
    else byte += count
    const key = keyOf(view, [tile.level, tile.row, tile.column])
    const canvas = view.tiles.get(key)?.canvas ?? make("canvas", "")
    keep(view.tiles, key, { tile, done, shades, weights, canvas, look: "" }, MOST_TILES)
  }
  if (content.row >= 0) {
    const weights = numbers.slice(number, number + columns)
    const most = Math.max(2, Math.floor(MOST_NUMBERS / columns))
    keep(view.rows, `${map} ${content.row}`, { weights, greatest: content.greatest }, most)
  }
  for (const { side, chunk, texts } of content.texts)
    keep(view.texts, `${side} ${chunk}`, texts, MOST_CHUNKS)
  if (content.cell) {
    view.chosen = content.cell
    leadTo(view.text, content.cell[1])
  }
  const row = rowOf(view)
  if (row && view.chosen[1] < 0) {
    view.chosen[1] = row.greatest[0]?.key ?? 0
    leadTo(view.text, view.chosen[1])
  }
  if (content.found) {
    Object.assign(view, { found: content.found, at: -1 })
    next(view)
  }
  if (content.links) showFar(view, content.links)
}

/** Whether a tile is not there, or more is known of it by now.
    @type {(view: View, at: At) => "missing" | "old" | ""} */
function lacks(view, at) {
  const { content, tiles } = view
  const found = tiles.get(keyOf(view, at))
  if (!found) return "missing"
  const side = geometry.sideOf(at[0], content)
  const [start, end] = [at[1] * side, Math.min(content.rows, (at[1] + 1) * side)]
  const more = content.done > start && found.done < Math.min(end, content.done)
  return !found.tile.final && more ? "old" : ""
}

/** Asks for all that is not there yet, once the last answer has come.
    @type {(view: View) => void} */
function ask(view) {
  const { content, chosen, wish } = view
  clearTimeout(view.timer)
  const left = view.waiting + PATIENCE - performance.now()
  if (view.waiting && left > 0) {
    view.timer = window.setTimeout(() => ask(view), left)
    return
  }
  if (!view.width || !view.frame.isConnected) return
  const under = content.done < content.rows
  const tiles = wantedTiles(view)
  const gone = tiles.filter((at) => lacks(view, at) === "missing")
  const old = tiles.filter((at) => lacks(view, at) === "old")
  /** @type {At} */
  const whole = [content.top, 0, 0]
  if (!under && lacks(view, whole)) old.push(whole)
  const row = rowOf(view) || wish.block.length ? -1 : chosen[0]
  const texts = missingTexts(view)
  const wishes = wish.block.length + wish.words.length + wish.far.length
  const other = content.chosen >= 0 && content.chosen !== chosen[0]
  const now = gone.length + texts.length + wishes + (row >= 0 || other ? 1 : 0)
  const place = geometry.partOf(view.place, content, roomOf(view))
  const said = [...chosen, ...place].join(",")
  view.said ||= said
  const settles = said === view.said ? 0 : view.moved + SETTLED - performance.now()
  if (!now && settles > 0) {
    view.timer = window.setTimeout(() => ask(view), settles)
    return
  }
  if (!now && !old.length && !under && said === view.said) return
  if (!now && said === view.said && performance.now() < view.answered + LOOK_AGAIN) {
    view.timer = window.setTimeout(() => ask(view), view.answered + LOOK_AGAIN - performance.now())
    return
  }
  view.waiting = performance.now()
  view.led = chosen[0]
  view.said = said
  view.timer = window.setTimeout(() => ask(view), PATIENCE)
  view.send("ask", {
    ...{ map: content.map, tiles: [...gone, ...old].slice(0, AT_ONCE), texts },
    ...{ row, ...wish, shown: tiles.slice(0, AT_ONCE), query: chosen[0] },
    ...{ key: chosen[1], place },
  })
  view.wish = { ...NOTHING }
}

/** Chunks of texts that are to be seen and are not there yet.
    @type {(view: View) => [number, number][]} */
function missingTexts(view) {
  const { content, chosen, place, text } = view
  const { sides, chunk, rows, columns } = content
  const chunks = new Set()
  /** @type {(side: number, at: number) => void} */
  const want = (side, at) => {
    const count = side ? columns : rows
    if (at >= 0 && at < count && textOf(view, side, at) === null)
      chunks.add(`${Math.min(side, sides - 1)} ${Math.floor(at / chunk)}`)
  }
  want(0, chosen[0])
  want(1, chosen[1])
  if (place.cell >= NAMED) {
    const room = roomOf(view)
    for (const end of [0, 1]) {
      want(0, Math.floor(place.top + (end * room.height) / place.cell))
      want(1, Math.floor(place.left + (end * room.width) / place.cell))
    }
  }
  for (const start of missing(text, (at) => textOf(view, 1, at))) want(1, start)
  const asked = /** @type {[number, number][]} */ (
    [...chunks].map((words) => String(words).split(" ").map(Number))
  )
  return asked.slice(0, TEXTS_AT_ONCE)
}

/** Something has moved.
    @type {(view: View) => void} */
function soon(view) {
  paintSoon(view)
  view.moved = performance.now()
  if (!view.waiting) {
    clearTimeout(view.timer)
    view.timer = window.setTimeout(() => ask(view), SOON)
  }
}

/** @type {(view: View) => void} */
function paintSoon(view) {
  if (!view.frames)
    view.frames = requestAnimationFrame(() => {
      view.frames = 0
      if (view.width) paintAll(view)
    })
}
