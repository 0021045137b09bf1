import assert from "node:assert/strict"
import { test } from "node:test"
import * as comparison from "../../attention/components/browser/comparison/index.js"
import * as head_view from "../../attention/components/browser/head_view/index.js"
import * as matrices from "../../attention/components/browser/matrices/index.js"
import * as heatmap from "../../attention/components/browser/picture/heatmap.js"
import * as sum from "../../attention/components/browser/picture/sum.js"
import * as sums from "../../attention/components/browser/picture/sums.js"
import {
  fixed,
  inFull,
  named,
  precise,
  scientific,
  shown,
} from "../../attention/components/browser/shared/words.js"

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
  const content = { tokens, keys: tokens, own: true, columns: 4 }
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
  assert.equal(told(0, hidden), "“the (0)” may look at nothing: weights and output are 0.")
})

test("shares are told as such, and none below 0 as the greatest", () => {
  const tokens = ["a", "b", "c"]
  const content = { tokens, keys: tokens, own: true, columns: 3, hidden: new Uint8Array(9) }
  const weights = new Float32Array([0, 0.25, -0.75, 0, 0, 0, 0, 0, 0])
  const told = (query) => sums.summary({ ...content, called: "share", numbers: { weights } }, query)
  assert.equal(told(0), "“a” has to do most with “b” (25 %).")
  assert.equal(told(1), "“b” has no share in another word.")
})

test("masks tell how many keys each of them hides, and that none is left", () => {
  const content = { tokens: ["a", "b"], columns: 4, emptyRow: "Its row is 0." }
  const hidden = Uint8Array.from([0, 1, 3, 0, 2, 2, 3, 2])
  const two = { ...content, masks: ["causal", "window"], hidden }
  assert.equal(
    sums.maskWords(two, 0),
    "“a” may look at 2 of 4 keys: causal hides 2 and window hides 1.",
  )
  assert.equal(
    sums.maskWords(two, 1),
    "“b” may look at nothing: of 4 keys causal hides 1 and window hides 4. Its row is 0.",
  )
  const one = { ...content, masks: ["causal"], hidden: new Uint8Array(8) }
  assert.equal(sums.maskWords(one, 0), "")
  assert.equal(sums.maskWords({ ...one, masks: [] }, 0), "")
})

test("small sizes are powers of ten, and none is 0", () => {
  const told = [0, 1.5e-7, 1e10, 1e-100].map(scientific)
  assert.deepEqual(told, ["0", "1.5e−7", "1.0e10", "1.0e−100"])
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
  const content = { tokens, keys: tokens, own: true, columns: 3, hidden: new Uint8Array(9) }
  const weights = new Float32Array([0.25, 0.375, 0.375, 0.5, 0.5, 0, 1 / 3, 1 / 3, 1 / 3])
  const told = (query) => sums.summary({ ...content, numbers: { weights } }, query)
  assert.equal(told(0), "“a” looks equally at “b” and “c”, 38 % each.")
  assert.equal(told(1), "“b” looks equally at “a” and itself, 50 % each.")
  assert.equal(told(2), "“c” looks equally at 3 keys, as “a”, 33 % each.")
})

test("long names are cut to twelve letters, and a position follows where a token comes again", () => {
  const tokens = ["the", "dampfschifffahrt", "the"]
  assert.deepEqual(sums.shortName(tokens, 1), ["dampfschiff…", ""])
  assert.deepEqual(sums.shortName(tokens, 2), ["the", " (2)"])
})

test("of the heads drawn three are told, of a key's weights twelve", () => {
  const row = new Float32Array([0.25, 0.75])
  const [heads, rows] = [[...Array(14).keys()], Array(14).fill(row)]
  const most = head_view.summarise(["a", "b"], 1, heads, rows)
  const even = head_view.summarise(["a", "b"], 1, [3], [new Float32Array([0.5, 0.5])])
  assert.equal(even, "From “b”, head 3 at 2 keys alike (0.500) most.")
  assert.match(most, /^From “b”, head 0 at itself \(0\.750\), .* most; and 11 more\.$/)
  const told = head_view.tell(["a", "b"], 0, 1, heads, rows)
  assert.match(told, /^“a” to “b”: head 0 0\.750, .*head 11 0\.750, and 2 more\.$/)
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
  const rows = [
    { key: 1, name: "a", weight: 0.25 },
    { key: 3, name: "b", weight: 0 },
    { key: null, name: "2 others", weight: 0.75 },
  ]
  const shown = { rows, terms: new Float32Array([1, -0.5, 0, 0, 2, 3, 3, 2.5]) }
  const values = new Float32Array([9, 9, 4, -2, 9, 9, 7, 8])
  const content = { columns: 4, width: 2, numbers: { values } }
  const told = (row, dimension) => sum.words(shown, content, row, dimension)
  assert.equal(told(0, 1), "a, dimension 1: −0.500000 = 0.250000 · −2.00000")
  assert.equal(told(1, 1), "b, dimension 1: 0.00000 = 0.00000 · 8.00000")
  assert.equal(told(2, 0), "2 others, dimension 0: 2.00000")
  assert.equal(told(3, 1), "y, dimension 1: 2.50000, the sum of the column above")
})

test("a share is of hundred, without a sign where it is none", () => {
  const share = sums.COLUMNS.indexOf("share of y")
  const shares = [0.1234, -0.0001, null].map((number) => sums.format(share, number))
  assert.deepEqual(shares, ["12.3 %", "0.0 %", ""])
  assert.equal(sums.format(sums.COLUMNS.indexOf("score"), 0.5), "0.5000")
  assert.equal(sums.format(sums.COLUMNS.indexOf("‖v‖"), 0.5), "0.500")
})

test("an integer among integers is told as such", () => {
  const told = (whole, number) => matrices.told({ masked: true, whole }, number)
  assert.deepEqual([told(true, 1), told(true, -12), told(true, -0)], ["1", "−12", "0"])
  assert.deepEqual([told(false, 1), told(true, Number.NaN)], ["1.0000", "masked"])
})
