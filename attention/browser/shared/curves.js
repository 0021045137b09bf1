import { make, makeShape, setAttributes } from "./elements.js"

/** Room of a plot in pixels of its own, and around its curves.
    @typedef {{ width: number, height: number, left: number, right: number, top: number,
      bottom: number }} Room
    @typedef {ReturnType<typeof makePlot>} Plot */

/** A plot below its title, as wide as there is room for, with a line at one moment.
    @param {HTMLElement} parent
    @param {string} title
    @param {Room} room
    @param {number} most pixels that it may be wide
    @param {string} label what it shows */
export function makePlot(parent, title, room, most, label = title) {
  const { width, height, left, right, top, bottom } = room
  make("h3", "", parent, { textContent: title })
  const wide = Math.min(width, most)
  const size = { width: wide, height: (wide * height) / width }
  const looks = { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }
  const svg = makeShape("svg", { ...looks, ...size }, parent)
  const [end, floor] = [width - right, height - bottom]
  const now = makeShape("line", { class: "now", x1: left, x2: left, y1: top, y2: floor })
  return { svg, now, left, end, top, floor, height }
}

/** @type {(plot: Plot, x: number, y: number, anchor: string, words: string) => void} */
export function writeIn({ svg }, x, y, anchor, words) {
  makeShape("text", { "text-anchor": anchor, x, y }, svg).textContent = words
}

/** Moves the line of a moment there.
    @type {(plot: Plot, x: number) => void} */
export function markMoment({ now }, x) {
  setAttributes(now, { x1: x, x2: x })
}

/** Where a share of the whole lies across a plot.
    @type {(plot: Pick<Plot, "left" | "end">, share: number) => number} */
export function acrossOf({ left, end }, share) {
  return left + share * (end - left)
}

/** @type {(plot: Pick<Plot, "top" | "floor">, share: number) => number} */
export function downOf({ top, floor }, share) {
  return floor - share * (floor - top)
}

/** A line through some points, "" where there is none.
    @type {(points: number[][]) => string} */
export function pathOf(points) {
  const line = points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`)
  return line.length ? `M${line.join("L")}` : ""
}
