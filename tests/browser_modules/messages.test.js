import assert from "node:assert/strict"
import { test } from "node:test"
import { component } from "../../attention/browser/shared/component.js"
import { decode } from "../../attention/browser/shared/message.js"

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

const getRootNode = () => ({ activeElement: null })

test("a component is built once in each place, and drawn for each message", () => {
  const built = []
  const drawn = []
  const build = ({ root, content, send }) => {
    built.push(root.name)
    return { content, root, send }
  }
  const draw = ({ root, content }) => drawn.push(`${root.name}: ${content.tokens}`)
  const take = component(build, draw, null)
  const given = (parentElement, token) => ({
    data: encoded({ tokens: [token] }, new Float32Array(), []),
    parentElement,
  })
  const [left, right] = ["left", "right"].map((name) => ({ name, getRootNode }))
  take(given(left, "a"))
  take(given(right, "b"))
  take(given(left, "c"))
  assert.deepEqual(built, ["left", "right"])
  assert.deepEqual(drawn, ["left: a", "right: b", "left: c"])
})

test("a component answers by the way it was given last, and draws what has heard of it", () => {
  const [answers, drawn, answer, root] = [[], [], {}, { getRootNode }]
  const build = ({ content, send }) => {
    answer.send = send
    return { content }
  }
  const take = component(build, ({ content }) => drawn.push(content.at), null)
  const give = (at, turn) =>
    take({
      data: encoded({ key: "heads", turn, at }, new Float32Array(), []),
      parentElement: root,
      setTriggerValue: (event, value) => answers.push([at, event, value]),
    })
  give("first", 4)
  answer.send("head", 3)
  give("late", 4)
  answer.send("head", 2)
  give("last", 6)
  assert.deepEqual(drawn, ["first", "last"])
  assert.deepEqual(answers, [
    ["first", "head", [5, 3]],
    ["late", "head", [6, 2]],
  ])
})
