import { save } from "./svg.js"

/** A card of what is shown, to share: its sentence, the map, bars and what is told, in the colours
    and letters of the app.

    @typedef {{ word: string, fill: string, ink: string, edge: string }} Pill
    @typedef {{ title: string, texts: string[], shares: number[], colour: string }} Bars
    @typedef {{ pills: Pill[][], map: HTMLCanvasElement, bars: Bars[], told: string[] }} Card
    @typedef {{ font: string, ink: string, ground: string }} Looks */

const WIDTH = 1200
const HEIGHT = 630
const MARGIN = 48
const PILL = 50
const MAP_WIDTH = 720
const MAP_HEIGHT = 300
const ROW = 27
const FEW_ROWS = 3 // of each of several sets of bars
const MOST_ROWS = 10
const LABEL = 120
const SHARE = 72
const LONGEST_BAR = 400

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

/** Saves a card as a PNG file, in the looks of the element that it is of.
    @type {(card: Card, frame: Element) => void} */
export function saveCardOf(card, frame) {
  const style = getComputedStyle(frame)
  const ground = style.getPropertyValue("--st-background-color").trim()
  const looks = { font: style.fontFamily, ink: style.color, ground }
  drawCard(card, looks).toBlob((blob) => blob && save("attention.png", blob))
}

/** @type {(card: Card, looks: Looks) => HTMLCanvasElement} */
function drawCard(card, looks) {
  const canvas = Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT })
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"))
  const write = writer(context, looks)
  context.fillStyle = looks.ground
  context.fillRect(0, 0, WIDTH, HEIGHT)
  context.textBaseline = "middle"
  let y = MARGIN
  for (const line of card.pills) y = drawPills(context, looks, line, y) + 20
  const room = card.bars.length ? MAP_WIDTH : WIDTH - 2 * MARGIN
  const scale = Math.min(room / card.map.width, MAP_HEIGHT / card.map.height)
  const [wide, high] = [card.map.width * scale, card.map.height * scale]
  context.imageSmoothingEnabled = scale < 1 // of few cells each stays one colour
  context.drawImage(card.map, MARGIN, y, wide, high)
  const end = drawBars(context, card, MARGIN + wide + 48, y, write)
  let below = Math.max(y + high + 34, end + 24, card.bars.length ? 470 : 0)
  for (const text of card.told)
    for (const line of wrapped(context, text, looks.font)) {
      if (below > HEIGHT - 60) break
      write(line, MARGIN, below, 24)
      below += 34
    }
  write(`${location.host}${location.pathname}`, MARGIN, HEIGHT - 26, 18)
  return canvas
}

/** Pills from left to right, on up to two lines. Gives where they end.
    @type {(context: CanvasRenderingContext2D, looks: Looks, pills: Pill[], y: number) => number} */
function drawPills(context, { font }, pills, y) {
  let [x, line] = [MARGIN, y]
  context.font = `500 30px ${font}`
  for (const { word, fill, ink, edge } of pills) {
    const wide = context.measureText(word).width + 26
    if (x + wide > WIDTH - MARGIN) {
      if (line > y) break
      x = MARGIN
      line += PILL + 10
    }
    context.fillStyle = fill
    context.beginPath()
    context.roundRect(x, line, wide, PILL, 10)
    context.fill()
    if (edge) {
      context.strokeStyle = edge
      context.lineWidth = 4
      context.stroke()
    }
    context.fillStyle = ink
    context.fillText(word, x + 13, line + PILL / 2 + 2)
    x += wide + 10
  }
  return line + PILL
}

/** Sets of bars, one below the other. Gives where they end.
    @type {(context: CanvasRenderingContext2D, card: Card, left: number, top: number,
      write: ReturnType<typeof writer>) => number} */
function drawBars(context, { bars }, left, top, write) {
  const room = Math.min(LONGEST_BAR, WIDTH - MARGIN - left - LABEL - SHARE)
  const shown = bars.length > 1 ? FEW_ROWS : MOST_ROWS
  let y = top + 12
  for (const { title, texts, shares, colour } of bars) {
    const most = Math.max(0.01, ...shares)
    write(title, left, y, 18)
    y += ROW
    for (const [at, text] of texts.slice(0, shown).entries()) {
      write(text.slice(0, 12), left, y, 20)
      context.fillStyle = colour
      context.fillRect(left + LABEL, y - 9, Math.max(2, (room * shares[at]) / most), 18)
      write(`${(100 * shares[at]).toFixed(0)} %`, left + LABEL + room + 12, y, 20)
      y += ROW
    }
    y += 10
  }
  return y - 10
}

/** @type {(context: CanvasRenderingContext2D, looks: Looks)
      => (text: string, x: number, y: number, size: number) => void} */
function writer(context, { font, ink }) {
  return (text, x, y, size) => {
    context.font = `${size}px ${font}`
    context.fillStyle = ink
    context.fillText(text, x, y)
  }
}

/** A text in lines as wide as the card.
    @type {(context: CanvasRenderingContext2D, text: string, font: string) => string[]} */
function wrapped(context, text, font) {
  context.font = `24px ${font}`
  const lines = [""]
  for (const word of text.split(" ")) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim()
    if (context.measureText(longer).width > WIDTH - 2 * MARGIN) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines.filter(Boolean)
}
