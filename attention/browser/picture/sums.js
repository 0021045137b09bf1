import { byWeight } from "../shared/token_lines.js"
import { fixed, named, percent, positionOf } from "../shared/words.js"

/** @import { Content, Terms } from "./index.js" */

const MOST_TERMS = 32
const MOST_WRITTEN = 5
const MOST_LETTERS = 12
const STRIP_QUANTILE = 0.97

/** A row of a matrix that stands row after row.
    @template {Float32Array | Uint8Array} Numbers
    @param {Numbers} numbers
    @param {number} columns
    @param {number} row */
export function rowOf(numbers, columns, row) {
  return /** @type {Numbers} */ (numbers.subarray(row * columns, (row + 1) * columns))
}

/** The numbers of a stage. Scaled scores come along only where something was added to them; else
    they are worked out, in 32-bit floats as in Python.
    @type {(content: Pick<Content, "numbers" | "scale">, stage: string) => Float32Array} */
export function stageOf({ numbers, scale }, stage) {
  if (numbers[stage]) return numbers[stage]
  numbers.scaled ??= numbers.scores.map((score) => score * Math.fround(scale))
  return numbers.scaled
}

/** The scaled score of a cell, as `stageOf` has it.
    @type {(content: Pick<Content, "numbers" | "scale">, cell: number) => number} */
export function scaledAt({ numbers, scale }, cell) {
  return numbers.scaled?.[cell] ?? Math.fround(numbers.scores[cell] * Math.fround(scale))
}

/** What the values are multiplied by for one query.
    @typedef {Pick<Content, "columns" | "width" | "numbers">} Factors
    @type {(factors: Factors, query: number) => Float32Array} */
export function applied({ columns, numbers }, query) {
  return rowOf(numbers.mixed ?? numbers.weights, columns, query)
}

/** The terms w·v of some keys added up.
    @type {(factors: Factors, query: number, keys: Iterable<number>) => Float64Array} */
function sumOf(factors, query, keys) {
  const { width, numbers } = factors
  const weights = applied(factors, query)
  const sum = new Float64Array(width)
  for (const key of keys)
    for (let at = 0; at < width; at++)
      sum[at] += Math.fround(weights[key] * numbers.values[key * width + at])
  return sum
}

/** The terms of one query in the order of the keys, the weaker of many added up in one more row;
    the output stands below them; rounding: how far the sum of all terms is from it.
    @typedef {Factors & Pick<Content, "keys">} Summed
    @type {(summed: Summed, query: number) => Terms} */
export function termsOf(summed, query) {
  const { width, numbers, keys } = summed
  const weights = applied(summed, query)
  const output = rowOf(numbers.output, width, query)
  const squared = dot(output, output)
  const order = byWeight(weights)
  const rest = order.splice(MOST_TERMS)
  const groups = order.sort((a, b) => a - b).map((key) => [key])
  if (rest.length) groups.push(rest)
  const terms = new Float32Array((groups.length + 1) * width)
  const rows = groups.map((group, row) => {
    const term = sumOf(summed, query, group)
    rowOf(terms, width, row).set(term)
    const key = group === rest ? null : group[0]
    const share = squared ? dot(term, output) / squared : 0
    const weight = group.reduce((sum, key) => sum + weights[key], 0)
    const name = key === null ? `${rest.length} others` : keys[key]
    return { key, name, weight, length: lengthOf(term), share }
  })
  rowOf(terms, width, rows.length).set(output)
  const most = quantile(terms, STRIP_QUANTILE) || 1
  const apart = sumOf(summed, query, weights.keys()).map((number, at) => number - output[at])
  return { rows, terms, most, length: Math.sqrt(squared), rounding: lengthOf(apart) }
}

/** @typedef {ArrayLike<number>} Vector
    @type {(a: Vector, b: Vector) => number} */
function dot(a, b) {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at] * b[at]
  return sum
}

/** @type {(vector: Vector) => number} */
function lengthOf(vector) {
  return Math.sqrt(dot(vector, vector))
}

/** Below which that part of the sizes lies, as torch has it: between two of them in proportion.
    @type {(numbers: Float32Array, part: number) => number} */
