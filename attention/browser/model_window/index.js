import { writeBars } from "../shared/bars.js"
import { offerCard, saveCard } from "../shared/card.js"
import { palette, ramp, rgb, shadeOf } from "../shared/colours.js"
import { component, isAnswered } from "../shared/component.js"
import {
  childrenOf,
  make,
  makeName,
  makeShape,
  setLengths,
  whenClicked,
} from "../shared/elements.js"
import * as heads from "../shared/head_map.js"
import { buttonsOf, leadKeys, makeRadios, reachByTab, writeRadios } from "../shared/radios.js"
import { choose as chooseShown, whenMoved } from "../shared/selection.js"
import { makeWord, shadeWord } from "../shared/sentence.js"
import { byWeight, curve, strongest } from "../shared/token_lines.js"
import { besideWord, finePercent } from "../shared/words.js"

/** @import { Mount } from "../shared/component.js"
    @import { ModelWindowHeader } from "../messages.js"
    @typedef {ReturnType<typeof build>} View */

const MOST_KEYS = 8
const ROW = 26
const ARC = 34 // pixels that an arc may rise above the sentence
const BETWEEN_LINES = 14 // and from a further line, without reaching the one above

export default component(build, draw)

/** @param {Mount<"model_window">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const body = make("div", "body", frame) // first, so that a Tab leads to the heads; seen last
  const sentence = make("div", "sentence", frame, { role: "group", ariaLabel: "The sentence" })
  const arc = makeShape("svg", { class: "arc", "aria-hidden": "true" }, sentence)
  const bar = make("div", "bar", frame)
  const lenses = makeRadios(bar, "lenses", "The map shows", (name) => chooseLens(view, name))
  const menu = make("select", "", bar, { ariaLabel: "Number of the tiles" })
  const scale = make("i", "scale", bar, { ariaHidden: "true" })
  const legend = make("p", "legend", bar)
  const left = make("div", "left", body)
  const switches = isAnswered(content, "switched") ? ", Space or X switches one off or on" : ""
  const map = heads.makeMap(left, `All heads; arrow keys move${switches}`, {
    point: (head) => point(view, head),
    choose: (head) => choose(view, head),
  })
  const said = make("div", "said", left)
  const told = make("p", "told", said, { ariaLive: "polite" })
  const off = make("p", "told off", said)
  const acts = make("div", "acts", left)
  const side = make("div", "side", body)
  const bars = make("div", "bars", side)
  const large = make("div", "large", side)
  const main = make("button", "switch", null, { type: "button", role: "switch" })
  make("i", "", main, { ariaHidden: "true" })
  make("span", "", main)
  make("small", "", main)
  const first = /** @type {[number, number] | null} */ (null)
  const lens = { said: "", chosen: "", of: /** @type {object | null} */ (null) }
  const view = {
    ...{ content, frame, sentence, arc, lenses, menu, scale, legend, map },
    ...{ said, told, off, acts, main },
    ...{ bars, large, width: 0, narrow: false, send, pointed: -1, first, lens },
  }

  map.tiles.addEventListener("keydown", (event) => {
    if (![" ", "x", "X"].includes(event.key)) return
    event.preventDefault()
    switchOne(view, Math.max(0, view.content.chosen))
  })
  whenClicked(sentence, "button.word", ({ dataset: { sequence, at } }) =>
    chooseWord(view, Number(sequence), Number(at)),
  )
  leadKeys(sentence, ".word")
  leadKeys(bars, "button")
  whenClicked(bars, "button", ({ dataset }) => send("piece", Number(dataset.at)))
  whenClicked(acts, "button", ({ dataset: { act = "" } }) =>
    act === "card" ? saveCard() : send("act", act),
  )
  menu.addEventListener("change", () => send("shade", menu.value))
  main.addEventListener("click", () => switchOne(view, view.content.chosen))
  whenMoved(frame, () => follow(view))
  offerCard(frame, () => cardOf(view))
  return view
}

/** @type {(content: Pick<ModelWindowHeader, "layers" | "heads">) => number} */
function countOf({ layers, heads }) {
  return layers.length * heads
}

