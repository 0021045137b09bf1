import { writeBars } from "./bars.js"
import { make } from "./elements.js"
import { pencil } from "./painter.js"
import { savePicture } from "./svg.js"

/** A card of what is shown, to share: its sentence, the map, bars and what is told, in the colours
    and letters of the app.

    @typedef {{ word: string, fill: string, ink: string, edge: string }} Pill
    @typedef {{ title: string, texts: string[], shares: number[], colour: string }} Bars
    @typedef {{ pills: Pill[][], map: HTMLCanvasElement | null, bars: Bars[],
      told: string[] }} Card */

const MAP = [360, 150] // pixels that a map has at most
const FEW_ROWS = 3 // of each of several sets of bars beside a map
const MOST_ROWS = 10
const STYLE = `
.card { position: fixed; left: 0; top: 0; box-sizing: border-box; width: 600px; height: 315px; padding: 24px; font-size: 12px; color: var(--st-text-color); display: flex; flex-direction: column; gap: 10px; }
p { display: flex; flex-wrap: wrap; gap: 5px; max-height: 55px; margin: 0; font-size: 15px; line-height: 25px; }
p bdi { height: 25px; padding: 0 6px; border-radius: 5px; outline: 2px none; white-space: pre; }
.body { display: flex; gap: 24px; align-items: start; }
.body canvas { flex: none; }
.sets { flex: 1; display: grid; grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); gap: 5px 14px; font-size: 10px; max-width: 330px; line-height: 13px; }
.sets.alone { max-width: none; }
.row { display: grid; grid-template-columns: 52px 1fr 36px; gap: 4px; align-items: center; white-space: pre; overflow: hidden; }
.bar i { display: block; height: 9px; }
.told { line-height: 17px; }
small { position: absolute; inset: auto 0 0; padding: 3px 24px 8px; font-size: 9px; background: var(--st-background-color); }`

/** The card of what stands on the page, once something there has one. */
let offered = /** @type {{ frame: Element, cardOf: () => Card } | null} */ (null)

/** Tell how the card of an element is made, until another one does.
    @type {(frame: Element, cardOf: () => Card) => void} */
export function offerCard(frame, cardOf) {
  offered = { frame, cardOf }
}

/** True if something on the page has a card. */
export function hasCard() {
  return Boolean(offered?.frame.isConnected)
}

/** Saves the card of what stands on the page as it is now. */
export function saveCard() {
  if (offered) saveCardOf(offered.cardOf(), offered.frame)
}

/** Saves a card as a PNG file of 1200 by 630, in the looks of the element that it is of, within which
    it stands for that moment. Without a map all bars have one scale: they are compared.
    @type {(card: Card, frame: Element) => void} */
export function saveCardOf({ pills, map, bars, told }, frame) {
  const host = make("div", "", frame)
  const root = host.attachShadow({ mode: "open" })
  make("style", "", root, { textContent: STYLE })
  const card = make("div", "card", root)
  for (const line of pills) writePills(make("p", "", card), line)
  const body = make("div", "body", card)
  if (map) copyMap(make("canvas", "", body), map)
  const sets = make("div", map ? "sets" : "sets alone", body)
  for (const { title, texts, shares, colour } of bars) {
    const set = make("div", "", sets, { textContent: title })
    const count = map && bars.length > 1 ? FEW_ROWS : MOST_ROWS
    const most = Math.max(0.01, ...(map ? shares : bars.flatMap((each) => each.shares)))
    const rows = writeBars(set, texts.slice(0, count), shares, most, "span")
    for (const { style } of rows.flatMap((row) => [...row.querySelectorAll("i")]))
      style.background = colour
  }
  for (const textContent of told) make("div", "told", card, { textContent })
  make("small", "", card, { textContent: `${location.host}${location.pathname}` })
  savePicture("attention", [card])
  host.remove()
}

/** Words in their fills, as many as have room in two lines.
    @type {(line: HTMLElement, pills: Pill[]) => void} */
function writePills(line, pills) {
  for (const { word, fill, ink, edge } of pills) {
    const looks = { background: fill, color: ink, outlineColor: edge, outlineStyle: "solid" }
    const pill = make("bdi", "", line, { textContent: word })
    Object.assign(pill.style, edge ? looks : { ...looks, outlineStyle: "none" })
    if (line.scrollHeight > line.clientHeight + 3) return pill.remove()
  }
}

/** A copy of a map, as large as it has room; of few cells each stays one colour.
    @type {(canvas: HTMLCanvasElement, map: HTMLCanvasElement) => void} */
function copyMap(canvas, map) {
  const scale = Math.min(MAP[0] / map.width, MAP[1] / map.height)
  Object.assign(canvas, { width: map.width, height: map.height })
  canvas.style.width = `${map.width * scale}px`
  if (canvas.width) pencil(canvas).drawImage(map, 0, 0)
}