export function quantile(numbers, part) {
  const sizes = numbers.map(Math.abs).sort()
  const at = part * (sizes.length - 1)
  const low = Math.floor(at)
  return sizes[low] + (at - low) * ((sizes[low + 1] ?? sizes[low]) - sizes[low])
}

/** The keys and weights of the strongest terms, and what the others come to.
    @type {(weights: Float32Array, most?: number) => { strongest: [number, number][], count: number,
      rest: number }} */
export function written(weights, most = MOST_WRITTEN) {
  const keys = byWeight(weights).filter((key) => weights[key])
  const others = keys.splice(most)
  const rest = others.reduce((sum, key) => sum + weights[key], 0)
  return { strongest: keys.map((key) => [key, weights[key]]), count: others.length, rest }
}

/** How a token is called where there is little room, and its position where it comes again.
    @type {(tokens: string[], at: number) => [string, string]} */
export function shortName(tokens, at) {
  const letters = [...tokens[at]]
  const name = `${letters.slice(0, MOST_LETTERS - 1).join("")}…`
  return [letters.length > MOST_LETTERS ? name : tokens[at], positionOf(tokens, at)]
}

/** At which keys a query looks most, in a sentence; `own` says that it is one of the keys.
    @type {(content: Pick<Content, "tokens" | "keys" | "own" | "numbers" | "hidden" | "columns" |
      "called" | "shares">, query: number) => string} */
export function summary({ tokens, keys, own, numbers, hidden, columns, called, shares }, query) {
  const weights = rowOf(numbers.weights, columns, query)
  if (!shares) return signedSummary(named(tokens, query), weights, keys)
  const bits = rowOf(hidden, columns, query)
  const order = [...weights.keys()].filter((key) => weights[key] > 0 && !bits[key])
  if (called === "share" && !order.length)
    return `${named(tokens, query)} has no share in another word.`
  if (!order.length) return `${named(tokens, query)} may look at nothing: weights and output are 0.`
  order.sort((a, b) => weights[b] - weights[a])
  const [looks, at] = called === "share" ? ["has to do", "with"] : ["looks", "at"]
  const name = (/** @type {number} */ key) => (own && key === query ? "itself" : named(keys, key))
  const alike = (/** @type {number} */ key) => {
    const tied = order.filter((other) => weights[other] === weights[key]).map(name)
    if (tied.length === 1) return `${at} ${tied[0]} (${percent(weights[key])})`
    const some = `${tied.length} keys, ${tied[0]} among them`
    return `equally ${at} ${tied.length === 2 ? tied.join(" and ") : some}, ${percent(weights[key])} each`
  }
  const [first, second] = order
  const single = second === undefined || weights[second] !== weights[first]
  if (!single) return `${named(tokens, query)} ${looks} ${alike(first)}.`
  if (called !== "share" && weights.every((_, key) => key === first || bits[key]))
    return `${named(tokens, query)} can see only ${name(first)}.`
  const seen = second !== undefined && percent(weights[second]) !== percent(0)
  const then = seen ? `, then ${alike(second)}` : ""
  return `${named(tokens, query)} ${looks} most ${alike(first)}${then}.`
}

/** Which values a query adds most of, and takes most of away, by weights of any sign.
    @type {(name: string, weights: Float32Array, keys: string[]) => string} */
function signedSummary(name, weights, keys) {
  const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a])
  const [most, least] = [order[0], order[order.length - 1]]
  const total = fixed(
    weights.reduce((sum, weight) => sum + weight, 0),
    4,
  )
  if (weights.every((weight) => !weight)) return `${name} takes nothing in: all its weights are 0.`
  const adds =
    weights[most] > 0 ? `adds most of ${named(keys, most)} (${fixed(weights[most], 4)})` : ""
  const takes =
    weights[least] < 0 ? `takes ${named(keys, least)} away (${fixed(weights[least], 4)})` : ""
  const both = [adds, takes].filter(Boolean).join(" and ")
  return `${name} ${both}. Its weights are no shares: they sum to ${total}.`
}
