import assert from "node:assert/strict"
import { test } from "node:test"
import { launchOf } from "../../attention/browser/notebook/cmi5.js"

const WHOLE = {
  endpoint: "https://school.example/xapi//",
  fetch: "https://school.example/token?k=7",
  actor: '{"account":{"name":"ü&?"}}',
  registration: "760e3480-ba55-4991-94b0-01820dbd23a2",
  activityId: "https://school.example/11",
}

test("a launch is read in any order, and there is none where a part of it is missing", () => {
  const names = Object.keys(WHOLE)
  const read = { ...WHOLE, endpoint: "https://school.example/xapi" }
  const query = (named) => `?${new URLSearchParams(named.map((name) => [name, WHOLE[name]]))}`
  assert.deepEqual(launchOf(query(names)), read)
  assert.deepEqual(launchOf(query(names.toReversed())), read)
  for (const left of names)
    assert.equal(launchOf(query(names.filter((name) => name !== left))), null)
  assert.equal(launchOf(""), null)
})
