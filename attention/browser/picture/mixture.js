import { inkOn, ramp, rgb, shadeOf } from "../shared/colours.js"
import { make } from "../shared/elements.js"
import { isStill, move } from "../shared/moving.js"
import { byWeight } from "../shared/token_lines.js"
import { glance, named, percent, sizeOf } from "../shared/words.js"
import { listenToTerms, writeEquation } from "./sum.js"
import { applied } from "./sums.js"

/** @import { Content, Part } from "./index.js"
    @typedef {ReturnType<typeof build>} View
    @typedef {{ part: HTMLElement, keys: number[] }[]} Parts */

const NAMED = 0.065 // of a part of the bar with a name in it
const CHANGED = 0.02
const MOST_PARTS = 60

/** The new vector of the chosen word: one line, and one bar as long as 1.
    @type {(parent: HTMLElement, content: Content) => Part} */
export function buildMixture(parent, content) {
  const view = build(parent, content)
  for (const element of [view.equation, view.bar]) listenToTerms(element)
  return {
    draw: (content) => {
      const shades = ramp(content.signed ? content.theme.diverging : content.theme.sequential)
      if (view.shades !== shades) view.target = null
      Object.assign(view, { content, shades })
    },
    show: ({ query, held, key }) => {
      show(view, query, query === held)
      for (const marked of parent.querySelectorAll("[data-key]"))
        marked.classList.toggle(
          "pointed",
          Number(/** @type {HTMLElement} */ (marked).dataset.key) === key,
        )
    },
  }
}

/** @param {HTMLElement} parent
    @param {Content} content */
function build(parent, content) {
  const lead = make("p", "lead", parent)
  const equation = make("p", "equation-line", parent)
  const bars = make("div", "bars", parent, { ariaHidden: "true" })
  const ghost = make("div", "mixture-ghost", bars)
  const bar = make("div", "mixture-bar", bars)
  return {
    ...{ content, lead, equation, bar, ghost, query: -1 },
    shades: /** @type {Uint32Array} */ (new Uint32Array()),
    target: /** @type {Float32Array | null} */ (null),
    now: /** @type {Float32Array} */ (new Float32Array()),
    parts: /** @type {Parts} */ ([]),
  }
}

/** @type {(view: View, query: number, moves: boolean) => void} */
function show(view, query, moves) {
  const weights = applied(view.content, query)
  const before = view.target
  const kept = before !== null && view.query === query && before.length === weights.length
  if (kept && before.every((weight, at) => weight === weights[at])) {
    paint(view, view.now)
    return
  }
  view.ghost.replaceChildren()
  const changed = kept && weights.some((weight, at) => Math.abs(weight - before[at]) >= CHANGED)
  if (changed && !isStill()) fill(view, view.ghost, before)
  view.target = weights
  view.query = query
  write(view)
  view.parts = fill(view, view.bar, weights)
  const from = before?.length === weights.length ? view.now : null
  move(view, moves ? from : null, weights, (numbers) => paint(view, numbers))
}

/** @type {(view: View) => void} */
function write({ content, lead, equation, query }) {
  const strong = make("b", "")
  make("bdi", "", strong, { textContent: content.tokens[query] })
  const sum = content.signed ? " is a sum, in which some values are taken away:" : " is a sum:"
  lead.replaceChildren("The new vector of ", strong, content.shares ? " is a mixture:" : sum)
  writeEquation(equation, content, query)
}

/** The parts of a bar, from the greatest to the smallest; many of the smallest are one part.
    @type {(view: View, bar: HTMLElement, weights: Float32Array) => Parts} */
function fill({ content, shades }, bar, weights) {
  const keys = byWeight(weights).filter((key) => weights[key])
  const rest = keys.splice(MOST_PARTS)
  const parts = keys.map((key) => {
    const part = make("span", weights[key] < 0 ? "negative" : "")
    part.dataset.key = String(key)
    const weight = sizeOf(weights[key])
    const pixel = content.signed
      ? shadeOf(weights[key], -1, 1, shades)
      : shadeOf(weight, 0, 1, shades)
    part.style.background = rgb(pixel)
    part.style.color = inkOn(pixel)
    const told = content.shares ? percent(weights[key]) : glance(weights[key], content.columns)
    part.title = `${named(content.keys, key)}: ${told}`
    if (weight >= NAMED) make("bdi", "", part, { textContent: content.keys[key] })
    return { part, keys: [key] }
  })
  if (rest.length) {
    const part = make("span", "rest", null, { textContent: `${rest.length} more` })
    parts.push({ part, keys: rest })
  }
  resize(parts, weights)
  bar.replaceChildren(...parts.map(({ part }) => part))
  return parts
}

/** @type {(view: View, weights: Float32Array) => void} */
function paint(view, weights) {
  view.now = weights
  resize(view.parts, weights)
}

/** @type {(parts: Parts, weights: Float32Array) => void} */
function resize(parts, weights) {
  const whole = wholeOf(weights)
  for (const { part, keys } of parts) {
    const sum = keys.reduce((sum, key) => sum + sizeOf(weights[key]), 0)
    part.style.width = `${(100 * sum) / whole}%`
  }
}

/** The length of a bar: 1, or that of all weights together where some take away.
    @type {(weights: Float32Array) => number} */
function wholeOf(weights) {
  return Math.max(
    1,
    weights.reduce((sum, weight) => sum + Math.abs(weight), 0),
  )
}
