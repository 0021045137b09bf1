import assert from "node:assert/strict"
import { test } from "node:test"
import * as comparison from "../../attention/browser/comparison/index.js"
import * as heatmap from "../../attention/browser/picture/heatmap.js"
import * as sums from "../../attention/browser/picture/sums.js"
import { fixed, inFull, named, precise, shown } from "../../attention/browser/shared/words.js"

test("no zero has a sign, and a minus is one", () => {
  assert.deepEqual(
    [-0.0001, -0.5, 0.25].map((number) => fixed(number, 2)),
    ["0.00", "−0.50", "0.25"],
  )
})

test("numbers too small or too large for four decimals are powers of ten", () => {
  const told = [0, 0.5, -0.00012, 123456, Infinity, -Infinity].map(inFull)
  assert.deepEqual(told, ["0.0000", "0.5000", "−1.200e−4", "1.235e5", "∞", "−∞"])
})

test("a token that stands twice is told with its position", () => {
  const tokens = ["the", "cat", "the"]
  assert.deepEqual(
    [0, 1].map((at) => named(tokens, at)),
    ["“the (0)”", "“cat”"],
  )
})

test("the two keys with the greatest weights are named, masked ones never", () => {
  const tokens = ["the", "cat", "walks", "the"]
  const content = { tokens, keys: tokens, own: true, columns: 4, shares: true }
  const numbers = { weights: new Float32Array([0, 0, 0, 0, 0.25, 0.5, 0.25, 0]) }
  const told = (query, hidden, own = true) =>
    sums.summary({ ...content, own, numbers, hidden: Uint8Array.from(hidden) }, query)
  const none = [0, 0, 0, 0, 0, 0, 0, 0]
  assert.equal(
    told(1, none),
    "“cat” looks most at itself (50 %), then equally at “the (0)” and “walks”, 25 % each.",
  )
  assert.match(told(1, none, false), /^“cat” looks most at “cat” \(50 %\)/)
  const hidden = [1, 1, 1, 1, 2, 0, 0, 0]
  assert.match(told(1, hidden), /itself \(50 %\), then at “walks” \(25 %\)\.$/)
  assert.equal(told(1, [0, 0, 0, 0, 1, 0, 1, 1]), "“cat” can see only itself.")
  numbers.weights.set([0, 0.9997, 0.0003, 0], 4)
  assert.equal(told(1, none), "“cat” looks most at itself (100 %).")
  assert.equal(told(0, hidden), "“the (0)” may look at nothing: weights and output are 0.")
})

test("every way to write a number has one minus sign", () => {
  assert.deepEqual(
    [precise(-0.25, 3), precise(-2.5e-7, 2), precise(1e9, 2)],
    ["−0.250", "−2.5e−7", "1.0e9"],
  )
  assert.deepEqual(["-1", "-0.00", "1e-7"].map(shown), ["−1", "0.00", "1e−7"])
})

test("keys whose weights are the same are told as such, not one after the other", () => {
  const tokens = ["a", "b", "c"]
  const of = { tokens, keys: tokens, own: true, columns: 3, hidden: new Uint8Array(9) }
  const content = { ...of, shares: true }
  const weights = new Float32Array([0.25, 0.375, 0.375, 0.5, 0.5, 0, 1 / 3, 1 / 3, 1 / 3])
  const told = (query) => sums.summary({ ...content, numbers: { weights } }, query)
  assert.equal(told(0), "“a” looks equally at “b” and “c”, 38 % each.")
  assert.equal(told(1), "“b” looks equally at “a” and itself, 50 % each.")
  assert.equal(told(2), "“c” looks equally at 3 keys, “a” among them, 33 % each.")
})

test("weights that are no shares are told as what is added and taken away, with their sum", () => {
  const tokens = ["a", "b", "c"]
  const content = { tokens, keys: tokens, own: true, columns: 3, hidden: new Uint8Array(3) }
  const told = (...weights) =>
    sums.summary({ ...content, shares: false, numbers: { weights: new Float32Array(weights) } }, 0)
  assert.equal(
    told(0.25, -0.5, 0.125),
    "“a” adds most of “a” (0.2500) and takes “b” away (−0.5000). Its weights are no shares: " +
      "they sum to −0.1250.",
  )
  assert.match(told(0.5, 0, 0.25), /^“a” adds most of “a” \(0\.5000\)\. Its weights/)
  assert.match(told(0, -0.5, 0), /^“a” takes “b” away/)
  assert.equal(told(0, 0, 0), "“a” takes nothing in: all its weights are 0.")
})

test("a heatmap's legend says when numbers lie beyond its ends", () => {
  assert.deepEqual(heatmap.legendOf(-2.51, 2.51, true), ["≥ 2.5", "0", "≤ −2.5"])
  assert.deepEqual(heatmap.legendOf(0, 1, false), ["1", "0.5", "0"])
})

test("pointing at a cell tells its tokens, its numbers and what hides it", () => {
  const tokens = ["a", "b"]
  const scores = new Float32Array([0, 1, 2, 3])
  const numbers = { scores, weights: new Float32Array([1, 0, 0.5, 0.5]) }
  const masks = { masks: ["causal", "padding"], hidden: Uint8Array.from([0, 3, 0, 0]) }
  const content = {
    tokens,
    keys: tokens,
    columns: 2,
    scale: 0.5,
    numbers,
    called: "weight",
    ...masks,
  }
  const said = heatmap.words({ ...content, stages: { scores: {}, scaled: {}, weights: {} } }, 0, 1)
  assert.deepEqual(said.split("\n"), [
    "query  a (0)",
    "key  b (1)",
    "score  1.0000",
    "scaled  0.5000",
    "weight  0.0000",
    "hidden by causal and padding",
  ])
  const alone = heatmap.words({ ...content, stages: { scores: {} } }, 1, 0)
  assert.equal(alone, "query  b (1)\nkey  a (0)\nscore  2.0000", "only of stages that are shown")
  const cap = { numbers: { scores, masked: new Float32Array([0, 1, 1.5, 1.75]) }, logits: "capped" }
  const capped = heatmap.words({ ...content, ...cap, stages: { masked: {} } }, 1, 1)
  assert.equal(capped, "query  b (1)\nkey  b (1)\ncapped  1.7500", "as what became of the scores")
})

test("a cell of compared maps tells its number in each, or why there is none", () => {
  const [none, title] = [Number.NaN, (title) => ({ title, kind: "diverging", most: 1 })]
  const numbers = Float32Array.of(0.25, none, none, 1, 0.75, 0.5, none, none, 0.5, 0.5, none, none)
  const content = {
    ...{ names: ["a", "b"], maps: ["A", "B", "B − A"].map(title) },
    ...{ numbers: Float32Array.of(...numbers, 0.125, none), rest: new Uint8Array(12) },
  }
  content.rest.set([1, 1], 10)
  assert.equal(comparison.words(content, 0, 0), "“a” to “a”: A 0.2500 · B 0.7500 · B − A +0.5000")
  assert.equal(comparison.words(content, 1, 0), "“b” to “a”: A masked · B masked · B − A —")
  assert.match(comparison.words(content, 0, null), /^“a” diverges by 0\.1250 bits\./)
  assert.match(comparison.words(content, 1, null), /^“b” has no divergence\./)
})