/** @type {(view: View) => void} */
function draw(view) {
  takeLens(view)
  view.width = view.frame.clientWidth
  if (!view.width) return
  view.frame.classList.toggle("two", Boolean(view.content.other))
  view.narrow = heads.layBeside(view)
  drawLenses(view)
  drawSentence(view)
  drawBars(view)
  drawActs(view)
  drawHeads(view)
}

/** @type {(view: View) => void} */
function drawHeads(view) {
  lay(view)
  paint(view)
  drawSwitch(view)
  follow(view)
}

/** The lens of what came, but the one chosen here where the lens said is the one said before: what
    a file shows says always the same.
    @type {(view: View) => void} */
function takeLens({ content, lens }) {
  if (lens.of === content) return // which is drawn again
  if (content.lens !== lens.said) lens.chosen = content.lens
  Object.assign(lens, { said: content.lens, of: content })
  content.lens = lens.chosen
}

/** The sentences on each head through the lens, or while they are asked for through the last one.
    @type {(content: View["content"]) => string[]} */
function toldOf({ told, lens }) {
  return told[lens === "link" ? "looks" : lens] ?? Object.values(told)[0]
}

/** The head that is shown: the one pointed at, or the chosen one; -1: none, as all are being tried.
    @type {(view: View) => number} */
function shown({ pointed, content }) {
  return pointed < 0 ? content.chosen : pointed
}

/** Where a head looks from the chosen word: which sequences it asks and is asked in, the word that
    asks and those that it may look at, the weight of each, and in the other model, null without one.
    @typedef {ReturnType<typeof lookOf>} Look
    @param {View["content"]} content
    @param {number} head */
export function lookOf(content, head) {
  const { columns, numbers, sequences } = content
  const [queries, keys] = content.layers[Math.floor(head / content.heads)].sequences
  const [asks, words] = [content.queries[queries], sequences[keys]]
  const rowAt = (/** @type {number} */ at) =>
    numbers.subarray(at * columns, at * columns + words.length)
  const second = content.other ? rowAt(countOf(content) + head) : null
  return { queries, keys, asks, asking: sequences[queries][asks], words, row: rowAt(head), second }
}

/** What a lens shows of each head.
    @type {(content: View["content"], lens: string) => Float32Array} */
export function measureOf(content, lens) {
  const count = countOf(content)
  const rows = (content.other ? 2 : 1) * content.columns
  const first = count * (rows + content.measures.indexOf(lens))
  return content.numbers.subarray(first, first + count)
}

/** @type {(view: View) => void} */
function drawLenses(view) {
  const { lens, lenses, shades, sign } = view.content
  writeRadios(view.lenses, lenses, lens)
  // A vector only moves: of its two colours there is the one on the right.
  const half = lens === "lost" && sign < 0 ? "right / 200%" : ""
  heads.tellColours(view, view.content, lens, half)
  view.menu.hidden = lens !== shades?.lens || !isAnswered(view.content, "shade")
  if (shades) heads.writeMenu(view.menu, shades.groups, shades.name)
}

/** @type {(view: View) => void} */
function lay({ map, content }) {
  const { off, greatest } = content
  const told = toldOf(content)
  const layers = content.layers.map(({ name }) => name)
  const tiles = heads.layMap(map, { ...content, layers }, (head) => told[head])
  for (const [head, tile] of tiles.entries()) {
    const marks = [off.includes(head) && "off", head === greatest && "strongest"]
    tile.ariaLabel = [tile.ariaLabel, ...marks].filter(Boolean).join(", ")
    tile.setAttribute("aria-keyshortcuts", "Space X")
  }
}

