import { answer } from "./answers.js"
import { showRun } from "./run.js"

/** @import { Kept } from "./answers.js"
    @import { Chosen, Shown } from "./run.js"

    All that a file holds: numbers as base64, weights of heads by layer and head, packed by gzip.
    @typedef {Pick<Shown, "heads" | "words" | "absent" | "styles" | "themes">
      & Pick<Kept, "rows" | "columns" | "least" | "texts">
      & { grid: string, chosen: Chosen, weights: Record<string, string> }} Given */

/** Draws what a file holds, of which nothing else is needed. */
export default function showKept() {
  const [data, place] = ["given", "run"].map((id) => document.getElementById(id))
  if (!data || !place) return
  const given = /** @type {Given} */ (JSON.parse(data.textContent ?? ""))
  const { rows, columns, least, texts } = given
  /** @type {Shown["answer"]} */
  const answered = async ({ layer, head, query, asked }) => {
    const packed = given.weights[`${layer} ${head}`]
    if (!packed) return null
    const weights = await unpacked(packed)
    return answer(
      { map: `run ${layer} ${head}`, rows, columns, least, texts, weights },
      asked,
      query,
    )
  }
  const shown = { ...given, grid: bytes(given.grid), answer: answered, choose: () => {} }
  showRun(place, shown, given.chosen)
}

/** @type {{ packed: string, weights: Float32Array | null }} */
const last = { packed: "", weights: null }

/** Weights of a head, of which only the last one stays unpacked.
    @type {(packed: string) => Promise<Float32Array>} */
async function unpacked(packed) {
  if (last.packed === packed && last.weights) return last.weights
  const stream = new Blob([bytes(packed)]).stream().pipeThrough(new DecompressionStream("gzip"))
  const weights = new Float32Array(await new Response(stream).arrayBuffer())
  return Object.assign(last, { packed, weights }).weights
}

/** @type {(text: string) => Uint8Array<ArrayBuffer>} */
function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}
