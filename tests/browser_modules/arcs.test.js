import assert from "node:assert/strict"
import { test } from "node:test"
import { arc, arcsOf, kindOf } from "../../attention/browser/picture/arcs.js"
import { groupsOf } from "../../attention/browser/picture/lines.js"
import { between } from "../../attention/browser/shared/moving.js"
import { sizeOf } from "../../attention/browser/shared/words.js"

const SPOTS = [
  { x: 20, y: 100 },
  { x: 50, y: 100 },
  { x: 120, y: 100 },
]

/** The numbers of a path. */
const numbers = (path) => path.match(/-?[\d.]+/g).map(Number)

test("a weight is drawn on one scale, whatever else is in its row", () => {
  assert.deepEqual([0, 0.5, 1, 1.5, -0.25].map(sizeOf), [0, 0.5, 1, 1, 0.25])
  const many = (weight) => Float32Array.from({ length: 65 }, (_, key) => (key ? 0 : weight))
  const [faint, strong] = [0.25, 1].map((weight) => groupsOf(many(weight), new Uint8Array(65)))
  assert.deepEqual([faint.at(-1).weight, strong.at(-1).weight], [0.25, 1])
})

test("numbers go from one to another, fast at first, and end exactly there", () => {
  const [from, to] = [Float32Array.of(0, 1), Float32Array.of(0.8, 0.3)]
  assert.deepEqual(between(from, to, 0), from)
  assert.equal(between(from, to, 1), to)
  const half = between(from, to, 0.5)
  assert.ok(half[0] > 0.6 && half[0] < 0.8)
})

test("words stand in one row where they are legible so, else stacked on a phone, or in lines", () => {
  assert.equal(kindOf(34, 1300, 12), "row")
  assert.equal(kindOf(21, 390, 3), "row")
  assert.equal(kindOf(12, 390, 12), "stack")
  assert.equal(kindOf(12, 390, 40), "wrap")
  assert.equal(kindOf(12, 1300, 12), "wrap")
})

test("an arc leads from the word to the other, the higher the farther it is", () => {
  const layout = { spots: SPOTS, kind: "row", room: 150, sight: [0, 900] }
  const [near, far] = [1, 2].map((key) => numbers(arc(layout, 0, key)))
  assert.deepEqual(
    [near.slice(0, 2), near.slice(-2)],
    [
      [20, 100],
      [50, 100],
    ],
  )
  assert.deepEqual(far.slice(-2), [120, 100])
  assert.ok(far[3] < near[3] && near[3] < 100)
  const own = numbers(arc(layout, 1, 1))
  assert.equal((own[0] + own.at(-2)) / 2, 50)
  const beside = SPOTS.map(({ x }) => ({ x: 150, y: x }))
  const aside = numbers(arc({ spots: beside, kind: "stack", room: 0, sight: [0, 900] }, 0, 2))
  assert.deepEqual(
    [aside.slice(0, 2), aside.slice(-2)],
    [
      [150, 20],
      [150, 120],
    ],
  )
  assert.ok(aside[2] < 150 && aside[2] >= 0)
})

test("the strongest arc lies above the others, and of very many the weakest are left out", () => {
  assert.deepEqual(arcsOf(Float32Array.of(0.2, 0.7, 0, 0.1)), [2, 3, 0, 1])
  const many = Float32Array.from({ length: 100 }, (_, key) => key / 100)
  assert.deepEqual([arcsOf(many).length, arcsOf(many).at(-1)], [48, 99])
})
