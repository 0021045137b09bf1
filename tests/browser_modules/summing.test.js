import assert from "node:assert/strict"
import { test } from "node:test"
import { words } from "../../attention/browser/picture/sum.js"
import * as sums from "../../attention/browser/picture/sums.js"
import { strongest } from "../../attention/browser/shared/token_lines.js"

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
    { key: 0, name: "a", weight: 0.5, length: 3, share: 9 / 25 },
    { key: 1, name: "b", weight: 0.25, length: 4, share: 16 / 25 },
    { key: 2, name: "c", weight: 0.25, length: 0, share: 0 },
  ])
})

test("of a number of a term its weight and its value are told, of one of the sum its column and rounding", () => {
  const told = [0, 1, 3].map((row) => words(sums.termsOf(THREE, 0), THREE, row, 1))
  assert.deepEqual(told, [
    "a, dimension 1: 0.00000 = 0.500000 · 0.00000",
    "b, dimension 1: 4.00000 = 0.250000 · 16.0000",
    "y, dimension 1: 4.00000, the sum of the column above; ‖Σ w·v − y‖ = 0",
  ])
})

test("a quantile lies between two sizes in proportion, as torch has it", () => {
  const numbers = new Float32Array([-4, 1, 0, 2, -3])
  const quantiles = [0, 0.25, 0.5, 0.625, 1].map((part) => sums.quantile(numbers, part))
  assert.deepEqual(quantiles, [0, 1, 2, 2.5, 4])
  assert.equal(sums.quantile(new Float32Array([7]), 0.97), 7)
})

test("the diagram shows the keys of the largest weights, in the order of the sentence", () => {
  assert.deepEqual(strongest(new Float32Array([0.1, -0.6, 0.3]), 12), [0, 1, 2])
  const weights = new Float32Array(14).fill(0.1)
  weights[2] = 0.01
  weights[5] = -0.02
  assert.deepEqual(strongest(weights, 12), [0, 1, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13])
})
