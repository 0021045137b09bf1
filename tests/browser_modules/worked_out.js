/* What the modules make of a message that a page sends, as JSON:
   `node worked_out.js picture FILE QUERY…`, or `sweep FILE VALUE…`. */
import { readFileSync } from "node:fs"
import { contentOf } from "../../attention/browser/picture/index.js"
import * as sums from "../../attention/browser/picture/sums.js"
import { decode } from "../../attention/browser/shared/message.js"
import { work } from "../../attention/browser/sweep/index.js"

/** What a picture shows of a query. */
const ofQuery = (content, query) => ({
  ...sums.termsOf(content, query),
  ...sums.check(content, query),
  ...{ written: sums.written(sums.applied(content, query)).strongest.map(([key]) => key) },
})

const [kind, file, ...asked] = process.argv.slice(2)
const content = decode(new Uint8Array(readFileSync(file)))
const picture = kind === "picture" && contentOf(content)
const found = asked
  .map(Number)
  .map((number) => (picture ? ofQuery(picture, number) : work(content, number)))
const plain = (_, value) => (ArrayBuffer.isView(value) ? [...value] : value)
process.stdout.write(JSON.stringify(found, plain))
