import assert from "node:assert/strict"
import { test } from "node:test"
import { layoutOf } from "../../attention/browser/head_grid/index.js"
import { sideOf } from "../../attention/browser/matrices/index.js"
import { within } from "../../attention/browser/picture/heatmap.js"
import { below, groupsOf } from "../../attention/browser/picture/lines.js"
import { corner, numbersApart } from "../../attention/browser/shared/head_map.js"
import { curve } from "../../attention/browser/shared/token_lines.js"

const FREE = { left: 0, top: 0, label: 20, gap: 8, turned: false }

test("the heads of a layer stand in one row, beside its name and below their numbers", () => {
  const layers = ["layer 0", "layer 1"]
  const layout = layoutOf({ heads: 12, rows: 9, columns: 9, layers }, 358)
  // 358 - 74 for the names leave 23 for each of 12, with a gap of 4.
  assert.deepEqual([layout.across, layout.side, layout.height], [12, 19, 20 + 2 * 23])
  assert.deepEqual(corner(layout, 0), [74, 20])
  assert.deepEqual(corner(layout, 13), [74 + 23, 20 + 23])
})

test("so many columns have their number that no two touch", () => {
  // A number of two digits takes 2 · 7 pixels, and 5 are left between two.
  const apart = [24, 19, 18, 13, 6].map((column) => numbersApart(32, column))
  assert.deepEqual(apart, [1, 1, 2, 2, 4])
  assert.equal(numbersApart(9, 12), 1)
  assert.equal(numbersApart(101, 19), 2)
})

test("heads are as large as fits a screen", () => {
  // Three across would be 2 × (230 + 20 + 8) − 8 = 508 high, too much; four are (900 − 24) / 4.
  const layout = layoutOf({ heads: 4, rows: 6, columns: 6, layers: [] }, 900)
  assert.deepEqual(layout, { ...FREE, across: 4, side: 219, width: 900, height: 239 })
  const five = layoutOf({ heads: 5, rows: 6, columns: 6, layers: [] }, 700)
  assert.equal(five.across, 3, "three and two, not four and one")
})

test("a head is never so small that two of its dots share a pixel", () => {
  for (const heads of [1, 8, 32])
    assert.ok(layoutOf({ heads, rows: 200, columns: 200, layers: [] }, 500).side >= 200)
})

test("cells with names have room for them, many cells share the room there is", () => {
  assert.deepEqual(
    [1, 24, 50, 500].map((count) => sideOf(count, 5)),
    [24, 576, 250, 340],
  )
})

test("a line leaves and arrives level, halfway between the lists", () => {
  assert.equal(curve(0, below(30, 0), 80, below(30, 2)), "M0,3 C40,3 40,71 80,71")
})

test("of a row that is zoomed out of sight nothing is framed", () => {
  const outer = { left: 10, top: 10, width: 100, height: 50 }
  const row = (top) => within({ left: 10, top, width: 100, height: 20 }, outer)
  assert.deepEqual(row(50), { left: 10, top: 50, width: 100, height: 10 })
  assert.equal(row(-40).height, 0)
})

test("up to 64 keys have a line each, but for masked ones", () => {
  const row = Float32Array.of(0.5, 0.2, 0, 0.3)
  const groups = groupsOf(row, Uint8Array.of(0, 0, 1, 0))
  assert.deepEqual(
    groups.map(({ keys }) => keys),
    [[0], [1], [3]],
  )
  assert.deepEqual(
    groups.map(({ weight }) => weight),
    [row[0], row[1], row[3]],
  )
})

test("of more keys those share a line whose weights are alike, and none is left out", () => {
  const row = Float32Array.from({ length: 67 }, (_, key) => (key % 2 ? 0.01 : 0.5 + key / 1e4))
  const groups = groupsOf(row, new Uint8Array(67))
  const spread = groups.map(({ keys }) => keys.map((key) => row[key]))
  assert.deepEqual(
    groups.flatMap(({ keys }) => keys).sort((a, b) => a - b),
    [...row.keys()],
  )
  assert.ok(groups.length <= 33)
  for (const [index, { weight }] of groups.entries()) {
    const [least, most] = [Math.min(...spread[index]), Math.max(...spread[index])]
    assert.ok(least - 1e-9 <= weight && weight <= most + 1e-9)
    assert.ok(most - least <= 1 / 32)
  }
})
