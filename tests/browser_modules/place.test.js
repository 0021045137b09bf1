import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import * as place from "../../attention/components/browser/shared/place.js"

/* As much of a page as a place needs: its address, frames, and elements that are there or not. */
const frames = []
Object.assign(globalThis, {
  window: globalThis,
  location: { href: "http://page/" },
  history: { replaceState: (_state, _title, { href }) => Object.assign(location, { href }) },
  requestAnimationFrame: (task) => frames.push(task),
  cancelAnimationFrame: (frame) => delete frames[frame - 1],
})
const draw = () => {
  for (const task of frames.splice(0)) task?.()
}
const defaults = { query: 0, stage: "weights" }
let turn = 0

beforeEach(() => {
  turn += 100
  place.pointAt(null)
  draw()
  place.adopt({ turn, values: { query: 2, stage: "weights" }, defaults })
})

test("what the server says holds, and stands in the address where it is no default", () => {
  assert.equal(place.where(5).held, 2)
  assert.equal(location.href, "http://page/?query=2")
  place.adopt({ turn, values: { query: 0, stage: "scores" }, defaults })
  assert.equal(place.where(5).stage, "scores")
  assert.equal(location.href, "http://page/?stage=scores")
})

test("what is older than the newest choice made here is left alone", () => {
  place.choose("query", 4)
  place.adopt({ turn, values: { query: 1, stage: "weights" }, defaults })
  assert.equal(place.where(5).held, 4)
  place.adopt({ turn: turn + 1, values: { query: 3, stage: "weights" }, defaults })
  assert.equal(place.where(5).held, 3)
})

test("choosing what is chosen already is no choice", () => {
  place.choose("query", 2)
  place.adopt({ turn, values: { query: 1, stage: "weights" }, defaults })
  assert.equal(place.where(5).held, 1)
})

test("among fewer queries the last one stands for the chosen one, which is not forgotten", () => {
  const { held, query, key, cell, wanted } = place.where(2)
  assert.deepEqual([held, query, key, cell, wanted], [1, 1, null, false, 2])
  assert.equal(place.where(5).held, 2)
})

test("what is pointed at is shown for the moment, and no further than there are queries", () => {
  place.pointAt({ query: 4, key: 1 })
  assert.deepEqual([place.where(5).query, place.where(5).key, place.where(5).held], [4, 1, 2])
  assert.equal(place.where(3).query, 2)
  place.choose("query", 1)
  assert.deepEqual([place.where(5).query, place.where(5).key], [1, null])
})

test("all that moves hears of a choice at once, and of pointing with the next frame", () => {
  let heard = 0
  place.whenMoved({ isConnected: true }, () => heard++)
  place.choose("query", 3)
  assert.equal(heard, 1)
  place.pointAt({ key: 1 })
  place.pointAt({ key: 2 })
  place.pointAt({ key: 2 })
  assert.equal(heard, 1)
  draw()
  assert.equal(heard, 2)
})

test("elements of a page that one has left hear nothing, and are let go", () => {
  const before = place.listening().size
  const element = { isConnected: true }
  place.whenMoved(element, () => assert.fail())
  assert.equal(place.listening().size, before + 1)
  element.isConnected = false
  place.whenMoved({ isConnected: true }, () => {})
  assert.equal(place.listening().size, before + 1)
  place.choose("query", 1)
})

const wait = () => new Promise((resolve) => setTimeout(resolve, 100))

test("of choices made in a row the server is told the last, once", async () => {
  const told = []
  place.tellBy((answer) => told.push(answer), turn)
  place.choose("query", 3)
  place.choose("stage", "scores")
  await wait()
  assert.deepEqual(told, [{ turn: turn + 2, values: { query: 3, stage: "scores" } }])
})

test("the server is told by the part of the page that came last", async () => {
  const told = []
  place.tellBy(() => assert.fail("its fragment is not on the page any more"), turn)
  place.tellBy(({ values }) => told.push(values.query), turn)
  place.choose("query", 4)
  await wait()
  assert.deepEqual(told, [4])
})

test("what the server has not heard of is told as soon as there is a way again", async () => {
  const told = []
  place.choose("query", 1)
  await wait()
  place.tellBy(({ values }) => told.push(values.query), turn)
  await wait()
  place.tellBy(() => assert.fail("it has heard of all"), turn + 1)
  await wait()
  assert.deepEqual(told, [1])
})
