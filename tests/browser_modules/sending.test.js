import assert from "node:assert/strict"
import { test } from "node:test"
import { component } from "../../attention/browser/shared/component.js"
import { encode } from "../../attention/browser/shared/message.js"

const messageOf = (turn, chosen) =>
  encode({ key: "heads", turn, chosen }, new Float32Array(), new Uint8Array())

test("what is chosen stays while its answer waits, whatever else the server says meanwhile", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] })
  const given = []
  const parentElement = { getRootNode: () => ({ activeElement: null }) }
  const view = {}
  const draw = component(
    (mount) => Object.assign(view, mount),
    () => {},
    null,
  )
  const say = (turn, chosen) =>
    draw({
      data: messageOf(turn, chosen),
      parentElement,
      setTriggerValue: (event, answer) => given.push([event, ...answer]),
    })
  say(0, 15)
  for (const head of [25, 26]) {
    view.content.chosen = head
    view.send("head", head, 40)
    say(0, 15)
    assert.equal(view.content.chosen, head)
  }
  context.mock.timers.tick(40)
  assert.deepEqual(given, [["head", 3, 26]], "of two in a row the last is given")
  say(0, 15)
  assert.equal(view.content.chosen, 26)
  say(3, 26)
  view.send("head", 27, 40)
  view.send("lens", "lost")
  context.mock.timers.tick(40)
  assert.deepEqual(
    given.slice(1).map(([event, , value]) => [event, value]),
    [
      ["head", 27],
      ["lens", "lost"],
    ],
    "what waits goes before what is done after it, and once",
  )
})
