import { decode, encode } from "../shared/message.js"
import { bytes, unpacked } from "./packed.js"

/** @import { FigureHeader, RowHeader, SceneHeader } from "../messages.js"

    Scenes that a file holds: values of headers and what follows these, as base64, once each;
    figures and scenes by where these stand; and by the name of an event what it carries, with the
    scene that it leads to. Of a scene that keeps what it does not change there are the changes
    alone, by the keys of its figures; the first one is whole then.
    @typedef {{ fields: Record<string, number>, rest: number }} Parts
    @typedef {Omit<FigureHeader, "turn" | "size"> & Parts} Saved
    @typedef {{ figures: number[], rows: RowHeader[] }} Whole
    @typedef {{ figures: Saved[], rows: RowHeader[] }} Shown
    @typedef {{ values: unknown[], rests: string[], figures: Saved[],
      scenes: (Whole | { changes: Record<string, Parts> })[],
      answers: Record<string, [unknown, number][]> }} WorkedOut */

/** Answers what is done in a scene by scenes that were worked out before, as the app would. To what
    is not among them, of an event that has some, it shows again what was there. An answer is a turn
    and what it carries; without a turn it was not done in a figure.
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
  /** @type {Shown | null} */
  let shown = null
  return async (name, answer) => {
    const [turn, value] = /** @type {[number | null, unknown]} */ (answer)
    // Before anything is waited for: what is shown then has heard of all that was done meanwhile.
    if (turn !== null) turns[name.slice(0, name.lastIndexOf("."))] = turn
    reading ??= unpacked(packed).json()
    const held = await reading
    const known = held.answers[name]
    if (!known) return
    const wanted = JSON.stringify(value)
    const found = known.find(([carried]) => JSON.stringify(carried) === wanted)
    if (found) {
      shown = ledTo(held, found[1], shown)
      now = sceneOf(held, shown)
    }
    show(withTurns(now, turns), Boolean(found))
  }
}

/** The scene that stands at a place; one of changes, made from what is shown.
    @type {(held: WorkedOut, at: number, shown: Shown | null) => Shown} */
function ledTo(held, at, shown) {
  const scene = held.scenes[at]
  if ("figures" in scene)
    return { rows: scene.rows, figures: scene.figures.map((place) => held.figures[place]) }
  const { rows, figures } = shown ?? ledTo(held, 0, null)
  return { rows, figures: figures.map((figure) => changed(figure, scene.changes[figure.key])) }
}

/** A figure with some parts changed, and a name for what it holds then.
    @type {(figure: Saved, change: Parts | undefined) => Saved} */
function changed(figure, change) {
  if (!change) return figure
  const fields = { ...figure.fields, ...change.fields }
  return { ...figure, fields, rest: change.rest, digest: JSON.stringify([fields, change.rest]) }
}

/** The message of a scene, as `scene_message` in Python makes it.
    @type {(held: WorkedOut, shown: Shown) => Uint8Array} */
function sceneOf({ values, rests }, { figures, rows }) {
  const parts = figures.map(({ fields, rest, ...about }) => {
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
  const header = { figures: told, rows, selection: null }
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
