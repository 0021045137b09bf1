import { showRun } from "./run.js"

/** @import { Chosen, Given as Run, Question } from "./run.js"

    What anywidget gives: the traits of the widget in Python, and messages to and from it.
    @typedef {Omit<Run, "grid"> & { grid: DataView }} Given
    @typedef {{ get: <Name extends keyof Traits>(name: Name) => Traits[Name],
      set: (name: keyof Traits, value: number) => void, save_changes: () => void,
      send: (content: unknown) => void,
      on: (name: string, task: (...given: any[]) => void) => void,
      off: (name: string, task: (...given: any[]) => void) => void }} Model
    @typedef {Chosen & { given: Given, step: number }} Traits */

const NAMES = /** @type {const} */ (["layer", "head", "query"])

export default { render }

/** Draws one view of the widget; all of them share what is chosen.
    @param {{ model: Model, el: HTMLElement }} given
    @returns {() => void} */
function render({ model, el }) {
  const view = crypto.randomUUID()
  /** @type {Map<number, (data: Uint8Array | null) => void>} */
  const waiting = new Map()
  let turn = 0
  let asked = 0
  let last = chosenIn(model)
  const shown = showRun(
    el,
    {
      ...givenIn(model),
      answer: (question) => {
        const { layer, head, query } = question
        const number = ++turn
        model.send({ view, number, layer, head, query, asked: question.asked })
        return new Promise((resolve) => waiting.set(number, resolve))
      },
      choose: (chosen) => {
        last = chosen
        for (const name of NAMES) model.set(name, chosen[name])
        model.save_changes()
      },
      go: (step) => {
        model.set("step", step)
        model.save_changes()
      },
    },
    last,
  )
  /** @type {(content: { view: string, number: number }, buffers: DataView[]) => void} */
  const take = (content, buffers) => {
    if (content.view !== view) return
    for (const number of [...waiting.keys()]) {
      // Answers come in order: one that was left out will not come any more.
      if (number > content.number) break
      waiting.get(number)?.(number === content.number ? bytesOf(buffers[0]) : null)
      waiting.delete(number)
    }
  }
  // Of layer and head, set one after the other, both are known a moment later.
  const changed = () => {
    cancelAnimationFrame(asked)
    asked = requestAnimationFrame(() => {
      const chosen = chosenIn(model)
      if (NAMES.every((name) => chosen[name] === last[name])) return
      last = chosen
      shown.show(chosen)
    })
  }
  const update = () => shown.update(givenIn(model))
  model.on("msg:custom", take)
  model.on("change:given", update)
  for (const name of NAMES) model.on(`change:${name}`, changed)
  return () => {
    shown.end()
    model.off("msg:custom", take)
    model.off("change:given", update)
    for (const name of NAMES) model.off(`change:${name}`, changed)
  }
}

/** @type {(model: Model) => Run} */
function givenIn(model) {
  const { grid, ...given } = model.get("given")
  return { ...given, grid: bytesOf(grid) }
}

/** @type {(model: Model) => Chosen} */
function chosenIn(model) {
  return { layer: model.get("layer"), head: model.get("head"), query: model.get("query") }
}

/** @type {(view: DataView) => Uint8Array} */
function bytesOf({ buffer, byteOffset, byteLength }) {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
