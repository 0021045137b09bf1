import { writeBars } from "./bars.js"
import { wholeView } from "./copying.js"
import { make } from "./elements.js"
import { pencil } from "./painter.js"
import { savePicture } from "./svg.js"

/** A card of what is shown, to share: its sentences, what is found in words, the map, bars and a code
    that opens the view, in the colours and letters of the app.

    @typedef {{ word: string, fill: string, ink: string, edge: string }} Pill
    @typedef {{ title: string, texts: string[], shares: number[], colour: string }} Bars
    @typedef {{ pills: Pill[][], map: HTMLCanvasElement | null, bars: Bars[],
      told: string[] }} Card */

const MOST_ROWS = 8 // of a set of bars
const ROWS_BELOW = 5 // a title and bars, below a wide map
const ROW = 15 // pixels
const LONGEST_WORD = 24 // letters
const LONGEST_LINK = 425 // letters: the code of more is too fine for a phone
const STYLE = `
.card { position: fixed; left: 0; top: 0; box-sizing: border-box; width: 600px; height: 315px; padding: 22px 24px 14px; font-size: 11px; line-height: ${ROW}px; color: var(--st-text-color); display: grid; grid-template: auto auto minmax(0, 1fr) ${ROW}px / minmax(0, 1fr) auto; gap: 10px 20px; }
.card > * { grid-column: 1 / -1; min-width: 0; }
.lines { display: grid; gap: 6px; }
p { display: flex; flex-wrap: wrap; gap: 5px; max-height: 55px; margin: 0; font-size: 15px; line-height: 25px; }
p bdi { box-sizing: border-box; height: 25px; max-width: 100%; padding: 0 6px; border-radius: 5px; outline: 2px none; white-space: pre; }
.lines:has(p + p) p { max-height: 44px; font-size: 12px; line-height: 20px; gap: 4px; }
.lines:has(p + p) bdi { height: 20px; }
.told { max-height: 57px; font-size: 14px; line-height: 19px; overflow-wrap: anywhere; }
.body { grid-column: 1; display: flex; gap: 10px 20px; align-items: start; }
.body.wide { flex-direction: column; align-items: stretch; }
.body canvas { flex: none; align-self: start; }
.sets { flex: 1; align-self: stretch; min-width: 0; min-height: 0; display: grid; grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); gap: 6px 16px; align-content: start; }
.sets > * { min-width: 0; }
p bdi, .name, .piece { overflow: hidden; text-overflow: ellipsis; white-space: pre; }
.name { font-weight: 600; }
.row { display: grid; grid-template-columns: minmax(40px, 3fr) 4fr 38px; gap: 5px; align-items: center; }
.bar i { display: block; height: 9px; }
.card > svg { grid-area: 3 / 2 / 5 / 3; align-self: end; width: 112px; height: 112px; }
small { grid-row: 4; font-size: 10px; }`

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

/** Saves the card of what stands on the page as it is now.
    @type {(link?: string) => void} */
export function saveCard(link) {
  if (offered) saveCardOf(offered.cardOf(), offered.frame, link)
}

/** Saves a card as a PNG file of 1200 by 630, in the looks of the element that it is of, within which
    it stands for that moment; link: to the view. Without a map all bars have one scale: they are
    compared.
    @type {(card: Card, frame: Element, link?: string) => Promise<void>} */
export async function saveCardOf(
  { pills, map, bars, told },
  frame,
  link = wholeView(location.href),
) {
  const code = await codeOf(link)
  const host = make("div", "", frame)
  const root = host.attachShadow({ mode: "open" })
  make("style", "", root, { textContent: STYLE })
  const card = make("div", "card", root)
  const lines = make("div", "lines", card)
  for (const line of pills) writePills(make("p", "", lines), line)
  if (told.length) writeWords(make("div", "told", card), told.join(" "))
  const body = make("div", "body", card)
  const { host: name, pathname } = new URL(link)
  const opens = code ? " · the code opens this very view" : ""
  make("small", "", card, { textContent: `${name}${pathname}${opens}` })
  if (code) card.append(code)
  if (map) copyMap(body, map)
  writeSets(
    make("div", "sets", body),
    bars,
    map ? 0 : Math.max(...bars.flatMap((each) => each.shares)),
  )
  savePicture("attention", [card])
  host.remove()
}

