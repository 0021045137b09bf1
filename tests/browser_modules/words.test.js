import assert from "node:assert/strict"
import { test } from "node:test"
import * as comparison from "../../attention/components/browser/comparison/index.js"
import * as head_view from "../../attention/components/browser/head_view/index.js"
import * as heatmap from "../../attention/components/browser/heatmap/index.js"
import * as matrices from "../../attention/components/browser/matrices/index.js"
import { fixed, inFull, named } from "../../attention/components/browser/shared/words.js"
import * as token_view from "../../attention/components/browser/token_view/index.js"
import * as weighted_sum from "../../attention/components/browser/weighted_sum/index.js"

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
    ["“the” at 0", "“cat”"],
  )
})

test("the two keys with the greatest weights are named, masked ones never", () => {
  const tokens = ["the", "cat", "walks"]
  const names = { tokens, keyTokens: tokens, alone: true }
  const said = token_view.summarise(names, new Float32Array([0.25, 0.75, Number.NaN]), 1)
  assert.equal(said, "“cat” attends most to itself (0.750), then “the” (0.250).")
  const none = token_view.summarise(names, new Float32Array(3).fill(Number.NaN), 0)
  assert.equal(none, "“the” may attend to nothing: weights and output are 0.")
})

test("of the heads drawn three are told, of a key's weights twelve", () => {
  const row = new Float32Array([0.25, 0.75])
  const [heads, rows] = [[...Array(14).keys()], Array(14).fill(row)]
  const most = head_view.summarise(["a", "b"], 1, heads, rows)
  assert.match(most, /^From “b”, head 0 at itself \(0\.750\), .* most; and 11 more\.$/)
  const told = head_view.tell(["a", "b"], 0, 1, heads, rows)
  assert.match(told, /^“a” to “b”: head 0 0\.750, .*head 11 0\.750, and 2 more\.$/)
})

test("a heatmap's legend says when numbers lie beyond its ends", () => {
  assert.deepEqual(heatmap.legendOf(-2.51, 2.51, true), ["≥ 2.5", "0", "≤ −2.5"])
  assert.deepEqual(heatmap.legendOf(0, 1, false), ["1", "0.5", "0"])
})

test("scaled scores that are not sent are the scores in 32-bit floats times the scale", () => {
  const content = { rows: 1, columns: 2, sent: ["scores", "weights"], scale: 0.1 }
  const numbers = new Float32Array([3, -1, 0.75, 0.25])
  const { scaled, weights } = heatmap.stagesOf(content, numbers)
  assert.deepEqual(
    [...scaled],
    [3, -1].map((score) => Math.fround(score * Math.fround(0.1))),
  )
  assert.deepEqual([...weights], [0.75, 0.25])
})

test("pointing at a cell tells its tokens, its numbers and what hides it", () => {
  const content = { tokens: ["a", "b"], keys: null, columns: 2, masks: ["causal", "padding"] }
  const numbers = { scores: [0, 1, 2, 3], scaled: [0, 0.5, 1, 1.5], weights: [1, 0, 0.5, 0.5] }
  const said = heatmap.words({ content, numbers, masked: [0, 3, 0, 0] }, [0, 1])
  assert.deepEqual(said.split("\n"), [
    "query  a (0)",
    "key  b (1)",
    "score  1.0000",
    "scaled  0.5000",
    "weight  0.0000",
    "hidden by causal and padding",
  ])
})

test("a difference needs both sides, and what one side hides has weight 0 there", () => {
  const a = [0.25, Number.NaN, Number.NaN, 0.5]
  const b = [0.75, 0.5, Number.NaN, 0.5]
  const cells = comparison.difference(a, b, { size: 2, both: [true, true] })
  assert.deepEqual([...cells], [0.5, 0.5, Number.NaN, 0])
  const alone = comparison.difference(a, b, { size: 2, both: [true, false] })
  assert.deepEqual([...alone], [0.5, Number.NaN, Number.NaN, Number.NaN])
})

test("a scale reaches as far as the greatest size, and nowhere is it empty", () => {
  assert.equal(comparison.greatest([0.25, -0.5], [Number.NaN]), 0.5)
  assert.equal(comparison.greatest([Number.NaN]), 1)
})

test("a comparison tells a cell on both sides, and what has no other side", () => {
  const content = { size: 1, names: ["a"], titles: ["A", "B", "B − A"], both: [true] }
  const cells = [[0.25], [0.75], [0.5]]
  const told = comparison.words({ ...content, absent: [[false], [false], []] }, cells, [0.1], 0, 0)
  assert.equal(told, "“a” to “a”: A 0.2500 · B 0.7500 · B − A +0.5000")
  const missing = { ...content, both: [false], absent: [[false], [true], []] }
  const gone = comparison.words(missing, [[0.25], [Number.NaN], [Number.NaN]], [Number.NaN], 0, 0)
  assert.equal(gone, "“a” to “a”: A 0.2500 · B — · B − A —")
})

test("a matrix's cell is told by names or positions, and kept back while it is to be guessed", () => {
  const part = { name: "Q", rows: 1, columns: 2, rowNames: ["cat"], columnNames: [], masked: true }
  const cells = new Float32Array([0.5, Number.NaN])
  const told = (hidden, cell) => matrices.words({ hidden, parts: [part] }, part, cells, cell)
  assert.equal(told(false, [0, 0]), "Q [cat, 0] = 0.5000")
  assert.equal(told(false, [0, 1]), "Q [cat, 1] = masked")
  assert.equal(told(true, [0, 0]), "Q [cat, 0] = ?")
  assert.equal(told(false, [1, 0]), "")
})

test("a term of a weighted sum is told as weight times value", () => {
  const sum = { keys: ["a", "others"], positions: [0, null], weights: [0.25, 0.75], width: 2 }
  const data = { ...sum, numbers: new Float32Array([1, -0.5, 2, 3, 3, 2.5]) }
  assert.equal(weighted_sum.words(data, 0, 1), "a, dimension 1: -0.500000 = 0.250000 · -2.00000")
  assert.equal(weighted_sum.words(data, 1, 0), "others, dimension 0: 2.00000")
  assert.equal(
    weighted_sum.words(data, 2, 1),
    "y, dimension 1: 2.50000, the sum of the column above",
  )
})

test("a share is of hundred, without a sign where it is none", () => {
  assert.equal(weighted_sum.format("share of y", 0.1234), "12.3 %")
  assert.equal(weighted_sum.format("share of y", -0.0001), "0.0 %")
  assert.equal(weighted_sum.format("share of y", null), "")
})

test("hostile tokens are words in a file as well", () => {
  assert.equal(weighted_sum.escaped(`<b a="'&">`), "&#60;b a=&#34;&#39;&#38;&#34;&#62;")
})
