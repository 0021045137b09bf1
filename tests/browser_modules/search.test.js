import assert from "node:assert/strict"
import { test } from "node:test"
import { hits, isOneSlip, leadsTo } from "../../attention/browser/search/index.js"

const place = (title, names = "", told = "", link = "explore") => ({ title, names, told, link })
const PLACES = [
  place("Scores", "raw weights, QKᵀ"),
  place("Weights", "softmax"),
  place("Joined heads", "W_o"),
  place("Batch", "padding"),
  place("Padding", "", "", "model"),
  place("d_k", "", "How many numbers a query and a key have."),
]
const titles = (query) => hits(PLACES, query).map(({ title }) => title)

test("a place is found by all words of its names, by its title first", () => {
  assert.deepEqual(titles("raw weights"), ["Scores"])
  assert.deepEqual(titles("WEIGHT"), ["Weights", "Scores"])
  assert.deepEqual(titles("w_o"), ["Joined heads"])
  assert.deepEqual(titles("padding"), ["Padding", "Batch"])
  assert.deepEqual(titles("a query"), ["d_k"])
  for (const none of ["", "  ", "?!", "raw nothing", "zebra"]) assert.deepEqual(titles(none), [])
})

test("one slip of a letter is forgiven in longer words", () => {
  for (const slip of ["paddng", "padfing", "paddding", "apdding"])
    assert.deepEqual(titles(slip), ["Padding", "Batch"], slip)
  for (const [one, other] of [
    ["pading", "padigns"],
    ["abcd", "badc"],
    ["abcd", "abcdef"],
  ])
    assert.equal(isOneSlip(one, other), false, one)
  assert.deepEqual(titles("w_p"), [])
})

test("on the page that is open all that is set stays, but for a link that says all", () => {
  const here = "http://a.example/base/explore?s=a+cat&fold=map&mask=causal&mask=window"
  const how = { link: "explore?fold=how", whole: false }
  const kept = "http://a.example/base/explore?fold=how&s=a+cat&mask=causal&mask=window"
  assert.equal(leadsTo(how, here, "model"), kept)
  const bare = here.replace("explore", "")
  assert.equal(leadsTo(how, bare, "explore"), kept)
  const masks = { link: "guide?chapter=masks&guess=&query=", whole: false }
  const answered = "http://a.example/base/guide?chapter=softmax&guess=1&query=3&lang=de"
  const chapter = "http://a.example/base/guide?chapter=masks"
  assert.equal(leadsTo(masks, answered, "explore"), `${chapter}&lang=de`)
  assert.equal(leadsTo(masks, here, "explore"), chapter)
  const whole = "http://a.example/base/explore?fold=how"
  assert.equal(leadsTo({ ...how, whole: true }, here, "explore"), whole)
  assert.equal(leadsTo(how, "http://a.example/base/model?s=a+cat", "explore"), whole)
})
