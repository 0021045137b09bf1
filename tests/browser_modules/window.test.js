import assert from "node:assert/strict"
import { test } from "node:test"
import { lookOf, measureOf } from "../../attention/browser/model_window/index.js"

/** Two layers of two heads, the later ones over the shorter sequence; of each of two models a row of
    each head, and then two measures. */
const content = {
  ...{ heads: 2, columns: 3, other: "tuned", measures: ["lost", "says"], queries: [2, 1] },
  layers: [{ sequences: [0, 0] }, { sequences: [0, 1] }],
  sequences: [
    ["a", "b", "c"],
    ["x", "y"],
  ],
  numbers: Float32Array.from({ length: 32 }, (_, at) => at),
}

test("the row of a head lies behind those of all before it, and behind those of the first model", () => {
  const first = lookOf(content, 1)
  assert.deepEqual(
    [[...first.row], [...first.second]],
    [
      [3, 4, 5],
      [15, 16, 17],
    ],
  )
  const { row, second, words, asking } = lookOf(content, 3)
  assert.deepEqual(
    [[...row], [...second]],
    [
      [9, 10],
      [21, 22],
    ],
  )
  assert.deepEqual([words, asking], [["x", "y"], "c"])
})

test("the measures lie behind the rows of both models, or of the one there is", () => {
  assert.deepEqual([...measureOf(content, "says")], [28, 29, 30, 31])
  assert.deepEqual([...measureOf({ ...content, other: "" }, "lost")], [12, 13, 14, 15])
})
