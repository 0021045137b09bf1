import { palette } from "../shared/colours.js"
import { make, viewIn, whenThemed } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { adopt, whenMoved, where } from "../shared/place.js"
import { fontOf } from "../shared/plotly.js"
import { buildDiagram } from "./diagram.js"
import { buildHeatmap } from "./heatmap.js"
import { buildLines } from "./lines.js"
import { buildSum } from "./sum.js"

/** What all parts are drawn from: `PictureHeader` in Python, then the numbers of each stage, and
    which masks hide each cell. Where a sentence is its own memory, `own`, its tokens are the keys.
    `theme` is the page's.
    @typedef {{ zmin: number, zmax: number, diverging: boolean, words: string }} Stage
    @typedef {{ x: string[], y: string[], xgap?: number, texttemplate?: string }} Heat
    @typedef {{ parts: (keyof typeof BUILDERS)[], rows: number, columns: number,
      width: number, tokens: string[], known: boolean[], keys: string[], keysKnown: boolean[],
      own: boolean, scale: number, sent: string[], head: number | null, masks: string[],
      emptyRow: string, caption: { before: string, after: string }, heat: Heat, layout: any,
      beside: object[],
      room: [number, number], entropy: (number | null)[], stages: Record<string, Stage>,
      numbers: Record<string, Float32Array>, hidden: Uint8Array, theme: Theme }} Content

    @typedef {Record<"sequential" | "diverging", string[]> & Record<"primary" | "background", string> &
      { font: ReturnType<typeof fontOf> }} Theme

    The terms of a sum: each of one key, or the last of the others together.
    @typedef {{ key: number | null, name: string, weight: number, cells: (number | null)[] }} Row
    @typedef {{ rows: Row[], terms: Float32Array, most: number, length: number }} Terms

    @import { Given, Place } from "../shared/message.js"
    @typedef {ReturnType<typeof where>} At
    @typedef {{ draw: (content: Content) => void, show: (at: At) => void }} Part
    @typedef {{ frame: HTMLElement, content: Content, parts: Part[], names: string }} View */

const BUILDERS = {
  lines: buildLines,
  heatmap: buildHeatmap,
  sum: buildSum,
  diagram: buildDiagram,
}

/** One picture of several parts, which all show the same query: the chosen one, or the one that is
    pointed at in any of them. All are drawn at once, for one frame of the screen. The theme is read
    before anything changes: asked for it amid changes, the browser would lay out the page.
    @type {(given: Given) => void} */
export default function ({ data, parentElement }) {
  const view = viewIn(parentElement, build)
  const theme = themeOf(view.frame)
  const { place, rest } = decode(data, "picture", 3)
  adopt(place)
  view.content = { ...contentOf(decode(rest, "content", 2)), theme }
  if (view.names !== view.content.parts.join()) compose(view)
  draw(view)
}

/** What has been decoded, its numbers stage by stage.
    @type {(header: any) => Omit<Content, "theme">} */
export function contentOf({ numbers: all, rest, ...header }) {
  const { rows, columns, width, sent, keys, tokens, keysKnown, known } = header
  /** @type {Record<string, number>} */
  const sizes = { values: columns * width, output: rows * width }
  /** @type {Record<string, Float32Array>} */
  const numbers = {}
  let from = 0
  for (const name of sent) {
    const until = from + (sizes[name] ?? rows * columns)
    numbers[name] = all.subarray(from, until)
    from = until
  }
  const memory = { own: keys === null, keys: keys ?? tokens, keysKnown: keysKnown ?? known }
  return { ...header, ...memory, numbers, hidden: rest }
}

/** @type {(parent: Place, view: View) => void} */
function build(parent, view) {
  view.frame = make("div", "attention-picture", parent)
  whenMoved(view.frame, () => view.parts && show(view))
  whenThemed(parent, () => {
    if (!view.parts) return
    view.content.theme = themeOf(view.frame)
    draw(view)
  })
}

/** @type {(view: View) => void} */
function compose(view) {
  const { parts } = view.content
  view.frame.replaceChildren()
  view.names = parts.join()
  view.frame.dataset.parts = parts.join(" ")
  view.parts = parts.map((name) => BUILDERS[name](make("section", `part ${name}`, view.frame)))
}

/** @type {(view: View) => void} */
function draw(view) {
  for (const part of view.parts) part.draw(view.content)
  show(view)
}

/** @type {(view: View) => void} */
function show({ content: { rows, stages }, parts }) {
  const { stage, ...at } = where(rows)
  const [only] = Object.keys(stages)
  const shown = [stage, "weights", only].find((name) => stages[name]) ?? only
  for (const part of parts) part.show({ ...at, stage: shown })
}

/** @type {(element: Element) => Theme} */
function themeOf(element) {
  const style = getComputedStyle(element)
  const [primary, background] = ["primary", "background"].map((name) =>
    style.getPropertyValue(`--st-${name}-color`),
  )
  const [sequential, diverging] = ["sequential", "diverging"].map((kind) => palette(element, kind))
  return { sequential, diverging, primary, background, font: fontOf(element) }
}
