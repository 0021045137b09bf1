import { decode } from "./message.js"

/** What goes between the server and one component. Of two answers that wait for the run before them
    the server hears the last alone, so each is given once the one before has been heard of. A click
    ends on what it began on, so nothing is drawn anew where one presses.
    @import { Answers, SceneHeader } from "../messages.js"
    @import { Draw, Given, Root } from "./component.js"
    @typedef {{ event: string, value: [number, unknown] }} Answer
    @typedef {{ given: Given, waiting: Answer[], awaited: Map<string, number>, timer: number }} Line */

const PATIENCE = 10_000 // milliseconds, after which an answer is not waited for any more
const LOOK = 16
/* Of these each one counts; of the others the last one says all. */
/** @type {{ [Name in keyof Answers]: keyof Answers[Name] }[keyof Answers][]} */
const EACH = ["switched", "paint", "typed", "resized", "piece", "act", "ask"]

/** @type {WeakMap<Root, Line>} */
const lines = new WeakMap()

/** Has a message drawn, once nothing is pressed there; the newest of several alone.
    @type {(given: Given, draw: Draw) => Promise<void>} */
export async function passOn(given, draw) {
  const root = given.parentElement
  const line = lines.get(root) ?? { given, waiting: [], awaited: new Map(), timer: 0 }
  lines.set(root, line)
  line.given = given
  hear(line)
  while (isPressed(root)) {
    await new Promise((resolve) => setTimeout(resolve, LOOK))
    if (line.given !== given) return
  }
  /** @type {Given["setTriggerValue"]} */
  const setTriggerValue = (event, value) =>
    answer(line, event, /** @type {Answer["value"]} */ (value))
  await draw(Object.assign(Object.create(given), { setTriggerValue }))
}

/** @type {(root: Root) => boolean} */
function isPressed(root) {
  return (root instanceof ShadowRoot ? root.host : root).matches(":active")
}

/** @type {(line: Line, event: string, value: Answer["value"]) => void} */
function answer(line, event, value) {
  const { waiting } = line
  const each = EACH.some((name) => name === event.slice(event.lastIndexOf(".") + 1))
  if (!each && waiting.at(-1)?.event === event) waiting.pop()
  waiting.push({ event, value })
  queueMicrotask(() => line.awaited.size || goOn(line))
}

/** Gives what waits, as far as no event is among it twice.
    @type {(line: Line) => void} */
function goOn(line) {
  clearTimeout(line.timer)
  line.awaited.clear()
  const given = new Set()
  while (line.waiting.length && !given.has(line.waiting[0].event)) {
    const { event, value } = /** @type {Answer} */ (line.waiting.shift())
    given.add(event)
    line.awaited.set(event.slice(0, Math.max(0, event.lastIndexOf("."))), value[0])
    line.given.setTriggerValue(event, value)
  }
  if (given.size) line.timer = window.setTimeout(() => goOn(line), PATIENCE)
}

/** Goes on where a message has heard of all that it is waited for; of a figure in a scene that is
    there no more nothing else will be heard.
    @type {(line: Line) => void} */
function hear(line) {
  if (!line.awaited.size) return
  const content = /** @type {{ turn: number } & Partial<SceneHeader>} */ (
    /** @type {unknown} */ (decode(line.given.data))
  )
  const heard = [...line.awaited].every(([key, turn]) => {
    const of = key ? content.figures?.find((figure) => figure.key === key) : content
    return !of || of.turn >= turn
  })
  if (heard) goOn(line)
}
