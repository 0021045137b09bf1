import { decode, encode } from "../shared/message.js"
import { bytes, unpacked } from "./packed.js"

/** @import { FigureHeader, RowHeader, SceneHeader } from "../messages.js"

    Scenes that a file holds besides the first: values of headers and what follows these, as base64,
    once each; figures and scenes by where these stand; and by the name of an event what it carries,
    with the scene that it leads to.
    @typedef {Omit<FigureHeader, "turn" | "size">
      & { fields: Record<string, number>, rest: number }} Saved
    @typedef {{ values: unknown[], rests: string[], figures: Saved[],
      scenes: { figures: number[], rows: RowHeader[] }[],
      answers: Record<string, [unknown, number][]> }} WorkedOut */

/** Answers what is done in a scene by scenes that were worked out before, as the app would. To what
    is not among them, of an event that has some, it shows again what was there.
    @param {string} packed as `worked_out.packed` in Python makes it
    @param {Uint8Array} first
    @param {(data: Uint8Array, there: boolean) => void} show
    @returns {(name: string, answer: unknown) => Promise<void>} */
export function answering(packed, first, show) {
  let now = first
  /** @type {Record<string, number>} */
  const turns = {}
  /** @type {Promise<WorkedOut> | null} */
  let reading = null
  return async (name, answer) => {
    const [turn, value] = /** @type {[number, unknown]} */ (answer)
    // Before anything is waited for: what is shown then has heard of all that was done meanwhile.
    turns[name.slice(0, name.lastIndexOf("."))] = turn
    reading ??= unpacked(packed).json()
    const held = await reading
    const known = held.answers[name]
    if (!known) return
    const wanted = JSON.stringify(value)
    const found = known.find(([carried]) => JSON.stringify(carried) === wanted)
    if (found) now = sceneOf(held, found[1])
    show(withTurns(now, turns), Boolean(found))
  }
}

/** The message of a scene, as `scene_message` in Python makes it.
    @type {(held: WorkedOut, at: number) => Uint8Array} */
function sceneOf({ values, rests, figures, scenes }, at) {
  const { figures: places, rows } = scenes[at]
  const parts = places.map((place) => {
    const { fields, rest, ...about } = figures[place]
    const header = Object.entries(fields).map(([name, where]) => [name, values[where]])
    const behind = bytes(rests[rest])
    const end = 4 * /** @type {{ floats: number }} */ (Object.fromEntries(header)).floats
    const numbers = new Float32Array(behind.slice(0, end).buffer)
    return { about, data: encode(Object.fromEntries(header), numbers, behind.subarray(end)) }
  })
  const told = parts.map(({ about, data }) => ({ ...about, turn: 0, size: data.length }))
  const all = new Uint8Array(parts.reduce((size, { data }) => size + data.length, 0))
  let from = 0
  for (const { data } of parts) {
    all.set(data, from)
    from += data.length
  }
  /** @type {SceneHeader} */
  const header = { figures: told, rows, selection: null, held: false }
  return encode(header, new Float32Array(), all)
}

/** A scene whose figures have heard of all that was done in them; what is chosen stays.
    @type {(data: Uint8Array, turns: Record<string, number>) => Uint8Array} */
function withTurns(data, turns) {
  const { numbers, rest, ...header } = /** @type {SceneHeader & { numbers: Float32Array,
      rest: Uint8Array }} */ (/** @type {unknown} */ (decode(data)))
  const figures = header.figures.map((figure) => ({ ...figure, turn: turns[figure.key] ?? 0 }))
  return encode({ ...header, figures, selection: null }, numbers, rest)
}
