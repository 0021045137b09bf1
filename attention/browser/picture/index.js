import { offerCard } from "../shared/card.js"
import { palette } from "../shared/colours.js"
import { component, isAnswered } from "../shared/component.js"
import { afterPaint, make } from "../shared/elements.js"
import { showInstead, whenInstead } from "../shared/instead.js"
import { decode } from "../shared/message.js"
import { fontOf } from "../shared/plotly.js"
import { whenMoved, where } from "../shared/selection.js"
import { buildArcs } from "./arcs.js"
import { cardOf } from "./card.js"
import { buildDiagram } from "./diagram.js"
import { buildHeatmap } from "./heatmap.js"
import { buildLines } from "./lines.js"
import { buildMixture } from "./mixture.js"
import { buildSum } from "./sum.js"

/** What all parts are drawn from: the header, then the numbers of each stage, and which masks hide
    each cell. Where a sentence is its own memory, `own`, its tokens are the keys. `theme` is the
    page's.
    Where the last word can be changed, `exchange` does so.
    @import { PictureHeader, DrawnHeader } from "../messages.js"
    @typedef {Omit<PictureHeader, "keys" | "keysKnown"> & { keys: string[], keysKnown: boolean[],
      own: boolean, numbers: Record<string, Float32Array>, hidden: Uint8Array, theme: Theme,
      switch: DrawnHeader["switch"], exchange?: (to: number) => void }} Content

    @typedef {Record<"sequential" | "diverging", string[]> & Record<"primary" | "background", string> &
      { font: ReturnType<typeof fontOf> }} Theme

    The terms of a sum: each of one key, or the last of the others together.
    @typedef {{ key: number | null, name: string, weight: number, length: number,
      share: number }} Row
    @typedef {{ rows: Row[], terms: Float32Array, most: number, length: number,
      rounding: number }} Terms

    @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof where>} At
    @typedef {{ draw: (content: Content) => void, show: (at: At) => void }} Part
    @typedef {ReturnType<typeof build>} View */

/** @type {Record<string, (parent: HTMLElement, content: Content) => Part>} */
const BUILDERS = {
  arcs: buildArcs,
  mixture: buildMixture,
  lines: buildLines,
  heatmap: buildHeatmap,
  sum: buildSum,
  diagram: buildDiagram,
}

/** One picture of several parts, which all show the same query: the chosen one, or the one that is
    pointed at in any of them. A heatmap is drawn at once, the others right after the frame with it.
    The theme is read before anything changes: asked for it amid changes, the browser would lay out
    the page. */
export const style = "shared/token_lines.css"
export default component(build, take, themed)

/** @param {Mount<"picture">} mount */
function build({ root, content, send }) {
  const frame = make("div", "attention-picture", root)
  const picture = /** @type {Content | null} */ (null)
  const parts = /** @type {Part[]} */ ([])
  const other = /** @type {Uint8Array} */ (new Uint8Array())
  const later = /** @type {Part[]} */ ([]) // not drawn yet
  const view = { content, frame, picture, parts, later, names: "", other, exchange }
  /** @type {(to: number) => void} */
  function exchange(to) {
    showInstead(view.other)
    send("word", to)
  }
  whenMoved(frame, () => {
    drawLater(view)
    if (view.picture) show(view.picture, view.parts)
  })
  whenInstead(frame, (rest) => fill(view, rest))
  return view
}

/** @type {(view: View) => void} */
function take(view) {
  const { rest, switch: between } = view.content
  const size = between?.size ?? rest.length
  view.other = rest.subarray(size)
  fill(view, rest.subarray(0, size))
}

/** @type {(view: View, rest: Uint8Array) => void} */
function fill(view, rest) {
  const { frame, content, exchange } = view
  const between = isAnswered(content, "word") ? content.switch : null
  const more = { theme: themeOf(frame), switch: between, exchange }
  view.picture = { ...contentOf(decode(rest)), ...more }
  frame.toggleAttribute("data-calm", view.picture.calm)
  frame.toggleAttribute("data-margins", content.margins)
  if (view.names !== content.drawn.join()) compose(view, view.picture)
  const { drawn } = content
  const now = view.parts.filter((_, at) => !drawn.includes("heatmap") || drawn[at] === "heatmap")
  view.later = view.parts.filter((part) => !now.includes(part))
  draw(view.picture, now)
  if (view.later.length) afterPaint(() => drawLater(view))
  const shows = drawn.includes("arcs") || drawn.includes("lines")
  if (shows && view.picture.numbers.weights) offerCard(frame, () => card(view))
}

/** @type {(view: View) => void} */
function drawLater(view) {
  if (view.picture) draw(view.picture, view.later)
  view.later = []
}

/** @type {(view: View) => import("../shared/card.js").Card} */
function card({ picture }) {
  const shown = /** @type {Content} */ (picture)
  return cardOf(shown, where(shown.rows).held)
}

/** @type {(view: View) => void} */
function themed(view) {
  const { frame, picture, parts } = view
  view.later = []
  if (picture) draw({ ...picture, theme: themeOf(frame) }, parts)
}

/** What has been decoded, its numbers stage by stage.
    @type {(header: import("../shared/message.js").Content<"picture_content">)
      => Omit<Content, "theme" | "switch">} */
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

/** @type {(view: View, picture: Content) => void} */
function compose(view, picture) {
  const { frame, content } = view
  frame.replaceChildren()
  view.names = content.drawn.join()
  frame.dataset.parts = content.drawn.join(" ")
  view.parts = content.drawn.map((name) =>
    BUILDERS[name](make("section", `part ${name}`, frame), picture),
  )
}

/** @type {(picture: Content, parts: Part[]) => void} */
function draw(picture, parts) {
  for (const part of parts) part.draw(picture)
  show(picture, parts)
}

/** @type {(picture: Content, parts: Part[]) => void} */
function show({ rows, stages }, parts) {
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
