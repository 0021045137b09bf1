/* What the modules of a file answer, as JSON: `node answered.js FILE`, of a head and questions. */
import { readFileSync } from "node:fs"
import { answer } from "../../attention/browser/notebook/answers.js"
import { decode } from "../../attention/browser/shared/message.js"

const { questions, ...kept } = JSON.parse(readFileSync(process.argv[2], "utf-8"))
kept.weights = Float32Array.from(kept.weights)
const found = questions.map((asked) => decode(answer(kept, asked, 0)))
const plain = (_, value) => (ArrayBuffer.isView(value) ? [...value] : value)
process.stdout.write(JSON.stringify(found, plain))
