import { inkOn, rgb } from "../shared/colours.js"
import { childrenOf, make } from "../shared/elements.js"
import { shadeOfWeight } from "./geometry.js"

/** A long text of tokens, of which what is in sight stands there and has its colours.

    table: the colour of each shade; textOf: the text of a token, null while it is not there.
    @typedef {{ box: HTMLElement, parts: HTMLElement[], seen: Set<Element>, goal: number,
      observer: IntersectionObserver, count: number, changed: () => void,
      pick: (at: number) => void }} Text
    @typedef {{ weights: Float32Array | null, least: number, table: Uint32Array, query: number,
      key: number, textOf: (at: number) => string | null }} Colours */

const PART = 256 // tokens
const ROOM = 180 // pixels that such a part takes, about

/** An empty one; `changed` is called as others come into sight, `pick` as one is clicked.
    @type {(parent: HTMLElement) => Text} */
export function makeText(parent) {
  const box = make("div", "text", parent, { tabIndex: 0, role: "region", dir: "auto" })
  box.ariaLabel = "The keys as a text, coloured by weight"
  /** @type {Set<Element>} */
  const seen = new Set()
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries)
        if (isIntersecting) seen.add(target)
        else seen.delete(target)
      text.changed()
    },
    { root: box, rootMargin: "100px" },
  )
  /** @type {Text} */
  const text = {
    ...{ box, parts: [], seen, observer, count: 0, goal: -1 },
    ...{ changed: () => {}, pick: () => {} },
  }
  box.addEventListener("click", ({ target }) => {
    const part = text.parts.findIndex((one) => target instanceof Node && one.contains(target))
    const word = target instanceof Element ? target.closest("bdi") : null
    if (part >= 0 && word) text.pick(part * PART + childrenOf(text.parts[part]).indexOf(word))
  })
  return text
}

/** Makes room for so many other tokens.
    @type {(text: Text, count: number) => void} */
export function layText(text, count) {
  text.observer.disconnect()
  text.seen.clear()
  text.box.replaceChildren()
  text.count = count
  text.parts = Array.from({ length: Math.ceil(count / PART) }, () => {
    const part = make("p", "", text.box)
    part.style.minHeight = `${ROOM}px`
    text.observer.observe(part)
    return part
  })
}

/** The tokens that are in sight and not there yet, by the first of each part.
    @type {(text: Text, textOf: Colours["textOf"]) => number[]} */
export function missing({ parts, seen }, textOf) {
  const starts = parts.flatMap((part, at) => (seen.has(part) ? [at * PART] : []))
  return starts.filter((start) => textOf(start) === null)
}

/** Scrolls to a token, as soon as it is there.
    @type {(text: Text, at: number) => void} */
export function leadTo(text, at) {
  text.goal = at
  const part = text.parts[Math.floor(at / PART)]
  if (part && !part.firstChild) text.box.scrollTop = part.offsetTop
}

/** Colours what is in sight.
    @type {(text: Text, colours: Colours) => void} */
export function paintText(text, colours) {
  for (const [at, part] of text.parts.entries())
    if (text.seen.has(part)) paintPart(part, at * PART, text.count, colours)
  const part = text.parts[Math.floor(text.goal / PART)]
  const word = part && childrenOf(part)[text.goal % PART]
  if (!word) return
  const { box } = text
  const below = word.getBoundingClientRect().top - box.getBoundingClientRect().top
  if (below < 20 || below > box.clientHeight - 40) box.scrollTop += below - box.clientHeight / 2
  text.goal = -1
}

/** @type {(part: HTMLElement, start: number, count: number, colours: Colours) => void} */
function paintPart(part, start, count, { weights, least, table, query, key, textOf }) {
  if (!part.firstChild) {
    if (textOf(start) === null) return
    const stop = Math.min(count, start + PART)
    for (let at = start; at < stop; at++) {
      const [, space, word] = /** @type {string[]} */ (/^(\s*)(.*)$/s.exec(textOf(at) ?? ""))
      part.append(word && space) // outside, so that no outline is left where the line breaks
      make("bdi", "", part, { textContent: word || space, title: String(at) })
    }
    part.style.minHeight = ""
  }
  for (const [more, word] of childrenOf(part).entries()) {
    const at = start + more
    const shade = weights ? shadeOfWeight(weights[at], least) : 0
    const pixel = table[shade]
    word.style.background = shade > 1 ? rgb(pixel) : ""
    word.style.color = shade > 1 ? inkOn(pixel) : ""
    word.className = at === key ? "key" : at === query ? "query" : ""
  }
}
