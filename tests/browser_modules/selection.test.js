import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import * as selection from "../../attention/browser/shared/selection.js"

/* As much of a page as a selection needs: its address, frames, and elements that are there or not. */
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
  selection.pointAt(null)
  draw()
  selection.adopt({ turn, values: { query: 2, stage: "weights" }, defaults })
})

test("what the server says holds, and stands in the address where it is no default", () => {
  assert.equal(selection.where(5).held, 2)
  assert.equal(location.href, "http://page/?query=2")
  selection.adopt({ turn, values: { query: 0, stage: "scores" }, defaults })
  assert.equal(selection.where(5).stage, "scores")
  assert.equal(location.href, "http://page/?stage=scores")
})

test("what is older than the newest choice made here is left alone", () => {
  selection.choose("query", 4)
  selection.adopt({ turn, values: { query: 1, stage: "weights" }, defaults })
  assert.equal(selection.where(5).held, 4)
  selection.adopt({ turn: turn + 1, values: { query: 3, stage: "weights" }, defaults })
  assert.equal(selection.where(5).held, 3)
})

test("choosing what is chosen already is no choice", () => {
  selection.choose("query", 2)
  selection.adopt({ turn, values: { query: 1, stage: "weights" }, defaults })
  assert.equal(selection.where(5).held, 1)
})

test("among fewer queries the last one stands for the chosen one, which is not forgotten", () => {
  const { held, query, key, cell, wanted } = selection.where(2)
  assert.deepEqual([held, query, key, cell, wanted], [1, 1, null, false, 2])
  assert.equal(selection.where(5).held, 2)
})

test("what is pointed at is shown for the moment, and no further than there are queries", () => {
  selection.pointAt({ query: 4, key: 1 })
  assert.deepEqual(
    [selection.where(5).query, selection.where(5).key, selection.where(5).held],
    [4, 1, 2],
  )
  assert.equal(selection.where(3).query, 2)
  selection.choose("query", 1)
  assert.deepEqual([selection.where(5).query, selection.where(5).key], [1, null])
})

test("all that moves hears of a choice at once, and of pointing with the next frame", () => {
  let heard = 0
  selection.whenMoved({ isConnected: true }, () => heard++)
  selection.choose("query", 3)
  assert.equal(heard, 1)
  selection.pointAt({ key: 1 })
  selection.pointAt({ key: 2 })
  selection.pointAt({ key: 2 })
  assert.equal(heard, 1)
  draw()
  assert.equal(heard, 2)
})

test("elements of a page that one has left hear nothing, and are let go", () => {
  const before = selection.listening().size
  const element = { isConnected: true }
  selection.whenMoved(element, () => assert.fail())
  assert.equal(selection.listening().size, before + 1)
  element.isConnected = false
  selection.whenMoved({ isConnected: true }, () => {})
  assert.equal(selection.listening().size, before + 1)
  selection.choose("query", 1)
})

const wait = () => new Promise((resolve) => setTimeout(resolve, 100))

test("of choices made in a row the server is told the last, once", async () => {
  const told = []
  selection.tellBy((values) => told.push(values), turn)
  selection.choose("query", 3)
  selection.choose("stage", "scores")
  await wait()
  assert.deepEqual(told, [{ query: 3, stage: "scores" }])
})

test("the server is told by the part of the page that came last", async () => {
  const told = []
  selection.tellBy(() => assert.fail("its fragment is not on the page any more"), turn)
  selection.tellBy(({ query }) => told.push(query), turn)
  selection.choose("query", 4)
  await wait()
  assert.deepEqual(told, [4])
})

test("what the server has not heard of is told as soon as there is a way again", async () => {
  const told = []
  selection.choose("query", 1)
  await wait()
  selection.tellBy(({ query }) => told.push(query), turn)
  await wait()
  selection.tellBy(() => assert.fail("it has heard of all"), turn + 1)
  await wait()
  assert.deepEqual(told, [1])
})
