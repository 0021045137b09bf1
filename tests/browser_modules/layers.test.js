import assert from "node:assert/strict"
import { test } from "node:test"
import * as layer_lines from "../../attention/browser/layer_lines/index.js"

/** A token that looks at two others in two layers; of each layer some are drawn. */
const content = (more = {}) => ({
  tokens: ["a", "b", "a"],
  layers: ["layer 0", "layer 1"],
  query: 1,
  byHead: false,
  numbers: new Float32Array([0.25, 0.5, 0.25, 0, 0.125, 0.875]),
  rest: new Uint8Array([1, 1, 0, 0, 0, 1]),
  ...more,
})

test("a line is drawn for each weight that is marked, and for no other", () => {
  const links = layer_lines.linksOf(content())
  assert.deepEqual(links, [
    { layer: 0, key: 0, weight: 0.25, head: -1 },
    { layer: 0, key: 1, weight: 0.5, head: -1 },
    { layer: 1, key: 2, weight: 0.875, head: -1 },
  ])
  const rest = new Uint8Array([1, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 7])
  const heads = layer_lines.linksOf(content({ byHead: true, rest })).map(({ head }) => head)
  assert.deepEqual(heads, [4, 7])
})

test("arrow keys go through the layers from the last one, Escape leaves them", () => {
  const after = (key, at) => layer_lines.layerAfter(key, at, 3)
  assert.deepEqual([after("ArrowLeft", -1), after("ArrowRight", -1)], [2, 0])
  assert.deepEqual([after("ArrowLeft", 0), after("ArrowRight", 2)], [0, 2])
  assert.deepEqual(
    [after("Escape", 1), after("ArrowUp", 1), after("toString", 1)],
    [-1, undefined, undefined],
  )
})

test("a layer tells where the token looks, the most first", () => {
  assert.equal(
    layer_lines.tellLayer(content(), 0),
    "Layer 0: “b” looks at itself 0.50, “a (0)” 0.25.",
  )
  const rest = new Uint8Array([1, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 7])
  assert.equal(
    layer_lines.tellLayer(content({ byHead: true, rest }), 1),
    "Layer 1: “b” looks at “a (2)” 0.88 (head 7).",
  )
  const none = content({ rest: new Uint8Array(6) })
  assert.equal(layer_lines.tellLayer(none, 1), "Layer 1: “b” may look at nothing.")
  const many = { tokens: [..."abcdefg"], layers: ["layer 0"], query: 0 }
  const even = { numbers: new Float32Array(7).fill(1 / 7), rest: new Uint8Array(7).fill(1) }
  assert.match(layer_lines.tellLayer(content({ ...many, ...even }), 0), /“e” 0\.14, and 2 more\.$/)
})
