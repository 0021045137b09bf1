import assert from "node:assert/strict"
import { test } from "node:test"
import { inkOn, ramp, rgb, shadeOf } from "../../attention/browser/shared/colours.js"
import { pixelsOf } from "../../attention/browser/shared/painter.js"

const SHADES = new Uint32Array([10, 11, 12, 13, 14])

test("a scale's ends have its first and last colour, and what lies beyond has them too", () => {
  const shades = [-9, -1, 0, 1, 9].map((number) => shadeOf(number, -1, 1, SHADES))
  assert.deepEqual(shades, [10, 10, 12, 14, 14])
})

test("what has left the page has no colours, and painting it does no harm", () => {
  assert.equal(ramp([""]).length, 512)
})

test("a number takes the nearest colour", () => {
  assert.equal(shadeOf(0.37, 0, 1, SHADES), 11)
  assert.equal(shadeOf(0.38, 0, 1, SHADES), 12)
})

test("each number is one pixel, and what is no number stays clear", () => {
  const pixels = pixelsOf(new Float32Array([0, Number.NaN, 1, 0.5]), [0, 1], SHADES)
  assert.deepEqual([...pixels], [10, 0, 14, 12])
})

test("a pixel is red in its lowest byte, then green, then blue", () => {
  assert.equal(rgb(0xff030201), "rgb(1,2,3)")
})

test("one writes dark on light colours and light on dark ones", () => {
  assert.equal(inkOn(0xffffffff), "#000")
  assert.equal(inkOn(0xff00ff00), "#000") // green has 0.7152 of the light of white
  assert.equal(inkOn(0xff0000ff), "#000") // red 0.2126: (0.2126 + 0.05) / 0.05 = 5.3 to 1
  assert.equal(inkOn(0xffff0000), "#fff") // blue 0.0722
  assert.equal(inkOn(0xff6b3008), "#fff")
})