/** @type {(view: View) => void} */
function paint({ map, frame, content }) {
  const { lens, needed, off, greatest } = content
  const { layout } = map
  const ink = getComputedStyle(frame).color
  const fills = fillsOf(frame, content)
  const shades = fills ? faded(ink) : ramp(palette(frame, "sequential"))
  const none = Array(countOf(content)).fill(null)
  const blue = content.blue.includes(lens)
  const context = heads.paintTiles(map, frame, content, blue, fills ?? none, (...at) => {
    const [context, head, x, y] = at
    const { first, rows, columns } = content.layers[Math.floor(head / content.heads)]
    const begin = first + (head % content.heads) * rows * columns
    const dots = content.rest.subarray(begin, begin + rows * columns)
    // one key has all weight of every head
    if (columns > 1) heads.paintDots(context, map, head, dots, columns, shades)
    Object.assign(context, { fillStyle: ink, strokeStyle: ink, lineWidth: 1.5 })
    context.beginPath()
    if (needed.includes(head)) context.arc(x + layout.side - 4, y + 4, 2, 0, 7)
    context.fill()
    context.beginPath()
    if (off.includes(head)) {
      context.moveTo(x + 1, y + layout.side - 1)
      context.lineTo(x + layout.side - 1, y + 1)
    }
    context.stroke()
  })
  const marked = lens === "lost" ? greatest : -1
  if (marked >= 0) heads.outlineTile(context, layout, marked, 1.25, ink)
}

/** An ink from clear to what stands out on a fill.
    @type {(ink: string) => Uint32Array} */
function faded(ink) {
  return ramp([ink, ink]).map((pixel, at) => (pixel & 0xffffff) | (((0.45 * at) / 2) << 24))
}

/** The colour of each tile, null where the pattern alone has colours.
    @type {(frame: HTMLElement, content: View["content"]) => (string | null)[] | null} */
function fillsOf(frame, content) {
  const { lens, pair, least, sign } = content
  if (lens === "looks") return null
  // blue says more, orange less
  const turned = { lost: -sign, says: -1 }[lens] ?? 1
  if (lens !== "link")
    return heads.fillsOf(
      ...[frame, content, lens],
      measureOf(content, lens).map((number) => turned * number),
    )
  const shades = ramp(palette(frame, "sequential"))
  return Array.from({ length: countOf(content) }, (_, head) => {
    const weight = lookOf(content, head).row[pair] // none once another word is clicked
    return weight >= least ? rgb(shadeOf(weight, 0, 1, shades)) : null
  })
}

/** @type {(view: View) => void} */
function drawSentence(view) {
  const { sentence, content } = view
  const lines = () => childrenOf(sentence).filter((each) => each.matches(".line"))
  const seen = lines().map(({ scrollTop, dataset }) =>
    scrollTop === Number(dataset.end) ? -1 : scrollTop,
  )
  sentence.replaceChildren(view.arc)
  for (const [sequence, words] of content.sequences.entries()) {
    const line = make("div", "line", sentence)
    for (const [at, text] of words.entries()) {
      const word = makeWord(line, text, { sequence, at })
      word.toggleAttribute("disabled", !isAnswered(content, "pair"))
    }
    const { answer } = content
    if (answer && sequence === content.sequences.length - 1) {
      const end = make("output", "answer", line)
      makeName("strong", "", end, answer.word)
      make("span", "", end, { textContent: answer.now })
      if (answer.before !== answer.now) make("s", "", end, { textContent: answer.before })
      if (answer.other) {
        make("small", "", end, { textContent: answer.other })
        if (content.chosen >= 0) make("em", "", end, { textContent: content.other })
      }
    }
  }
  reachByTab(buttonsOf(sentence, ".word"), content.queries[0])
  // On a phone it stands where a thumb reaches it, and stays in sight with what it does.
  if (view.narrow) view.said.prepend(view.main)
  else sentence.lastElementChild?.append(view.main)
  // One that scrolls is seen to its end, where the answer stands, until somebody scrolls back.
  for (const [at, line] of lines().entries()) {
    const top = seen[at] ?? -1
    line.scrollTop = top < 0 && line.querySelector(".answer") ? line.scrollHeight : top
    if (top < 0) line.dataset.end = String(line.scrollTop)
  }
}

/** The switch of the chosen head, which says whose it is also while one points at another.
    @type {(view: View) => void} */
