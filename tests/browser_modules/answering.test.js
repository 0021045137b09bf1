import assert from "node:assert/strict"
import { test } from "node:test"
import { gzipSync } from "node:zlib"
import { answering } from "../../attention/browser/notebook/worked_out.js"
import { decode, encode } from "../../attention/browser/shared/message.js"

const packedOf = (held) => gzipSync(JSON.stringify(held)).toString("base64")

test("an answer that keeps the rest changes its own part of what is shown, without a turn too", async () => {
  const about = { key: "map", kind: "any", digest: "", light: false }
  const held = {
    values: ["red", 1, 2, 0, "blue"],
    rests: [""],
    figures: [{ ...about, fields: { colour: 0, head: 1, floats: 3 }, rest: 0 }],
    scenes: [
      { figures: [0], rows: [] },
      { changes: { map: { fields: { head: 2 }, rest: 0 } } },
      { changes: { map: { fields: { colour: 4 }, rest: 0 } } },
    ],
    answers: { "map.head": [[7, 1]], "map.colour": [["blue", 2]] },
  }
  const shown = []
  const answer = answering(packedOf(held), new Uint8Array(), (data) => {
    const { figures, rest } = decode(data)
    const { colour, head } = decode(rest)
    shown.push([colour, head, figures[0].turn])
  })
  await answer("map.colour", [3, "blue"])
  await answer("map.head", [null, 7])
  assert.deepEqual(shown, [
    ["blue", 1, 3],
    ["blue", 2, 3],
  ])
})

test("an answer that waits for its scene has heard of what is done meanwhile", async () => {
  const answers = { "window.off": [] }
  const held = { values: [], rests: [], figures: [], scenes: [], answers }
  const figures = [{ key: "window", kind: "any", digest: "", size: 0, turn: 0 }]
  const header = { figures, rows: [], selection: null }
  const first = encode(header, new Float32Array(), new Uint8Array())
  const shown = []
  const answer = answering(packedOf(held), first, (data, there) =>
    shown.push([decode(data), there]),
  )
  const waits = answer("window.off", [1, "of a switch"])
  await answer("window.head", [2, "chosen a moment later"])
  await waits
  assert.deepEqual(
    shown.map(([{ figures }, there]) => [figures[0].turn, there]),
    [[2, false]],
  )
})
