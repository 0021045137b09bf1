import assert from "node:assert/strict"
import { test } from "node:test"
import { changed, keepSteps } from "../../attention/components/browser/shared/history.js"

const APP = "http://app/explore"

test("two addresses of a page differ in the settings that they say otherwise", () => {
  assert.deepEqual(changed(`${APP}?a=1&b=x+y&c=2`, `${APP}?b=x%20y&c=3&d=4`), ["a", "c", "d"])
  assert.deepEqual(changed(`${APP}?a=1&a=2`, `${APP}?a=2&a=1`), ["a"])
  assert.deepEqual(changed(`${APP}?query=1`, "?query=2&stage=scores"), [])
  assert.deepEqual(changed(APP, "http://app/heads?a=1"), [])
})

/** A browser's history, and what was done to it when.
    @type {(steps: [number, string][]) => string[]} */
function walked(steps) {
  /** @type {string[]} */
  const done = []
  let now = 0
  const move =
    (/** @type {string} */ how) =>
    (/** @type {any[]} */ ...[, , url]) => {
      globals.location.href = new URL(url, APP).href
      done.push(`${how} ${new URL(url, APP).search}`)
    }
  const globals = /** @type {any} */ (globalThis)
  globals.location = { href: APP }
  globals.history = { replaceState: move("replace"), pushState: move("push") }
  globals.addEventListener = () => {}
  const { performance } = globalThis
  globals.performance = { now: () => now }
  try {
    keepSteps()
    keepSteps()
    for (const [at, search] of steps) {
      now = at
      globals.history.replaceState({}, "", search)
    }
  } finally {
    globals.performance = performance
  }
  return done
}

test("a change is a step; what follows soon in the same setting belongs to it", () => {
  assert.deepEqual(
    walked([
      [5000, "?n=1"],
      [6000, "?n=2"],
      [9000, "?n=3"],
      [9100, "?m=1&n=3"],
      [9200, "?m=1&n=3&query=4"],
      [9300, "?m=2&n=3&query=4"],
    ]),
    ["push ?n=1", "replace ?n=2", "push ?n=3", "push ?m=1&n=3"].concat([
      "replace ?m=1&n=3&query=4",
      "replace ?m=2&n=3&query=4",
    ]),
  )
})