function drawSwitch({ main, content, pointed }) {
  const off = content.off.includes(content.chosen)
  const name = heads.nameOf(content, content.chosen)
  const [, words, note] = childrenOf(main)
  main.hidden = content.chosen < 0 || !isAnswered(content, "switched")
  main.ariaChecked = String(!off)
  main.ariaLabel = `Head ${name}`
  words.textContent = `head ${name} is ${content.states[Number(off)]}`
  const other = pointed >= 0 && pointed !== content.chosen
  note.textContent = other ? `click ${heads.nameOf(content, pointed)} to switch that` : ""
}

/** An arc from the word that a head looks at most to the word that asks, or to the answer where that
    is the same word and asked for by the last one; dashed where the head is off.
    @type {(view: View, look: Look, off: boolean) => void} */
function drawArc({ arc, sentence, content, frame }, { queries, keys, asks, row }, off) {
  const word = (/** @type {number} */ sequence, /** @type {number} */ at) =>
    sentence.querySelector(`.word[data-sequence="${sequence}"][data-at="${at}"]`)
  const key = row.indexOf(Math.max(...row))
  const { sequences } = content
  const last = queries === sequences.length - 1 && asks === sequences[queries].length - 1
  const from = word(keys, key)
  const same = last && sequences[keys]?.[key] === content.answer?.word
  const scrolls = childrenOf(sentence).some((line) => line.scrollHeight > line.clientHeight + 1)
  if (!from || scrolls || !(row[key] > 0)) return
  const ground = arc.getBoundingClientRect()
  const zoom = ground.width / sentence.clientWidth // on paper
  const topOf = (/** @type {Element} */ each) => {
    const { left, width, top } = each.getBoundingClientRect()
    return [(left + width / 2 - ground.left) / zoom, (top - ground.top) / zoom]
  }
  const [x, y] = topOf(from)
  const ends = [same && sentence.querySelector(".answer"), word(queries, asks)]
  const others = ends.flatMap((end) => (end && end !== from ? [end] : []))
  const to = others.find((end) => Math.abs(topOf(end)[1] - y) < 8) ?? others[0]
  if (!to) return
  const [toX, toY] = topOf(to)
  const isFirst = y < topOf(/** @type {Element} */ (sentence.querySelector(".word")))[1] + 8
  const rise = Math.min(isFirst ? ARC : BETWEEN_LINES, 14 + Math.abs(toX - x) / 8) / 0.75
  const shades = ramp(palette(frame, "sequential"))
  const looks = {
    d: `M ${x} ${y - 4} C ${x} ${y - rise}, ${toX} ${toY - rise}, ${toX} ${toY - 4}`,
    ...{ fill: "none", "stroke-linecap": "round", "stroke-dasharray": off ? "5 6" : "none" },
    stroke: off ? "#d97706" : rgb(shadeOf(0.4 + 0.5 * row[key], 0, 1, shades)),
    "stroke-width": off ? 2.5 : 2 + 5 * row[key],
    "stroke-opacity": Math.abs(toY - y) < 8 ? 1 : 0.5, // over the lines between
  }
  makeShape("path", looks, arc)
}

/** Everything that follows the pointer: words, the large head, the sentence.
    @type {(view: View) => void} */