/** The QR code of a link, null where no server of the app draws one, or it would be too fine.
    @type {(link: string) => Promise<Element | null>} */
async function codeOf(link) {
  if (!link.startsWith("http") || link.length > LONGEST_LINK) return null
  const answer = await fetch(`qr.svg?${new URLSearchParams({ link })}`).catch(() => null)
  if (!answer?.headers.get("content-type")?.startsWith("image/svg")) return null
  return new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement
}

/** Takes from what is in a box until it has room there; take: gives false where nothing is left.
    @type {(box: Element, take: () => boolean) => void} */
function fit(box, take) {
  while (box.scrollHeight > box.clientHeight + 3) if (!take()) return
}

/** Words in their fills, as many as have room around the chosen one.
    @type {(line: HTMLElement, pills: Pill[]) => void} */
function writePills(line, pills) {
  const made = pills.map(({ word, fill, ink, edge }) => {
    const pill = make("bdi", "", line, { textContent: word.replace(/\s/g, " ") })
    const outlineStyle = edge ? "solid" : "none"
    Object.assign(pill.style, { background: fill, color: ink, outlineColor: edge, outlineStyle })
    return pill
  })
  const chosen = Math.max(
    0,
    pills.findIndex(({ edge }) => edge),
  )
  const ends = [0, pills.length - 1]
  fit(line, () => {
    const [first, last] = ends
    const end = Number(chosen - first <= last - chosen)
    made[ends[end]].remove()
    ends[end] += end ? -1 : 1
    const cut = made[ends[end]]
    if (ends[end] !== chosen) Object.assign(cut, { textContent: "…" }).style.cssText = ""
    return ends[0] < ends[1]
  })
}

/** @type {(box: HTMLElement, told: string) => void} */
function writeWords(box, told) {
  const words = told.split(/\s+(?!%)/).map((word) => {
    const letters = [...word.replace(" ", "\u00a0")]
    const cut = letters.length > LONGEST_WORD ? "…" : ""
    return `${letters.slice(0, LONGEST_WORD).join("")}${cut}`
  })
  box.textContent = words.join(" ")
  fit(box, () => {
    words.pop()
    box.textContent = `${words.join(" ")} …`
    return words.length > 0
  })
}

/** As many rows of each set as have room; most: the share of a whole bar, 0 = each set has its own.
    @type {(sets: HTMLElement, bars: Bars[], most: number) => void} */
function writeSets(sets, bars, most) {
  const write = (/** @type {number} */ count) => {
    sets.replaceChildren()
    for (const { title, texts, shares, colour } of bars) {
      const set = make("div", "", sets)
      make("div", "name", set, { textContent: title })
      const rows = make("div", "", set)
      writeBars(rows, texts.slice(0, count), shares, most || Math.max(0.01, ...shares), "span")
      for (const { style } of rows.querySelectorAll("i")) style.background = colour
    }
  }
  let count = MOST_ROWS
  write(count)
  fit(sets, () => {
    write(--count)
    return count > 1
  })
}

/** A copy of a map, as large as it has room beside bars, or above them where it is wide; of few cells
    each stays one colour.
    @type {(body: HTMLElement, map: HTMLCanvasElement) => void} */
function copyMap(body, map) {
  const { clientWidth, clientHeight } = body
  const wide = map.width > 2 * map.height && clientHeight > 2 * ROWS_BELOW * ROW
  body.classList.toggle("wide", wide)
  const room = wide ? [1, clientHeight - ROWS_BELOW * ROW - 10] : [0.45, clientHeight]
  const scale = Math.min((room[0] * clientWidth) / map.width, room[1] / map.height)
  const canvas = make("canvas", "", body, { width: map.width, height: map.height })
  canvas.style.width = `${map.width * scale}px`
  if (canvas.width) pencil(canvas).drawImage(map, 0, 0)
}
