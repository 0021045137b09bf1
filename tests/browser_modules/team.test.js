import assert from "node:assert/strict"
import { test } from "node:test"
import { trailOf } from "../../attention/browser/team/index.js"

const stages = (/** @type {number[]} */ ...heads) => [-1, ...heads].map((head) => ({ head }))

test("stages that one has gone back from stay behind those of now", () => {
  assert.deepEqual(trailOf(stages(7), stages(7, 210, 220)), stages(7, 210, 220))
  assert.deepEqual(trailOf(stages(7, 210, 5), stages(7, 210)), stages(7, 210, 5))
})

test("another head that goes out takes the place of all behind it", () => {
  assert.deepEqual(trailOf(stages(7, 5), stages(7, 210, 220)), stages(7, 5))
  assert.deepEqual(trailOf(stages(5), []), stages(5))
})
