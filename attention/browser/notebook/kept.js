import { encode } from "../shared/message.js"
import { answer } from "./answers.js"
import { bytes, unpacked } from "./packed.js"
import { showRun } from "./run.js"

/** @import { Kept } from "./answers.js"
    @import { Picture } from "./picture.js"
    @import { Chosen, Given as Run, Shown } from "./run.js"

    All that a file holds: numbers as base64, weights of heads by layer and head, packed by gzip;
    held: of a picture the queries whose rows these are; made: that weights are not there, but the
    queries and keys of each head, so many numbers in each, and what products are scaled by.
    @typedef {Omit<Run, "grid">
      & Pick<Kept, "rows" | "columns" | "least" | "texts">
      & { grid: string, chosen: Chosen, weights: Record<string, string>, held: number[],
        made?: Made }} Given
    @typedef {{ width: number, scale: number }} Made */

/** Draws what a file holds, of which nothing else is needed. */
export default function showKept() {
  const [data, place] = ["given", "place"].map((id) => document.getElementById(id))
  if (!data || !place) return
  const given = /** @type {Given} */ (JSON.parse(data.textContent ?? ""))
  const { rows, columns, least, texts, picture, held } = given
  /** @type {Shown["answer"]} */
  const answered = async ({ layer, head, query, asked }) => {
    const packed = given.weights[`${layer} ${head}`]
    if (!packed) return null
    const weights = await weightsOf(packed, given)
    if (picture) {
      const at = nearest(held, query, picture)
      const row = weights.slice(at * columns, (at + 1) * columns)
      return encode({ query: held[at] }, row, new Uint8Array())
    }
    return answer(
      { map: `run ${layer} ${head}`, rows, columns, least, texts, weights },
      asked,
      query,
    )
  }
  const shown = {
    ...given,
    grid: bytes(given.grid),
    answer: answered,
    choose: () => {},
    go: () => {},
  }
  showRun(place, shown, given.chosen)
}

/** The index of the query that stands nearest, within the picture if it is a patch.
    @type {(held: number[], query: number, picture: Picture) => number} */
function nearest(held, query, { first, columns }) {
  /** @type {(at: number) => number} */
  const away = (at) => {
    if (at < first || query < first) return Math.abs(at - query) * columns
    const [row, column] = [at, query].map((one) => Math.floor((one - first) / columns))
    return Math.abs(row - column) + Math.abs(((at - first) % columns) - ((query - first) % columns))
  }
  return held.reduce((best, at, index) => (away(at) < away(held[best]) ? index : best), 0)
}

/** @type {{ packed: string, weights: Float32Array | null }} */
const last = { packed: "", weights: null }

/** Weights of a head, of which only the last one stays unpacked.
    @type {(packed: string, given: Given) => Promise<Float32Array>} */
async function weightsOf(packed, { rows, made }) {
  if (last.packed === packed && last.weights) return last.weights
  const numbers = new Float32Array(await unpacked(packed).arrayBuffer())
  const weights = made ? weightsFrom(numbers, rows, made) : numbers
  return Object.assign(last, { packed, weights }).weights
}

/** The softmax of scaled products of each query with the keys up to it, as many as queries.
    @type {(numbers: Float32Array, rows: number, made: Made) => Float32Array} */
export function weightsFrom(numbers, rows, { width, scale }) {
  const keys = numbers.subarray(rows * width)
  const weights = new Float32Array(rows * rows)
  for (let row = 0; row < rows; row++) {
    const query = numbers.subarray(row * width, (row + 1) * width)
    const scores = new Float64Array(row + 1)
    for (let key = 0; key <= row; key++) {
      let score = 0
      for (let at = 0, from = key * width; at < width; at++) score += query[at] * keys[from + at]
      scores[key] = score * scale
    }
    const greatest = scores.reduce((most, score) => Math.max(most, score))
    let sum = 0
    for (let key = 0; key <= row; key++) sum += scores[key] = Math.exp(scores[key] - greatest)
    for (let key = 0; key <= row; key++) weights[row * rows + key] = scores[key] / sum
  }
  return weights
}
