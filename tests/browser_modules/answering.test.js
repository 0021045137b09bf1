import assert from "node:assert/strict"
import { test } from "node:test"
import { gzipSync } from "node:zlib"
import { answering } from "../../attention/browser/notebook/worked_out.js"
import { decode, encode } from "../../attention/browser/shared/message.js"

test("an answer that waits for its scene has heard of what is done meanwhile", async () => {
  const answers = { "window.off": [] }
  const held = { values: [], rests: [], figures: [], scenes: [], answers }
  const packed = gzipSync(JSON.stringify(held)).toString("base64")
  const figures = [{ key: "window", kind: "any", digest: "", size: 0, turn: 0 }]
  const header = { figures, rows: [], selection: null, held: false }
  const first = encode(header, new Float32Array(), new Uint8Array())
  const shown = []
  const answer = answering(packed, first, (data, there) => shown.push([decode(data), there]))
  const waits = answer("window.off", [1, "of a switch"])
  await answer("window.head", [2, "chosen a moment later"])
  await waits
  assert.deepEqual(
    shown.map(([{ figures }, there]) => [figures[0].turn, there]),
    [[2, false]],
  )
})
