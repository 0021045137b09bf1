import assert from "node:assert/strict"
import { test } from "node:test"
import { keysShown, told } from "../../attention/components/browser/picture/diagram.js"
import { contentOf } from "../../attention/components/browser/picture/index.js"
import * as sums from "../../attention/components/browser/picture/sums.js"

/** One query whose output (3, 4) is 0.5 · (6, 0) + 0.25 · (0, 16) + 0.25 · (0, 0). */
const THREE = {
  ...{ rows: 1, columns: 3, width: 2, scale: 0.5, keys: ["a", "b", "c"] },
  numbers: {
    scores: new Float32Array([4, 2, 2]),
    weights: new Float32Array([0.5, 0.25, 0.25]),
    values: new Float32Array([6, 0, 0, 16, 0, 0]),
    output: new Float32Array([3, 4]),
  },
}

/** 34 keys of weight 1/32 whose values are 32, but two without any weight: y is 32. */
function many() {
  const weights = new Float32Array(34).fill(1 / 32)
  weights.fill(0, 3, 5)
  const numbers = { scores: weights, weights, values: new Float32Array(34).fill(32) }
  const keys = Array.from({ length: 34 }, (_, key) => `k${key}`)
  numbers.output = new Float32Array([32])
  return { rows: 1, columns: 34, width: 1, scale: 1, keys, numbers }
}

test("a message's numbers go to their stages, and without a memory the tokens are the keys", () => {
  const header = { rows: 1, columns: 2, width: 1, tokens: ["a"], known: [true], keys: null }
  const sent = ["weights", "values", "output", "scores"]
  const numbers = new Float32Array([1, 2, 3, 4, 5, 6, 7])
  const content = contentOf({ ...header, keysKnown: null, sent, numbers, rest: new Uint8Array(2) })
  assert.deepEqual([content.own, content.keys, content.keysKnown], [true, ["a"], [true]])
  const parts = Object.entries(content.numbers).map(([name, part]) => [name, [...part]])
  const stages = { weights: [1, 2], values: [3, 4], output: [5], scores: [6, 7] }
  assert.deepEqual(Object.fromEntries(parts), stages)
  const memory = { keys: ["b", "c"], keysKnown: [true, false] }
  assert.equal(contentOf({ ...header, ...memory, sent, numbers }).own, false)
})

test("scaled scores that are not sent are the scores in 32-bit floats times the scale", () => {
  const content = { scale: 0.1, numbers: { scores: new Float32Array([3, -1]) } }
  const scaled = [3, -1].map((score) => Math.fround(score * Math.fround(0.1)))
  assert.deepEqual([...sums.stageOf(content, "scaled")], scaled)
  assert.equal(sums.stageOf(content, "masked"), sums.stageOf(content, "scaled"))
  content.numbers.masked = new Float32Array([7, 8])
  assert.deepEqual([...sums.stageOf(content, "masked")], [7, 8])
})

test("a term is a weight times a value, and its share is how far it goes along the sum", () => {
  const { rows, terms, length } = sums.termsOf(THREE, 0)
  assert.deepEqual([...terms], [3, 0, 0, 4, 0, 0, 3, 4])
  assert.equal(length, 5)
  assert.deepEqual(rows, [
    { key: 0, name: "a", weight: 0.5, cells: [4, 2, 6, 3, 9 / 25] },
    { key: 1, name: "b", weight: 0.25, cells: [2, 1, 16, 4, 16 / 25] },
    { key: 2, name: "c", weight: 0.25, cells: [2, 1, 0, 0, 0] },
  ])
})

test("32 terms have rows in the order of the keys, the weaker ones one row together", () => {
  const { rows, terms } = sums.termsOf(many(), 0)
  assert.equal(rows.length, 33)
  const keys = [0, 1, 2, ...Array.from({ length: 29 }, (_, at) => at + 5)]
  assert.deepEqual(
    rows.map(({ key }) => key),
    [...keys, null],
  )
  const others = { key: null, name: "2 others", weight: 0, cells: [null, null, null, 0, 0] }
  assert.deepEqual(rows.at(-1), others)
  assert.deepEqual([...terms.subarray(31)], [1, 0, 32])
})

