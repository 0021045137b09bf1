import assert from "node:assert/strict"
import { test } from "node:test"
import { axis } from "../../attention/browser/shared/axis.js"
import { layoutOf } from "../../attention/browser/word_rows/index.js"
import {
  fitted,
  less,
  scaleOf,
  softmax,
  written,
} from "../../attention/browser/word_rows/numbers.js"

const [NONE, HIDDEN] = [Number.NEGATIVE_INFINITY, Number.NaN]

function near(numbers, expected) {
  for (const [at, number] of [...numbers].entries())
    assert.ok(Object.is(number, expected[at]) || Math.abs(number - expected[at]) < 1e-12, numbers)
}

test("a factor of scores is one of the odds' exponents", () => {
  const scores = [0, Math.log(3)]
  near(softmax(scores, 1), [0.25, 0.75])
  near(softmax(scores, 2), [0.1, 0.9])
  near(softmax(scores, 0), [0.5, 0.5])
})

test("what is masked takes no part, a row of −∞ is 0, and large scores overflow nothing", () => {
  near(softmax([0, HIDDEN, 0], 1), [0.5, HIDDEN, 0.5])
  near(softmax([NONE, NONE], 1), [0, 0])
  near(softmax([HIDDEN, HIDDEN], 1), [HIDDEN, HIDDEN])
  near(softmax([1000, -1000, 1000], 9), [0.5, 0, 0.5])
})

test("a change counts a masked share as 0, unless it is masked in both", () => {
  near(less([0.75, HIDDEN, HIDDEN], [0.25, 0.5, HIDDEN]), [0.5, -0.5, HIDDEN])
})

test("scores have the colours of their own row, all else one scale", () => {
  assert.deepEqual(scaleOf("score", [1, -4, NONE, HIDDEN]), [-4, 4])
  assert.deepEqual(scaleOf("bar", [1, 4]), [0, 4])
  assert.deepEqual(scaleOf("share", [0.2]), [0, 1])
  assert.deepEqual(scaleOf("weight", [0.2]), [0, 1])
  assert.deepEqual(scaleOf("signed", [0.2]), [-1, 1])
  assert.deepEqual(scaleOf("score", [0, 0]), [-1, 1])
})

test("numbers are written as their kind is read", () => {
  const cases = {
    "score 20.73 25": "20.7",
    "score -6.081 25": "−6.08",
    "score -0.341 25": "−0.34",
    "score 0.00341 0.01": "0.0034",
    "score 103.2 200": "103",
    "share 0.764 1": "76 %",
    "share 0.004 1": "0",
    "change 0.1071 0.5": "+10.7",
    "change -0.0101 0.5": "−1.0",
    "change 0.0001 0.5": "0.0",
    "weight 0.764 1": "0.76",
    "signed -0.25 1": "−0.25",
  }
  for (const [name, text] of Object.entries(cases)) {
    const [kind, number, most] = name.split(" ")
    assert.equal(written(kind, Number(number), Number(most)), text, name)
  }
  assert.equal(written("score", HIDDEN, 1), "−∞")
  assert.equal(written("share", HIDDEN, 1), "")
  assert.equal(written("share", 0.19, 1, 0.2), "")
})

test("a narrow cell has smaller letters, then no sign of percent, then nothing", () => {
  assert.deepEqual(fitted("76 %", 60), { text: "76 %", tight: false })
  assert.deepEqual(fitted("76 %", 32), { text: "76 %", tight: true })
  assert.deepEqual(fitted("76 %", 20), { text: "76", tight: true })
  assert.deepEqual(fitted("−19.7", 20), { text: "", tight: true })
})

test("rows stand under words in a row, across on a phone, and of many words as colours", () => {
  assert.equal(layoutOf("row", 1200, 12), "under")
  assert.equal(layoutOf("stack", 390, 12), "across")
  assert.equal(layoutOf("wrap", 1200, 60), "own")
  assert.equal(layoutOf(undefined, 1200, 65), "colours")
})

test("a sentence says where it stands to those who ask for it, for as long as it is there", () => {
  const [stage, other] = [{ isConnected: true }, { isConnected: true }]
  const said = []
  axis.follow(other, () => said.push(axis.of(["a", "b"])))
  axis.tell(stage, ["a", "b"], 7)
  assert.equal(axis.of(["a"]), null)
  stage.isConnected = false
  assert.equal(axis.of(["a", "b"]), null)
  assert.deepEqual(said, [7])
})
