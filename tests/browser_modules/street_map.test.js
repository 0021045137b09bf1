import assert from "node:assert/strict"
import { test } from "node:test"
import * as map from "../../attention/browser/street_map/geometry.js"

const COUNTS = { rows: 1000, columns: 4000 }
const ROOM = { width: 400, height: 300 }
const WHOLE = { left: 0, top: 0, cell: 0.1 }

test("the whole map has room, and no zoom leads further out or beyond its edges", () => {
  assert.equal(map.fitting(COUNTS, ROOM), 0.1)
  assert.deepEqual(map.zoomed(WHOLE, 0, 200, 150, COUNTS, ROOM), WHOLE)
  assert.deepEqual(map.zoomed(WHOLE, 0.5, 200, 150, COUNTS, ROOM), WHOLE)
  assert.equal(map.zoomed(WHOLE, 1e9, 0, 0, COUNTS, ROOM).cell, 64)
  const far = map.within({ left: 9999, top: -5, cell: 1 }, COUNTS, ROOM)
  assert.deepEqual(far, { left: 3600, top: 0, cell: 1 })
})

test("the cell under the pointer stays there as one zooms", () => {
  const place = map.zoomed({ left: 100, top: 200, cell: 1 }, 4, 40, 60, COUNTS, ROOM)
  assert.deepEqual(place, { left: 130, top: 245, cell: 4 })
})

test("squares of the level that is shown have a pixel or more, and large cells their weights", () => {
  const levels = [64, 10, 9.9, 1, 0.9, 0.5, 0.49, 0.02, 0.001].map((cell) => map.levelAt(cell, 7))
  assert.deepEqual(levels, [map.EXACT, map.EXACT, 0, 0, 1, 1, 2, 6, 7])
})

test("the tiles that are to be seen are those that the room reaches into", () => {
  const tiles = map.tilesIn({ left: 255, top: 512, cell: 2 }, 0, 256, COUNTS, ROOM)
  assert.deepEqual(tiles, [
    [0, 2, 0],
    [0, 2, 1],
  ])
  const last = map.tilesIn({ left: 3900, top: 990, cell: 1 }, 0, 256, COUNTS, ROOM)
  assert.deepEqual(last, [[0, 3, 15]])
})

test("a place around a cell has it in the middle, at a size one can read", () => {
  const place = map.around(WHOLE, 500, 2000, 20, COUNTS, ROOM)
  assert.deepEqual(place, { left: 1990.5, top: 493, cell: 20 })
})

test("arrow keys move the map no further than the chosen cell needs", () => {
  const place = { left: 10, top: 10, cell: 20 } // 20 by 15 cells
  assert.deepEqual(map.showing(place, 12, 12, COUNTS, ROOM), place)
  assert.deepEqual(map.showing(place, 25, 9, COUNTS, ROOM), { left: 9, top: 11, cell: 20 })
})

test("keys lead from cell to cell, by a screen or to the ends, and never out of the map", () => {
  const page = { rows: 15, columns: 20 }
  const after = (key, ctrlKey = false) => map.cellAfter({ key, ctrlKey }, [990, 5], COUNTS, page)
  assert.deepEqual(after("ArrowUp"), [989, 5])
  assert.deepEqual(after("ArrowRight"), [990, 6])
  assert.deepEqual(after("PageDown"), [999, 5])
  assert.deepEqual(after("Home"), [990, 0])
  assert.deepEqual(after("Home", true), [0, 0])
  assert.deepEqual(after("End", true), [999, 3999])
  assert.equal(after("x"), null)
  assert.equal(after("constructor"), null)
})

test("positions along an edge are round numbers that do not touch", () => {
  assert.deepEqual(map.ticks(0, 0.1, 400, 4000, 100), [0, 1000, 2000, 3000])
  assert.deepEqual(map.ticks(7, 20, 100, 4000, 12), [7, 8, 9, 10, 11])
  assert.deepEqual(map.ticks(95, 1, 100, 120, 20), [100])
})

test("shades go by equal ratios from an even share to all, and tell the weight again, about", () => {
  const shades = [0, 1 / 64, 1 / 16, 1 / 4, 1].map((weight) => map.shadeOfWeight(weight, 1 / 16))
  assert.deepEqual(shades, [0, 1, 1, 128, 255])
  assert.equal(map.weightOf(128, 1 / 16), 1 / 4)
  assert.equal(map.weightOf(0, 1 / 16), 0)
  assert.equal(map.shadeOfWeight(-1 / 4, 1 / 16), 128, "of a weight below 0 by its size")
  assert.deepEqual([...map.profile(Float32Array.of(0.25, -0.5), 1)], [0.5])
})

test("colours go by shade or by the weight itself, and no weight has none", () => {
  const ramp = Uint32Array.from({ length: 512 }, (_, at) => at)
  const [byRatio, even] = [false, true].map((by) => map.tableOf(ramp, 1 / 16, by))
  assert.deepEqual([byRatio[0], byRatio[1], byRatio[128], byRatio[255]], [0, 0, 256, 511])
  assert.deepEqual([even[0], even[128], even[255]], [0, 128, 511])
})

test("of the keys that share a pixel the greatest counts, and few keys take several pixels", () => {
  const weights = new Float32Array([0.5, 0.25, 0, 1])
  assert.deepEqual([...map.profile(weights, 2)], [0.5, 1])
  assert.deepEqual([...map.profile(weights, 8)], [0.5, 0.5, 0.25, 0.25, 0, 0, 1, 1])
})

test("the part of the map that is seen has all cells of which something is seen", () => {
  const counts = { rows: 4096, columns: 4096 }
  const room = { width: 536, height: 268 }
  assert.deepEqual(
    map.partOf({ left: 219.5, top: 498, cell: 13.4 }, counts, room),
    [498, 219, 20, 41],
  )
  assert.deepEqual(
    map.partOf({ left: 4000, top: 11, cell: 5.36 }, counts, room),
    [11, 4000, 50, 96],
  )
  const whole = { left: 0, top: 0, cell: map.fitting(counts, room) }
  assert.deepEqual(map.partOf(whole, counts, room), [])
})
