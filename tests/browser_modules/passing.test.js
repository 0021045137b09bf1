import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import { encode } from "../../attention/browser/shared/message.js"
import { passOn } from "../../attention/browser/shared/passing.js"

Object.assign(globalThis, { window: globalThis, ShadowRoot: class {} })

const messageOf = (header) => encode(header, new Float32Array(), new Uint8Array())
const LOOK = 16
const PATIENCE = 10_000
let place

/* A component that is drawn in one place: what has been drawn, what the server was given, and how
   what is drawn gives an answer. */
beforeEach(() => {
  const parentElement = { pressed: false, matches: () => parentElement.pressed }
  const [drawn, given] = [[], []]
  const setTriggerValue = (event, value) => given.push([event, ...value])
  const say = (header) =>
    passOn({ data: messageOf(header), parentElement, setTriggerValue }, (each) => {
      drawn.push(header)
      place.answer = each.setTriggerValue
    })
  place = { parentElement, drawn, given, say, answer: () => {} }
})

/* What waits for promises has been done. */
const done = () => new Promise((resolve) => setImmediate(resolve))

test("while one presses nothing is drawn anew, and then the newest alone", async (context) => {
  const { parentElement, drawn, say } = place
  context.mock.timers.enable({ apis: ["setTimeout"] })
  await say({ turn: 1 })
  parentElement.pressed = true
  const [older, newer] = [say({ turn: 2 }), say({ turn: 3 })]
  context.mock.timers.tick(LOOK)
  await done()
  assert.deepEqual(drawn, [{ turn: 1 }])
  parentElement.pressed = false
  context.mock.timers.tick(LOOK)
  await Promise.all([older, newer])
  assert.deepEqual(drawn, [{ turn: 1 }, { turn: 3 }])
})

test("answers that each count are given one after the other, each once the last was heard of", async () => {
  const { given, say } = place
  await say({ figures: [{ key: "window", turn: 0 }] })
  for (const [turn, head] of [
    [1, 15],
    [2, 16],
    [3, 17],
  ])
    place.answer("window.switched", [turn, head])
  await done()
  assert.deepEqual(given, [["window.switched", 1, 15]])
  await say({ figures: [{ key: "window", turn: 0 }] })
  assert.equal(given.length, 1, "a message that has not heard of it")
  await say({ figures: [{ key: "window", turn: 1 }] })
  assert.deepEqual(given.at(-1), ["window.switched", 2, 16])
  await say({ figures: [{ key: "film", turn: 0 }] })
  assert.deepEqual(
    given.at(-1),
    ["window.switched", 3, 17],
    "of a figure that is gone none is waited for",
  )
})

test("of answers that say all the last is given, and different ones together", async () => {
  const { given, say } = place
  await say({ turn: 0 })
  place.answer("head", [1, 15])
  await done()
  for (const [event, ...value] of [
    ["head", 2, 16],
    ["head", 3, 17],
    ["switched", 4, 17],
    ["head", 5, 18],
  ])
    place.answer(event, value)
  await say({ turn: 1 })
  const together = [
    ["head", 3, 17],
    ["switched", 4, 17],
  ]
  assert.deepEqual(given, [["head", 1, 15], ...together])
  await say({ turn: 4 })
  assert.deepEqual(given.at(-1), ["head", 5, 18])
})

test("an answer that is lost holds the next one up for a while", async (context) => {
  const { given, say } = place
  context.mock.timers.enable({ apis: ["setTimeout"] })
  await say({ turn: 0 })
  for (const turn of [1, 2]) place.answer("piece", [turn, 7])
  await done()
  context.mock.timers.tick(PATIENCE - 1)
  assert.deepEqual(given, [["piece", 1, 7]])
  context.mock.timers.tick(1)
  assert.deepEqual(given.at(-1), ["piece", 2, 7])
})
