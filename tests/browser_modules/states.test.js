import assert from "node:assert/strict"
import { test } from "node:test"
import { beside } from "../../attention/browser/states/index.js"

test("keys and values stand side by side with a clear column between them", () => {
  const both = beside(Float32Array.of(1, 2, 3, 4), Float32Array.of(5, 6, 7), 2, 2, 1)
  assert.deepEqual([...both], [1, 2, Number.NaN, 5, 3, 4, Number.NaN, 6])
})
