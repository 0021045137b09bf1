import assert from "node:assert/strict"
import { test } from "node:test"
import { decode } from "../../attention/components/browser/shared/message.js"

function encoded(header, floats, rest) {
  const text = new TextEncoder().encode(JSON.stringify({ ...header, floats: floats.length }))
  const size = new Uint8Array(new Uint32Array([text.length]).buffer)
  return Uint8Array.from([...size, ...text, ...new Uint8Array(floats.buffer), ...rest])
}

const message = encoded(
  { tokens: ["‖naïve‖", "<b>"] },
  new Float32Array([0.5, Number.NaN, -Infinity]),
  [7, 255],
)

test("a message is its header, the numbers to the last bit, then the bytes", () => {
  const { tokens, numbers, rest } = decode(message)
  assert.deepEqual(tokens, ["‖naïve‖", "<b>"])
  assert.deepEqual([...numbers], [0.5, Number.NaN, -Infinity])
  assert.deepEqual([...rest], [7, 255])
})

test("a message may lie anywhere in a larger buffer", () => {
  const larger = new Uint8Array(message.length + 3)
  larger.set(message, 3)
  assert.deepEqual([...decode(larger.subarray(3)).rest], [7, 255])
})
