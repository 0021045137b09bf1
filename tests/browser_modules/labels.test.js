import assert from "node:assert/strict"
import { test } from "node:test"
import { fitted } from "../../attention/browser/picture/labels.js"
import { letterSize } from "../../attention/browser/shared/matrix.js"

const layoutOf = (/** @type {string[]} */ ticktext) => ({
  height: 300,
  margin: { l: 50, r: 50, t: 26, b: 40 },
  xaxis: { ...axisOf(ticktext), tickangle: 0 },
  yaxis: { ...axisOf(ticktext), range: [ticktext.length - 0.5, -0.5] },
})

const axisOf = (/** @type {string[]} */ ticktext) => ({
  ticktext,
  tickvals: ticktext.map((_, at) => at),
  tickfont: { size: 10 },
  range: [-0.5, ticktext.length - 0.5],
})

test("labels lie flat while no two of them touch", () => {
  // 100 pixels a cell; a label of 10 letters takes 10 · 10 · 0.5 = 50.
  const layout = layoutOf(["a".repeat(10), "b".repeat(10)])
  assert.equal(fitted(layout, 300), layout)
  // The long one may reach over its cell as long as its neighbour is short: (100 + 5) / 2 + 4.
  assert.equal(fitted(layoutOf(["a".repeat(20), "b"]), 300).xaxis.tickangle, 0)
})

test("where two would touch all stand, and the figure grows by the room they need", () => {
  const layout = layoutOf(["a".repeat(20), "b".repeat(20)])
  const { height, margin, xaxis } = fitted(layout, 300)
  assert.equal(xaxis.tickangle, -90)
  assert.deepEqual(margin, { l: 50, r: 50, t: 14 + 120, b: 40 })
  assert.equal(height - margin.t, 300 - 26)
  assert.equal(fitted(layout, 600), layout, "with room for them they lie flat again")
})

test("a single label, and one that stands already, stay as they are", () => {
  const one = layoutOf(["a".repeat(99)])
  assert.equal(fitted(one, 200), one)
  const standing = { ...layoutOf(["a".repeat(99), "b".repeat(99)]) }
  standing.xaxis.tickangle = -90
  assert.equal(fitted(standing, 200), standing)
})

test("a square one is as large as its room, and what is over stays free at the right or below", () => {
  const side = (/** @type {number} */ width) => {
    const { height, margin } = fitted(layout, width, true)
    assert.equal(height - margin.t - margin.b, (width - margin.l - margin.r) * 0.8)
    return height - margin.t - margin.b
  }
  const layout = layoutOf(["a", "b"])
  Object.assign(layout.xaxis, { domain: [0, 0.8] })
  assert.equal(side(300), 200 * 0.8) // 300 - 100 pixels, 0.8 of which are the cells'
  assert.equal(side(350), 250 * 0.8)
  assert.equal(side(600), 300 - 26 - 40) // no higher than the layout has it
  assert.equal(fitted(layout, 600, true).margin.r, 50 + (500 * 0.8 - 234) / 0.8)
  assert.equal(fitted(layout, 0, true), layout)
})

test("of a small square one every so many tokens are written, each with a line of its own", () => {
  const labels = [..."abcdefghijklmnop"] // 16, of 10 pixels each, which may be 13 apart
  const written = (/** @type {number} */ side) => {
    const { xaxis, yaxis } = fitted(layoutOf(labels), side + 100, true)
    assert.deepEqual(xaxis.ticktext, yaxis.ticktext)
    assert.deepEqual(
      xaxis.ticktext,
      labels.filter((_, at) => xaxis.tickvals.includes(at)),
    )
    return xaxis.tickvals.length
  }
  assert.deepEqual([208, 207, 104, 52].map(written), [16, 8, 8, 4])
})

test("numbers in cells have 12 pixels with room for it, else 11, and are not shown below that", () => {
  // Four letters take 4 · 12 · 0.5 + 4 = 28 pixels, or 4 · 11 · 0.5 + 4 = 26.
  const sizes = [28, 27, 26, 25].map((cell) => letterSize(["0.25", "1"], cell))
  assert.deepEqual(sizes, [12, 11, 11, 0])
})
