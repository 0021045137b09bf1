import assert from "node:assert/strict"
import { test } from "node:test"
import { cellAfter, cellAt, itemAfter, rowAfter } from "../../attention/browser/shared/cells.js"
import { headAfter } from "../../attention/browser/shared/head_map.js"

test("arrow keys move by a row and stop at the edges, Home and End go there", () => {
  const keys = ["ArrowUp", "ArrowDown", "Home", "End", "Enter"]
  const from = (at) => keys.map((key) => rowAfter(key, at, 4))
  assert.deepEqual(from(0), [0, 1, 0, 3, 0])
  assert.deepEqual(from(2), [1, 3, 0, 3, 2])
  assert.deepEqual(from(3), [2, 3, 0, 3, 3])
})

test("other keys are left alone, whatever they are called", () => {
  for (const key of ["a", "Tab", "toString", "constructor"]) {
    assert.equal(rowAfter(key, 1, 4), undefined)
    assert.equal(cellAfter(key, [0, 0], 4, 4), null)
    assert.equal(headAfter(key, 1, 4, { across: 2, turned: false }), undefined)
  }
})

test("a point belongs to the cell beneath it, beyond the edge to the nearest one", () => {
  const box = { left: 100, top: 50, width: 40, height: 30 }
  const at = (clientX, clientY) => cellAt({ clientX, clientY }, box, 3, 4)
  assert.deepEqual(at(100, 50), [0, 0])
  assert.deepEqual(at(119, 61), [1, 1])
  assert.deepEqual(at(120, 61), [1, 2])
  assert.deepEqual(at(140, 80), [2, 3])
  assert.deepEqual(at(0, 999), [2, 0])
})

test("in a matrix keys move both ways and stop at the edges", () => {
  const after = (key, from) => cellAfter(key, from, 2, 3)
  assert.deepEqual(after("ArrowRight", [0, 1]), [0, 2])
  assert.deepEqual(after("ArrowRight", [0, 2]), [0, 2])
  assert.deepEqual(after("ArrowUp", [1, 1]), [0, 1])
  assert.deepEqual(after("End", [0, 0]), [1, 2])
  assert.deepEqual(after("Home", [1, 2]), [0, 0])
  assert.deepEqual(after(" ", [1, 1]), [1, 1])
})

test("in the grid of heads an arrow down goes to the head below, or beyond the last", () => {
  const rows = { across: 4, turned: false }
  assert.equal(headAfter("ArrowDown", 1, 6, rows), 5)
  assert.equal(headAfter("ArrowDown", 3, 6, rows), 7)
  assert.equal(headAfter("End", 3, 6, rows), 5)
  const columns = { across: 4, turned: true }
  assert.equal(headAfter("ArrowDown", 1, 8, columns), 2)
  assert.equal(headAfter("ArrowRight", 1, 8, columns), 5)
})

test("arrow keys to the side go through a line and stay at either end", () => {
  const keys = ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "Home", "End", "n"]
  assert.deepEqual(
    keys.map((key) => itemAfter(key, 9, 10)),
    [9, 9, 8, 8, 0, 9, undefined],
  )
  assert.equal(itemAfter("ArrowLeft", 0, 10), 0)
})
