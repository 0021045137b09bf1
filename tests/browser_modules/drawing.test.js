import assert from "node:assert/strict"
import { test } from "node:test"
import { rectangles } from "../../attention/browser/shared/svg.js"

const RED = 0xff0000ff
const BLUE = 0xffff0000
const CLEAR = 0x00ffffff

test("pixels of one colour become rectangles, equal rows together", () => {
  const pixels = Uint32Array.from([RED, RED, BLUE, RED, RED, BLUE, CLEAR, BLUE, BLUE])
  assert.deepEqual(rectangles(pixels, 3, 9), [
    { x: 0, y: 0, width: 2, height: 2, pixel: RED },
    { x: 2, y: 0, width: 1, height: 2, pixel: BLUE },
    { x: 1, y: 2, width: 2, height: 1, pixel: BLUE },
  ])
})

test("too many rectangles are none", () => {
  assert.equal(rectangles(Uint32Array.from([RED, BLUE, RED]), 3, 2), null)
})
