import assert from "node:assert/strict"
import { test } from "node:test"
import { isLate, nextTurn } from "../../attention/browser/shared/turns.js"

test("until the last answer under a key has been heard of, what comes there is late", (context) => {
  let now = 0
  context.mock.method(performance, "now", () => now)
  assert.equal(isLate("grid", 41), false)
  assert.deepEqual([nextTurn("grid"), nextTurn("grid"), nextTurn("map")], [42, 43, 1])
  assert.deepEqual(
    [41, 42, 43].map((turn) => isLate("grid", turn)),
    [true, true, false],
  )
  nextTurn("grid")
  now = 3999
  assert.equal(isLate("grid", 43), true)
  now = 4000
  assert.equal(isLate("grid", 43), false, "an answer that is lost is waited for no longer")
  nextTurn("grid", Infinity)
  now = 1e9
  assert.equal(isLate("grid", 43), true, "one that is not on its way yet is not lost")
})
