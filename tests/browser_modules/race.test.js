import assert from "node:assert/strict"
import { test } from "node:test"
import { sharesOf, shareWords, weightsOf } from "../../attention/browser/race/index.js"

/* Two widths, three moments, two runners with a map and one without, five counts. */
const runner = (map) => ({ name: "", keeps: [], map, shares: false })
const content = {
  ...{ widths: [8, 16], steps: [0, 1, 2], counts: [1, 2, 3, 5, 7], lists: [2, 3] },
  runners: [runner(true), runner(true), runner(false)],
  numbers: Float32Array.from({ length: 3 * 90 + 2 * 3 * 2 * 13 }, (_, at) => at),
}

test("shares of a runner stand where its width, its moment and its place say", () => {
  const start = ((1 * 3 + 2) * 3 + 1) * 5
  const found = sharesOf(content, 1, 2, 1).map((numbers) => [...numbers])
  const expected = [0, 90, 180].map((kind) => [0, 1, 2, 3, 4].map((at) => kind + start + at))
  assert.deepEqual(found, expected)
})

test("weights of a variant over each list follow those of the shorter ones", () => {
  const start = 3 * 90 + ((1 * 3 + 0) * 2 + 1) * 13
  const [two, three] = weightsOf(content, 1, 0, 1)
  assert.deepEqual(
    [...two],
    [0, 1, 2, 3].map((at) => start + at),
  )
  assert.deepEqual([three[0], three.length], [start + 4, 9])
})

test("a share says its range over the seeds where there is one", () => {
  assert.equal(shareWords(0.75, 0.72, 0.8, 3), "75 % right (72 to 80)")
  assert.equal(shareWords(1, 1, 1, 3), "100 % right")
  assert.equal(shareWords(0.75, 0.75, 0.75, 1), "75 % right")
  assert.equal(shareWords(Number.NaN, Number.NaN, Number.NaN, 1), "nothing is learned yet")
})
