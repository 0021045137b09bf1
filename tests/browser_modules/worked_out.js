/* What the modules make of a picture that a page sends, as JSON: `node worked_out.js FILE QUERY…`. */
import { readFileSync } from "node:fs"
import { contentOf } from "../../attention/browser/picture/index.js"
import * as sums from "../../attention/browser/picture/sums.js"
import { decode } from "../../attention/browser/shared/message.js"

const [file, ...queries] = process.argv.slice(2)
const content = contentOf(decode(new Uint8Array(readFileSync(file))))
const found = queries.map(Number).map((query) => ({
  ...sums.termsOf(content, query),
  ...{ written: sums.written(sums.applied(content, query)).strongest.map(([key]) => key) },
}))
const plain = (_, value) => (ArrayBuffer.isView(value) ? [...value] : value)
process.stdout.write(JSON.stringify(found, plain))