test("what the weaker terms come to is in their row, and all shares add up to 1", () => {
  const content = many()
  content.numbers.weights.fill(1 / 64, 3, 5)
  content.numbers.output[0] = 33
  const { rows } = sums.termsOf(content, 0)
  assert.deepEqual(rows.at(-1).cells, [null, null, null, 1, 1 / 33])
  assert.equal(rows.at(-1).weight, 2 / 64)
  const share = rows.reduce((sum, { cells }) => sum + cells[4], 0)
  assert.ok(Math.abs(share - 1) < 1e-12)
})

test("a sum of nothing has no shares, and its colours a scale all the same", () => {
  const numbers = { ...THREE.numbers, weights: new Float32Array(3), output: new Float32Array(2) }
  const { rows, most, length } = sums.termsOf({ ...THREE, numbers }, 0)
  assert.deepEqual([most, length], [1, 0])
  assert.ok(rows.every(({ cells }) => cells[4] === 0))
})

test("weights mixed across heads are what the values are multiplied by", () => {
  const mixed = new Float32Array([0, 0, -1])
  assert.equal(sums.applied({ ...THREE, numbers: { ...THREE.numbers, mixed } }, 0)[2], -1)
})

test("the weights are added up, and what is missing from the output is told", () => {
  assert.deepEqual(sums.check(THREE, 0), { total: 1, rounding: 0 })
  const numbers = { ...THREE.numbers, output: new Float32Array([0, 0]) }
  assert.deepEqual(sums.check({ ...THREE, numbers }, 0), { total: 1, rounding: 5 })
})

test("the five strongest terms are written out, whatever their signs, none without a weight", () => {
  const few = new Float32Array([0.25, 0, -0.5, 0.25])
  assert.deepEqual(sums.written(few), { keys: [2, 0, 3], count: 0, rest: 0 })
  const nine = new Float32Array([1, 2, 3, 4, 5, 6, 7, 8, 9])
  assert.deepEqual(sums.written(nine), { keys: [8, 7, 6, 5, 4], count: 4, rest: 10 })
})

test("a quantile lies between two sizes in proportion, as torch has it", () => {
  const numbers = new Float32Array([-4, 1, 0, 2, -3])
  const quantiles = [0, 0.25, 0.5, 0.625, 1].map((part) => sums.quantile(numbers, part))
  assert.deepEqual(quantiles, [0, 1, 2, 2.5, 4])
  assert.equal(sums.quantile(new Float32Array([7]), 0.97), 7)
})

test("the diagram shows the keys of the largest weights, in the order of the sentence", () => {
  assert.deepEqual(keysShown(new Float32Array([0.1, -0.6, 0.3])), [0, 1, 2])
  const weights = new Float32Array(14).fill(0.1)
  weights[2] = 0.01
  weights[5] = -0.02
  assert.deepEqual(keysShown(weights), [0, 1, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13])
})

test("the diagram tells what happens, with what positions and other heads add", () => {
  const content = { tokens: ["a", "b", "a"], scale: 0.1414213, sent: ["scores", "weights"] }
  assert.match(
    told(content, 1),
    /^The query q of “b” meets each key k and gives a score, here times 0.1414; the/,
  )
  assert.match(told(content, 2), /^The query q of “a \(2\)” /)
  const more = { ...content, sent: ["scaled", "mixed"] }
  assert.match(told(more, 0), /0.1414 plus what positions add; the softmax .* mixed across heads/)
})

test("the cells of a sum have no more decimals than are asked for", () => {
  const cells = (/** @type {number} */ digits) =>
    [0, 2, 4].map((at) => sums.format(at, 0.123456, digits))
  assert.deepEqual(cells(4), ["0.1235", "0.123", "12.3 %"])
  assert.deepEqual(cells(2), ["0.12", "0.12", "12.3 %"])
})
