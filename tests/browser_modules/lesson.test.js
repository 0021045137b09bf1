import assert from "node:assert/strict"
import { test } from "node:test"
import { codeOf } from "../../attention/browser/notebook/lesson.js"

const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// As `carried.code_of` writes them: tests/subjects/guide/test_lesson_file.py.
test("codes are those of the app", () => {
  const asked = "[('Which word?', ('tea', 'good'), 1)]"
  assert.equal(codeOf([1], asked, LETTERS), "7VG")
  assert.equal(codeOf([null], asked, LETTERS), "512")
})
