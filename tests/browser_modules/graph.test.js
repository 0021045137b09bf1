import assert from "node:assert/strict"
import { test } from "node:test"
import { HEIGHT, layoutOf } from "../../attention/browser/step_graph/layout.js"

const box = (step, column, lane) => ({ step, title: step, note: "", column, lane })
const arrow = (start, end, name = "", shape = [6, 50]) => ({ start, end, name, shape })

/** x, three roles and so many steps on to y. */
function apart(steps) {
  const roles = ["q", "k", "v"].map((name, lane) => box(name, 1, lane))
  const chain = Array.from({ length: steps }, (_, index) => box(`s${index}`, index + 2, 0.5))
  const boxes = [box("x", 0, 1), ...roles, ...chain, box("", steps + 2, 0.5)]
  const output = boxes.length - 2
  const arrows = [1, 2, 3].map((role) => arrow(0, role))
  arrows.push(arrow(1, 4, "Q"), arrow(2, 4, "K"), arrow(3, output, "V"))
  for (let at = 4; at <= output; at++) arrows.push(arrow(at, at + 1, "", [6, 6]))
  return { boxes, arrows }
}

/** The same with so many boxes that queries and keys go through on their way. */
function refined(between, steps) {
  const { boxes, arrows } = apart(steps)
  const more = Array.from({ length: between }, (_, at) => [
    box("q", at + 2, 0),
    box("k", at + 2, 1),
  ])
  const behind = boxes.slice(4).map((one) => ({ ...one, column: one.column + between }))
  const moved = (at) => (at < 4 ? at : at + 2 * between)
  const further = arrows.map((one) => ({ ...one, start: moved(one.start), end: moved(one.end) }))
  for (const [lane, name] of ["Q", "K"].entries()) {
    const last = further.find((arrow) => arrow.name === name)
    const way = [lane + 1, ...Array.from({ length: between }, (_, at) => 4 + 2 * at + lane)]
    last.start = way[between]
    for (let at = 0; at < between; at++) further.push(arrow(way[at], way[at + 1]))
  }
  return { boxes: [...boxes.slice(0, 4), ...more.flat(), ...behind], arrows: further }
}

/** One box for all three roles. */
function together(steps) {
  const boxes = Array.from({ length: steps + 3 }, (_, index) => box(`s${index}`, index, 0))
  boxes[boxes.length - 1].step = ""
  const output = boxes.length - 2
  const chain = boxes.slice(3).map((_, index) => arrow(index + 2, index + 3))
  return { boxes, arrows: [arrow(0, 1), arrow(1, 2, "Q, K"), arrow(1, output, "V"), ...chain] }
}

const overlap = (a, b) =>
  a.left < b.left + b.width &&
  b.left < a.left + a.width &&
  a.top < b.top + HEIGHT &&
  b.top < a.top + HEIGHT

test("boxes stand within the width and the height, and none on another", () => {
  for (const content of [apart(6), apart(9), refined(1, 7), refined(2, 9), together(6)])
    for (const room of [288, 640, 980, 1280]) {
      const { spots, width, height } = layoutOf(content, room)
      for (const [index, spot] of spots.entries()) {
        assert.ok(spot.left >= 0 && spot.left + spot.width <= width, `${width}: box ${index}`)
        assert.ok(spot.top >= 0 && spot.top + HEIGHT <= height)
        assert.ok(!spots.slice(0, index).some((other) => overlap(spot, other)))
      }
    }
})

test("boxes take the room there is, or as much as their names need", () => {
  assert.equal(layoutOf(together(6), 980).width, 980)
  const { spots, lines, width } = layoutOf(apart(7), 358)
  assert.ok(spots.slice(0, -1).every((spot) => spot.width === 62))
  for (const { x, text, anchor } of lines) {
    const [left, share] = [x - (anchor === "middle" ? text.length * 3 : 0), text.length * 6]
    assert.ok(left >= 0 && left + share <= width, `${text} from ${left} of ${width}`)
  }
})

test("an arrow ends where its box begins", () => {
  for (const width of [358, 980]) {
    const content = refined(1, 7)
    const { spots, lines } = layoutOf(content, width)
    for (const [index, { tip }] of lines.entries()) {
      const [x, y] = tip
      const { left, top, width: wide } = spots[content.arrows[index].end]
      assert.ok(x >= left && x <= left + wide && y >= top && y <= top + HEIGHT)
      assert.ok(x === left || x === left + wide || y === top || y === top + HEIGHT)
    }
  }
})