function follow(view) {
  const { content, told, off } = view
  const head = shown(view)
  const look = lookOf(content, Math.max(head, 0))
  const { queries, keys, asks } = look
  const row = head < 0 ? new Float32Array(content.columns) : look.row
  const second = head < 0 ? null : look.second
  const shades = ramp(palette(view.frame, "sequential"))
  const whole = content.whole.length && view.pointed < 0 ? content.whole : null
  for (const word of buttonsOf(view.sentence, ".word")) {
    const [sequence, at] = [Number(word.dataset.sequence), Number(word.dataset.at)]
    if (second && sequence === keys) drawSecond(word, second[at], shades)
    const weight = whole && !sequence ? Math.abs(whole[at]) : sequence === keys ? row[at] : 0
    const pixel = shadeOf(weight, 0, 1, shades)
    word.classList.toggle("erased", !sequence && at === content.erased)
    word.style.background = rgb(pixel)
    word.classList.toggle("deep", weight > 0.55)
    const chosen = sequence === queries && at === asks
    word.classList.toggle("asks", chosen)
    word.classList.toggle("asked", content.pair >= 0 && sequence === keys && at === content.pair)
    word.setAttribute("aria-pressed", String(chosen))
    const small = /** @type {HTMLElement} */ (word.querySelector("small"))
    small.textContent = besideWord(weight)
  }
  const linked = content.lens === "link" && content.pair >= 0 && view.pointed < 0
  const sentences = [
    linked ? content.linkWords : (toldOf(content)[head] ?? content.tried),
    whole ? content.wholeWords : "",
  ]
  told.textContent = sentences.filter(Boolean).join(" ")
  off.textContent = content.offWords
  off.hidden = !content.offWords
  view.arc.replaceChildren()
  view.large.replaceChildren()
  if (head < 0) return
  drawLarge(view, head, look)
  drawArc(view, look, content.off.includes(head))
}

/** A word's weight in the other model, below the first.
    @type {(word: HTMLElement, weight: number, shades: Uint32Array) => void} */
function drawSecond(word, weight, shades) {
  const below = word.querySelector("em") ?? make("em", "", word)
  below.textContent = besideWord(weight) || "\u2007"
  shadeWord(/** @type {HTMLElement} */ (below), weight, shades)
}

/** The chosen word on the left, all it may look at on the right, a line for each weight.
    @type {(view: View, head: number, look: Look) => void} */
function drawLarge({ large, content, frame }, head, { asking, words, row, second }) {
  make("h3", "", large, { textContent: `Head ${heads.nameOf(content, head)}` })
  const seen = strongest(row, MOST_KEYS)
  const height = ROW * seen.length
  const box = make("div", "strands", large)
  const viewBox = `0 0 100 ${height}`
  const svg = makeShape("svg", { viewBox, preserveAspectRatio: "none", "aria-hidden": "true" }, box)
  setLengths(box, { height })
  const from = make("span", "from", box)
  make("bdi", "", from, { textContent: asking })
  const to = make("ol", "", box)
  const shades = ramp(palette(frame, "sequential"))
  for (const [place, key] of seen.entries()) {
    const weight = row[key]
    const looks = {
      ...{ d: curve(0, height / 2, 100, (place + 0.5) * ROW), fill: "none" },
      stroke: rgb(shadeOf(0.35 + 0.65 * weight, 0, 1, shades)),
      ...{ "stroke-width": 0.4 + 11 * weight, "vector-effect": "non-scaling-stroke" },
    }
    makeShape("path", looks, svg)
    const item = make("li", weight > 0.55 ? "deep" : "", to)
    item.style.background = rgb(shadeOf(weight, 0, 1, shades))
    makeName("span", "", item, words[key])
    const was = second ? ` ← ${finePercent(second[key])}` : ""
    make("span", "share", item, { textContent: `${finePercent(weight)}${was}` })
  }
  if (seen.length < words.length)
    make("p", "rest", large, { textContent: `The ${seen.length} strongest of ${words.length}.` })
}

/** @type {(view: View) => void} */
function drawBars({ bars, content }) {
  const most = Math.max(0.01, ...content.bars.flatMap(({ shares }) => shares))
  const adds = isAnswered(content, "piece")
  const tag = adds ? "button" : "span"
  if (bars.children.length !== content.bars.length) bars.replaceChildren()
  let at = 0
  for (const [list, { title, texts, shares }] of content.bars.entries()) {
    const box = childrenOf(bars)[list] ?? make("section", "", bars)
    if (!box.children.length) {
      make("h3", "", box)
      make("div", "", box)
    }
    const [name, rows] = childrenOf(box)
    const other = content.other && list === content.bars.length - 1
    box.className = other ? "other" : list ? "so" : "trained"
    name.textContent = title
    for (const [index, row] of writeBars(rows, texts, shares, most, tag).entries()) {
      row.dataset.at = String(at++)
      row.classList.toggle("answer", texts[index] === content.answer?.word)
      if (adds) row.title = `Add “${texts[index]}” to the sentence`
    }
  }
  reachByTab(buttonsOf(bars, "button"), 0)
}

