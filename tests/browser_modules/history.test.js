import assert from "node:assert/strict"
import { test } from "node:test"
import { changed } from "../../attention/components/browser/shared/history.js"

const MODULE = "../../attention/components/browser/shared/history.js"
const APP = "http://app/explore"
let visits = 0

test("two addresses of a page differ in the settings that they say otherwise", () => {
  assert.deepEqual(changed(`${APP}?a=1&b=x+y&c=2`, `${APP}?b=x%20y&c=3&d=4`), ["a", "c", "d"])
  assert.deepEqual(changed(`${APP}?a=1&a=2`, `${APP}?a=2&a=1`), ["a"])
  assert.deepEqual(changed(`${APP}?query=1`, "?query=2&stage=scores"), [])
  assert.deepEqual(changed(APP, "http://app/heads?a=1"), [])
})

/** A browser's history, and what was done to it when. What the visitor does is an event; a widget
    replaces the address, the server pushes it.
    @typedef {"pointerdown" | "click" | "keydown" | "input" | "popstate"} What
    @typedef {[number, "replace" | "push", string] | [number, What]} Moment
    @type {(moments: Moment[]) => Promise<string[]>} */
async function walked(moments) {
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
  /** @type {Record<string, (event: object) => void>} */
  const listeners = {}
  globals.location = new URL(APP)
  globals.history = { replaceState: move("replace"), pushState: move("push") }
  globals.addEventListener = (/** @type {string} */ name, /** @type {() => void} */ listener) => {
    listeners[name] = listener
  }
  const { performance } = globalThis
  globals.performance = { now: () => now }
  visits += 1
  const { keepSteps } = await import(`${MODULE}?${visits}`)
  try {
    keepSteps()
    keepSteps()
    for (const [at, what, url] of moments) {
      now = at
      if (url) globals.history[`${what}State`]({}, "", url)
      else listeners[what](what === "input" ? { inputType: "insertText" } : {})
    }
  } finally {
    globals.performance = performance
  }
  return done
}

test("what one sets is a step, with all that the server sets for it, however late", async () => {
  assert.deepEqual(
    await walked([
      [5000, "click"],
      [5010, "replace", "?variant=qkv"],
      [8000, "pointerdown"],
      [8090, "click"],
      [8100, "replace", "?variant=cosine"],
      [8300, "click"],
      [8400, "push", "?variant=cosine&factor=5"],
      [11000, "push", "?variant=cosine&factor=5&scale=factor"],
      [11100, "replace", "?variant=cosine&factor=5&scale=factor&query=4"],
    ]),
    [
      ...["push /explore?variant=qkv", "push /explore?variant=cosine"],
      ...["replace /explore?variant=cosine&factor=5"],
      ...["replace /explore?variant=cosine&factor=5&scale=factor"],
      ...["replace /explore?variant=cosine&factor=5&scale=factor&query=4"],
    ],
  )
})

test("choices a second apart are two steps, and so are those of two widgets", async () => {
  assert.deepEqual(
    await walked([
      [5000, "click"],
      [5000, "replace", "?variant=cosine"],
      [5200, "push", "?variant=cosine&scale=factor"],
      [6000, "click"],
      [6000, "replace", "?variant=additive&scale=factor"],
      [6200, "push", "?variant=additive&scale=none"],
      [6300, "click"],
      [6300, "replace", "?variant=additive&scale=none&mask=causal"],
      [8000, "click"],
      [9700, "push", "?s=a+dog"],
      [9800, "click"],
      [9900, "push", "?s=a+cat"],
    ]),
    [
      ...["push /explore?variant=cosine", "replace /explore?variant=cosine&scale=factor"],
      ...["push /explore?variant=additive&scale=factor"],
      ...["replace /explore?variant=additive&scale=none"],
      ...["push /explore?variant=additive&scale=none&mask=causal"],
      ...["push /explore?s=a+dog", "push /explore?s=a+cat"],
    ],
  )
})

test("text is one step while one types, and so is a number while one drags", async () => {
  assert.deepEqual(
    await walked([
      [5000, "input"],
      [5200, "replace", "?s=a"],
      [7000, "input"],
      [7200, "replace", "?s=ab"],
      [9500, "input"],
      [9700, "replace", "?s=abc"],
      [15000, "click"],
      [15100, "push", "?s=abd"],
      [16500, "input"],
      [16700, "replace", "?s=abc"],
      [20000, "pointerdown"],
      [20300, "replace", "?s=abc&n=1"],
      [24000, "replace", "?s=abc&n=2"],
      [24300, "click"],
      [24400, "replace", "?s=abc&n=3"],
    ]),
    [
      ...["push /explore?s=a", "replace /explore?s=ab", "push /explore?s=abc"],
      ...["push /explore?s=abd", "push /explore?s=abc"],
      ...["push /explore?s=abc&n=1", "replace /explore?s=abc&n=2", "replace /explore?s=abc&n=3"],
    ],
  )
})

test("after a step back what the server says is none, but what one sets then is", async () => {
  assert.deepEqual(
    await walked([
      [5000, "click"],
      [5000, "replace", "?variant=cosine"],
      [6000, "keydown"],
      [6010, "popstate"],
      [6100, "push", "?m=1"],
      [9500, "replace", "?m=2"],
      [11000, "click"],
      [11000, "replace", "?m=3"],
    ]),
    [
      ...["push /explore?variant=cosine", "replace /explore?m=1", "replace /explore?m=2"],
      ...["push /explore?m=3"],
    ],
  )
})

test("a page is one step with all that the server says of it, just before or later", async () => {
  assert.deepEqual(
    await walked([
      [9300, "click"],
      [9300, "replace", "?m=2&n=3"],
      [20000, "click"],
      [20010, "push", "/heads"],
      [20100, "replace", "?query=4"],
      [20200, "push", "?m=2&query=4"],
      [24000, "push", "?m=2&n=3&query=4"],
      [25000, "click"],
      [25100, "push", "?n=3&query=4"],
      [30000, "click"],
      [30010, "push", "/steps"],
      [36000, "click"],
      [36010, "push", "?n=5"],
      [36100, "push", "/heads?n=5"],
      [36200, "push", "?n=6"],
      [36300, "push", "/steps?n=6"],
    ]),
    [
      ...["push /explore?m=2&n=3", "push /heads", "replace /heads?query=4"],
      ...["replace /heads?m=2&query=4", "replace /heads?m=2&n=3&query=4"],
      ...["push /heads?n=3&query=4", "push /steps", "push /steps?n=5", "replace /heads?n=5"],
      ...["replace /heads?n=6", "replace /heads?n=5", "push /steps?n=6"],
    ],
  )
})
