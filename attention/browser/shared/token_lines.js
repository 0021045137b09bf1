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

/** The keys from the largest weight to the smallest, whatever their signs.
    @type {(weights: Float32Array) => number[]} */
export function byWeight(weights) {
  const sizes = weights.map(Math.abs)
  return [...weights.keys()].sort((a, b) => sizes[b] - sizes[a])
}

/** The keys of the largest weights, in their own order.
    @type {(weights: Float32Array, most: number) => number[]} */
export function strongest(weights, most) {
  return byWeight(weights)
    .slice(0, most)
    .sort((a, b) => a - b)
}