/** @type {(view: View) => void} */
function drawActs({ acts, content }) {
  acts.replaceChildren()
  for (const [act, title] of isAnswered(content, "act") ? content.acts : []) {
    const button = make("button", "", acts, { type: "button", textContent: title })
    button.dataset.act = act
  }
  if (content.answered) return // a file has no address to share
  make("button", "", acts, { type: "button", textContent: "Save card" }).dataset.act = "card"
}

/** What the card shows: all that is seen now.
    @type {(view: View) => import("../shared/card.js").Card} */
function cardOf({ frame, sentence, map, content, told, off }) {
  const primary = getComputedStyle(frame).getPropertyValue("--st-primary-color").trim()
  const pills = [...sentence.querySelectorAll(".line")].map((line) =>
    [...line.querySelectorAll(".word, .answer")].map((pill) => {
      const looks = getComputedStyle(pill)
      const answers = pill.matches(".answer")
      const words = answers
        ? childrenOf(pill).slice(0, 2)
        : [/** @type {HTMLElement} */ (pill.firstChild)]
      return {
        word: words.map((each) => each.textContent).join("  "),
        fill: looks.backgroundColor,
        ink: looks.color,
        edge: pill.matches(".asks") ? "#d97706" : "",
      }
    }),
  )
  return {
    pills,
    map: map.canvas,
    bars: [
      ...(content.chosen < 0 ? [] : [{ ...looksOf(content), colour: primary }]),
      ...content.bars.map((bars, at) => ({ ...bars, colour: at ? "#d97706" : primary })),
    ],
    told: [told.textContent ?? "", off.textContent ?? ""].filter(Boolean),
  }
}

/** Where the chosen head looks, the greatest weights first.
    @type {(content: View["content"]) => { title: string, texts: string[], shares: number[] }} */
function looksOf(content) {
  const { asking, words, row } = lookOf(content, content.chosen)
  const most = byWeight(row)
  return {
    title: `Head ${heads.nameOf(content, content.chosen)}, from “${asking}”`,
    texts: most.map((key) => words[key]),
    shares: most.map((key) => row[key]),
  }
}

/** @type {(view: View, head: number) => void} */
function point(view, head) {
  if (head === view.pointed) return
  view.pointed = head
  drawSwitch(view)
  follow(view)
}

/** @type {(view: View, head: number) => void} */
function choose(view, head) {
  view.pointed = -1
  if (head === view.content.chosen) return
  view.content.chosen = head
  drawHeads(view)
  view.send("head", head, 40)
}

/** @type {(view: View, head: number) => void} */
function switchOne(view, head) {
  if (!isAnswered(view.content, "switched")) return
  const { off } = view.content
  view.content.off = off.includes(head) ? off.filter((each) => each !== head) : [...off, head]
  drawHeads(view)
  view.send("switched", [head, Number(view.content.off.includes(head))])
}

/** @type {(view: View, name: string) => void} */
function chooseLens(view, name) {
  if (!name || name === view.content.lens) return
  const { content } = view
  content.lens = view.lens.chosen = name
  content.pair = -1
  content.lenses = content.lenses.filter(([each]) => each !== "link")
  drawLenses(view)
  drawHeads(view)
  view.send("lens", name)
}

/** A word is asked from; a second one after it is the key that heads are to link it with.
    @type {(view: View, sequence: number, at: number) => void} */
function chooseWord(view, sequence, at) {
  const { content, first } = view
  if (!isAnswered(content, "pair")) return
  const { queries, keys, asks } = lookOf(content, Math.max(content.chosen, 0))
  if (first && sequence === keys && (sequence !== first[0] || at !== first[1])) {
    view.first = null
    view.send("pair", [first[1], at])
  } else if (sequence === queries) {
    view.first = [sequence, at]
    content.pair = -1
    chooseShown("query", at)
  } else if (sequence === keys) {
    view.first = null
    view.send("pair", [asks, at])
  }
}
