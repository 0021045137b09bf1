import assert from "node:assert/strict"
import { test } from "node:test"
import { weightedSum } from "../../attention/browser/learning/index.js"

test("a value that is told is the weighted sum of those of the points", () => {
  assert.equal(weightedSum(new Float32Array([0.5, 0.25, 0.25]), [2, 4, 8]), 4)
})
