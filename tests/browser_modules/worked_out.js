/* What the modules make of a message that a page sends, as JSON:
   `node worked_out.js picture FILE QUERY…`, or `slider FILE FACTOR…`. */
import { readFileSync } from "node:fs"
import { contentOf } from "../../attention/browser/picture/index.js"
import * as sums from "../../attention/browser/picture/sums.js"
import { decode } from "../../attention/browser/shared/message.js"
import { softmax } from "../../attention/browser/word_rows/numbers.js"

/** What a picture shows of a query. */
const ofQuery = (content, query) => ({
  ...sums.termsOf(content, query),
  ...sums.check(content, query),
  ...{ written: sums.written(sums.applied(content, query)).strongest.map(([key]) => key) },
})

/** The weights that the slider of some rows shows at a factor, by query. */
const atFactor = ({ tokens, rows, slider, numbers }, factor) => {
  const size = tokens.length
  const before = rows.slice(0, slider.of).reduce((sum, row) => sum + row.queries, 0)
  return Array.from({ length: rows[slider.of].queries }, (_, query) => {
    const start = (before + query) * size
    return [...softmax(numbers.subarray(start, start + size), factor)]
  })
}

const [kind, file, ...asked] = process.argv.slice(2)
const content = decode(new Uint8Array(readFileSync(file)))
const picture = kind === "picture" && contentOf(content)
const found = asked
  .map(Number)
  .map((number) => (picture ? ofQuery(picture, number) : atFactor(content, number)))
const plain = (_, value) => (ArrayBuffer.isView(value) ? [...value] : value)
process.stdout.write(JSON.stringify(found, plain))
