import { cellAfter, cellAt, itemAfter } from "../shared/cells.js"
import { inkOn, ramp, rgb, shadeOf } from "../shared/colours.js"
import { childrenOf, make, makeName, whenClicked } from "../shared/elements.js"
import { frameCells } from "../shared/matrix.js"
import { countDrawing, paintNumbers } from "../shared/painter.js"
import { fixed, inFull } from "../shared/words.js"
import { profile } from "../street_map/geometry.js"

/** A picture whose patches are keys. source: an address that holds it; rows, columns: of its patches;
    first: the position of the first one; texts: one for each query; keyTexts: one for each key,
    null where these are the queries.
    @typedef {{ source: string, width: number, height: number, rows: number, columns: number,
      first: number, isSound: boolean, texts: string[], keyTexts: string[] | null }} Picture */

const MOST = 3 // patches that are told
const FEW = 24 // tokens beside that have their weights written

/** Draws a picture, over which each row of weights is laid: see `show`. A click or a key chooses a
    query.
    @param {ShadowRoot} root
    @param {Picture} picture
    @param {string[]} colours from no weight to the greatest
    @param {(query: number) => void} choose
    @returns {{ show: (query: number, weights: Float32Array) => void }} */
export function makePicture(root, picture, colours, choose) {
  const { rows, columns, first, isSound, texts, keyTexts } = picture
  const [stop, asks] = [first + rows * columns, !keyTexts]
  const shades = ramp(colours)
  const frame = make("div", isSound ? "frame sound" : "frame", root)
  const told = make("p", "told", frame, { role: "status" })
  const box = make("div", "picture", frame)
  make("img", "", box, { src: picture.source, alt: isSound ? "The spectrogram" : "The picture" })
  const over = make("div", "over", box)
  over.role = asks ? "application" : "img"
  over.ariaLabel = `Weights of ${isSound ? "stretches of the sound" : "patches of the picture"}`
  if (asks) {
    over.tabIndex = 0
    over.setAttribute("aria-description", "Arrow keys move the patch that asks.")
  }
  const canvas = make("canvas", "", over, { ariaHidden: "true" })
  const marks = { greatest: make("i", "greatest", over), query: make("i", "query", over) }
  const legend = make("p", "legend", frame)
  legend.append("0 ")
  make("span", "", legend).style.background = `linear-gradient(90deg, ${colours})`
  const most = make("b", "", legend)
  const readout = make("span", "readout", legend)
  const hint = asks ? "Click a patch to see where it looks." : ""
  if (!isSound) {
    const shape = picture.width / picture.height
    box.style.width = `min(100%, ${Math.min(32, 28 * shape)}rem)`
    box.style.aspectRatio = `${picture.width} / ${picture.height}`
  }
  const others = texts.flatMap((_, at) => (asks && at >= first && at < stop ? [] : [at]))
  const list = makeTokens(asks ? "The tokens beside the patches" : "The tokens that ask", others)
  const alone = (keyTexts ?? []).flatMap((_, at) => (at >= first && at < stop ? [] : [at]))
  const keys = makeTokens("The keys beside the patches", alone, keyTexts ?? [])
  let query = 0
  let weights = /** @type {Float32Array} */ (new Float32Array(0))

  over.addEventListener("click", (event) => asks && choose(patchAt(event)))
  over.addEventListener("pointermove", (event) => {
    const at = patchAt(event)
    readout.textContent = `${nameOf(at)}: ${inFull(weights[at])}`
  })
  over.addEventListener("pointerleave", () => {
    readout.textContent = hint
  })
  over.addEventListener("keydown", (event) => {
    const next = asks && cellAfter(event.key, cellOf(query), rows, columns)
    if (!next) return
    event.preventDefault()
    const beside = query < first || query >= stop
    choose(beside ? (strongest()[0] ?? first) : first + next[0] * columns + next[1])
  })
  whenClicked(list, ".token", (token) => choose(others[childrenOf(list).indexOf(token)]))
  list.addEventListener("keydown", (event) => {
    const next = itemAfter(event.key, others.indexOf(query), others.length)
    if (next === undefined) return
    event.preventDefault()
    choose(others[next])
  })
  return { show }

  /** Lays the weights of a query over the picture.
      @param {number} asking
      @param {Float32Array} given */
  function show(asking, given) {
    query = asking
    weights = given
    const own = weights.subarray(first, stop)
    const best = strongest()
    const greatest = weights[best[0]] || 0
    const pixels = Math.min(columns, (isSound && over.clientWidth) || columns)
    const numbers = pixels < columns ? profile(own, pixels) : own
    paintNumbers(canvas, pixels, numbers, [0, greatest || 1], shades)
    place(marks.greatest, best[0] ?? -1)
    place(marks.query, asks ? query : -1)
    most.textContent = inFull(greatest)
    readout.textContent = hint
    told.textContent = words(best, own)
    for (const [tokens, at] of [
      [list, others],
      [keys, alone],
    ])
      dress(/** @type {HTMLElement} */ (tokens), /** @type {number[]} */ (at), greatest || 1)
    countDrawing(canvas)
  }

  /** The patches with the greatest weights. */
  function strongest() {
    const some = Array.from({ length: stop - first }, (_, at) => first + at)
    const there = some.filter((at) => weights[at] > 0)
    return there.sort((one, other) => weights[other] - weights[one]).slice(0, MOST)
  }

  /** @type {(best: number[], own: Float32Array) => string} */
  function words(best, own) {
    const asking = asks && query >= first && query < stop ? nameOf(query) : quoted(texts, query)
    const parts = isSound ? "stretch of the sound" : "patch"
    if (!best.length) return `${asking} looks at no ${parts}.`
    const sum = own.reduce((before, weight) => before + weight, 0)
    const named = best.map((at) => `${nameOf(at)} (${inFull(weights[at])})`)
    return (
      `Blue shows how much ${asking} looks at each ${parts}: most at ${named.join(", then ")}. ` +
      `All of them together get ${fixed(sum, 2)} of its attention.`
    )
  }

  /** @type {(at: number) => string} */
  function nameOf(at) {
    if (isSound)
      return `stretch ${(at - first + 1).toLocaleString("en")} of ${columns.toLocaleString("en")}`
    const [row, column] = cellOf(at)
    return `row ${row + 1}, column ${column + 1}`
  }

  /** @type {(at: number) => [row: number, column: number]} */
  function cellOf(at) {
    return [Math.floor((at - first) / columns), (at - first) % columns]
  }

  /** @type {(event: MouseEvent) => number} */
  function patchAt(event) {
    const [row, column] = cellAt(event, over.getBoundingClientRect(), rows, columns)
    return first + row * columns + column
  }

  /** @type {(mark: HTMLElement, at: number) => void} */
  function place(mark, at) {
    const [row, column] = at >= first && at < stop ? cellOf(at) : [null, null]
    frameCells({ rows, columns }, mark, row, column)
  }

  /** Tokens to choose from, or only to be seen.
      @type {(label: string, at: number[], of?: string[]) => HTMLElement} */
  function makeTokens(label, at, of) {
    const found = make("div", "tokens", null, { role: of ? "list" : "listbox", ariaLabel: label })
    if (at.length) frame.append(make("h3", "", null, { textContent: label }), found)
    if (!of) found.tabIndex = 0
    for (const token of at) {
      const chip = makeName("div", "token", found, (of ?? texts)[token].trim() || `(${token})`)
      Object.assign(chip, { role: of ? "listitem" : "option", id: `token-${token}` })
      make("b", "", chip)
    }
    return found
  }

  /** Colours tokens by their weights, as far as they are keys.
      @type {(tokens: HTMLElement, at: number[], greatest: number) => void} */
  function dress(tokens, at, greatest) {
    const chooses = tokens === list
    for (const [index, chip] of childrenOf(tokens).entries()) {
      const weight = chooses && !asks ? 0 : weights[at[index]]
      const pixel = shadeOf(weight, 0, greatest, shades)
      chip.style.background = weight > 0 ? rgb(pixel) : ""
      chip.style.color = weight > 0 ? inkOn(pixel) : ""
      const isKey = !chooses || asks
      childrenOf(chip)[1].textContent = isKey && at.length <= FEW ? inFull(weight) : ""
      if (!chooses) continue
      const isQuery = at[index] === query
      chip.ariaSelected = String(isQuery)
      if (isQuery) tokens.setAttribute("aria-activedescendant", chip.id)
    }
    if (chooses && !at.includes(query)) tokens.removeAttribute("aria-activedescendant")
  }
}

/** @type {(texts: string[], at: number) => string} */
const quoted = (texts, at) => `“${texts[at].trim()}” (${at.toLocaleString("en")})`
