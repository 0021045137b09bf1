import assert from "node:assert/strict"
import { test } from "node:test"
import { nearest, pooled, strongest, work } from "../../attention/browser/sweep/index.js"

/* Two scores with weights that are to be worked out by hand: exp(ln 3) is 3. */
const LN3 = Math.log(3)
const TWO = { size: 2, biased: false, numbers: new Float64Array([0, LN3, 5, 5]) }

function near(numbers, expected) {
  for (const [at, number] of [...numbers].entries()) {
    if (Number.isNaN(expected[at])) assert.ok(Number.isNaN(number))
    else assert.ok(Math.abs(number - expected[at]) < 1e-12, `${numbers} is not ${expected}`)
  }
}

test("weights are the softmax of each row, and an even row of two has one bit", () => {
  const { weights, entropy } = work({ ...TWO, kind: "temperature" }, 1)
  near(weights, [0.25, 0.75, 0.5, 0.5])
  near(entropy, [2 - 0.75 * Math.log2(3), 1])
})

test("a row of −∞ alone has weights of 0, as one that is hidden has", () => {
  const [none, hidden] = [Number.NEGATIVE_INFINITY, Number.NaN]
  const numbers = new Float64Array([1, 1, 1, 1, 0, 0, none, none])
  const biased = work({ kind: "scale", size: 2, biased: true, numbers }, 1)
  near(biased.weights, [0.5, 0.5, 0, 0])
  near(biased.entropy, [1, Number.NaN])
  const masked = new Float64Array([none, hidden, hidden, hidden])
  const alone = work({ kind: "temperature", size: 2, biased: false, numbers: masked }, 1)
  near(alone.weights, [0, hidden, hidden, hidden])
})

test("large scores overflow nothing", () => {
  const numbers = new Float64Array([1000, 1000, -1000, 1000])
  near(work({ kind: "scale", size: 2, biased: false, numbers }, 9).weights, [0.5, 0.5, 0, 1])
})

test("few keys are told in their order, masked ones too", () => {
  const lines = strongest(["a", "b", "c"], new Float64Array([0.25, Number.NaN, 0.75]))
  assert.deepEqual(lines, [
    ["a", 0.25],
    ["b", Number.NaN],
    ["c", 0.75],
  ])
})

test("of many keys the sixteen strongest are told, and what the others come to", () => {
  const row = new Float64Array(20).fill(1 / 64)
  row.set([0.5, Number.NaN], 18)
  const lines = strongest([...row.keys()].map(String), row)
  assert.equal(lines.length, 17)
  assert.deepEqual(lines[0], ["18", 0.5])
  assert.deepEqual(lines[16], ["3 others", 3 / 64])
})

test("the slider stands at the stop nearest to the value", () => {
  assert.equal(nearest([0.5, 1, 2], 1.4), 1)
  assert.equal(nearest([0.5, 1, 2], 1.5), 1)
  assert.equal(nearest([0.5, 1, 2], 9), 2)
})

test("a small dot is the greatest weight of its block, at the edge of fewer", () => {
  const weights = new Float64Array([0, 1, 2, 3, 4, 5, Number.NaN, 7, 6])
  assert.deepEqual([...pooled(weights, 3, 2)], [4, 5, 7, 6])
  assert.deepEqual([...pooled(weights, 3, 1)], [0, 1, 2, 3, 4, 5, 0, 7, 6])
})
