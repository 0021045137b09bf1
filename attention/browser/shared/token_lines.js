import { sizeOf } from "./words.js"

/** How thick the line of a weight is, in pixels.
    @type {(weight: number) => number} */
export function widthOf(weight) {
  return 0.75 + 7 * sizeOf(weight)
}

/** @type {(x: number, from: number, end: number, to: number) => string} */
export function curve(x, from, end, to) {
  const middle = (x + end) / 2
  return `M${x},${from} C${middle},${from} ${middle},${to} ${end},${to}`
}
