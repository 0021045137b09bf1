import assert from "node:assert/strict"
import { test } from "node:test"
import { isOpen, verdict } from "../../attention/browser/learning/index.js"

test("one bets while nobody can know the end, and hears how far off that was", () => {
  const curve = (values) => [{ name: "attention", values, seconds: values, test: 0 }]
  const at = (steps, values, more) => ({
    ...{ steps, last: 100, brief: false, live: false },
    ...{ losses: curve(values), shares: curve(values), ...more },
  })
  assert.ok(isOpen(at([0], [])))
  assert.ok(isOpen(at([0, 20], [3, 2], { live: true })))
  assert.ok(!isOpen(at([0, 30], [3, 2], { live: true })))
  assert.ok(!isOpen(at([0, 100], [3, 2])))
  assert.ok(!isOpen(at([0], [], { brief: true })))
  assert.ok(!isOpen(at([0], [], { shares: [] })))
  assert.equal(verdict(60, 100, "right"), "You bet 60 %. It is 100 % right: 40 points off.")
  assert.equal(verdict(99, 100, "right"), "You bet 99 %. It is 100 % right: 1 point off.")
  assert.equal(verdict(7, 7, "right"), "You bet 7 %. It is 7 % right: spot on.")
})
