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
    @type {(steps: [number, "replace" | "push", string][]) => string[]} */
function walked(steps) {
  /** @type {string[]} */
  const done = []
  let now = 0
  const globals = /** @type {any} */ (globalThis)
  const move =
    (/** @type {string} */ how) =>
    (/** @type {any[]} */ ...[, , url]) => {
      globals.location = new URL(url, globals.location)
      done.push(`${how} ${globals.location.pathname}${globals.location.search}`)
    }
  globals.location = new URL(APP)
  globals.history = { replaceState: move("replace"), pushState: move("push") }
  globals.addEventListener = () => {}
  const { performance } = globalThis
  globals.performance = { now: () => now }
  try {
    keepSteps()
    keepSteps()
    for (const [at, how, url] of steps) {
      now = at
      globals.history[`${how}State`]({}, "", url)
    }
  } finally {
    globals.performance = performance
  }
  return done
}

test("a change is a step; what follows soon belongs to it, or to coming to a page", () => {
  assert.deepEqual(
    walked([
      [5000, "replace", "?n=1"],
      [6000, "replace", "?n=2"],
      [9000, "replace", "?n=3"],
      [9100, "replace", "?m=1&n=3"],
      [9200, "replace", "?m=1&n=3&query=4"],
      [9300, "push", "?m=2&n=3&query=4"],
      [20000, "push", "/heads"],
      [20100, "replace", "?query=4"],
      [20200, "push", "?m=2&query=4"],
      [20300, "push", "?m=2&n=3&query=4"],
      [23000, "push", "?n=3&query=4"],
      [23600, "push", "/steps"],
      [26000, "push", "?n=5"],
      [26100, "push", "/heads?n=5"],
      [26200, "push", "?n=6"],
      [26300, "push", "/steps?n=6"],
    ]),
    [
      ...["push /explore?n=1", "replace /explore?n=2", "push /explore?n=3"],
      ...["push /explore?m=1&n=3", "replace /explore?m=1&n=3&query=4"],
      ...["replace /explore?m=2&n=3&query=4", "push /heads", "replace /heads?query=4"],
      ...["replace /heads?m=2&query=4", "replace /heads?m=2&n=3&query=4"],
      ...["push /heads?n=3&query=4", "push /steps", "push /steps?n=5", "replace /heads?n=5"],
      ...["replace /heads?n=6", "replace /heads?n=5", "push /steps?n=6"],
    ],
  )
})
