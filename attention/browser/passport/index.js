import { palette, ramp } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { make, makeShape } from "../shared/elements.js"
import { writeShaded } from "../shared/sentence.js"
import { besideWord, lengthOf, sizeOf } from "../shared/words.js"
import { drawTable } from "../table/index.js"

/** @import { Mount } from "../shared/component.js"
    @import { Bar, Fallen, KindSaid, Looked, MeasureSaid, NameSaid, PassportSaid,
      } from "../messages.js"
    @typedef {ReturnType<typeof build>} View
    @typedef {{ most: number, unit: string }} Scale the end of that of effects, and its unit */

const CHANCE = 2 // bars of what was measured; those behind them are by chance
const FEW = 6 // kinds of prompts before one unfolds
const RING = " A ring: the mean of a change as large in one random direction."
const SOME_ROWS = 3 // that are seen of a head without a name

/** The passport of a head: its claim and one example first, all else folded. */
export default component(build, draw)

/** @param {Mount<"passport">} mount */
function build({ root, content }) {
  return { content, frame: make("div", "frame", root) }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { passport, most, unit } }) {
  const open = [...frame.querySelectorAll("details[open]")].map((each) => each.className)
  const shades = ramp(palette(frame, "sequential"))
  frame.replaceChildren(passportOf(passport, { most, unit }, shades))
  for (const name of open)
    for (const each of frame.getElementsByClassName(name)) each.setAttribute("open", "")
}

/** @type {(said: PassportSaid, scale: Scale, shades: Uint32Array) => HTMLElement} */
function passportOf(said, scale, shades) {
  const article = make("article", "", null, { ariaLabel: `Passport of head ${said.name}` })
  const glance = make("div", "glance", article)
  const header = make("header", "", glance)
  make("h2", "", header, { textContent: `Head ${said.name}` })
  make("span", "place", header, { textContent: said.place })
  make("p", "title", glance, { textContent: said.title })
  if (said.looked) glance.append(lookedOf(said.looked, shades, true))
  if (said.fallen) glance.append(fallenOf(said.fallen))
  const all = folded(article, "all", "Its numbers, each beside chance")
  for (const words of said.told) make("p", "told", all, { textContent: words })
  const sections = make("div", "sections", all)
  sections.append(breaksOf(said, scale), looksOf(said, shades), unexplainedOf(said))
  return article
}

/** @type {(name: string, title: string) => HTMLElement} */
function sectionOf(name, title) {
  const section = make("section", name)
  make("h3", "", section, { textContent: title })
  return section
}

/** @type {(parent: HTMLElement, name: string, title: string) => HTMLElement} */
function folded(parent, name, title) {
  const details = make("details", name, parent)
  make("summary", "", details, { textContent: title })
  return details
}

/** Words with the weights of a row as fills; the one that looks has an outline.
    @type {(looked: Looked, shades: Uint32Array, large?: boolean) => HTMLElement} */
function lookedOf({ words, weights, query, told }, shades, large = false) {
  const figure = make("figure", "looked")
  const line = make("div", "", figure)
  for (const [at, each] of writeShaded(line, words, weights, shades).entries()) {
    each.title = besideWord(weights[at])
    each.classList.toggle("asks", at === query)
  }
  make("figcaption", large ? "large" : "", figure, { textContent: told })
  return figure
}

/** A prompt, its answer, and the share that is left of that without the head.
    @type {(fallen: Fallen) => HTMLElement} */
function fallenOf({ text, answer, before, after, said }) {
  const line = make("p", "fallen")
  make("bdi", "text", line, { textContent: text })
  if (!answer) {
    make("strong", "", line, { textContent: said })
    return line
  }
  make("bdi", "answer", line, { textContent: answer })
  make("s", "", line, { textContent: before })
  make("strong", "", line, { textContent: after })
  return line
}

/** @type {(said: PassportSaid, scale: Scale) => HTMLElement} */
function breaksOf(said, scale) {
  const section = sectionOf("breaks", "What breaks without it")
  const [few, more] = [said.kinds.slice(0, FEW), said.kinds.slice(FEW)]
  section.append(kindsOf(few, scale))
  const ring = few.some(({ turned }) => turned.length) ? RING : ""
  make("p", "quiet", section, {
    textContent: `A dot is a prompt. Upper ones: found on; lower ones: checked on.${ring}`,
  })
  if (more.length)
    folded(section, "more-kinds", `${more.length} more kinds`).append(kindsOf(more, scale))
  if (said.hangs.length) {
    const hang = folded(section, "hangs", "Sentences that hang on it, and controls")
    hang.append(promptsOf(said.hangs))
    make("p", "quiet", hang, { textContent: "Of the same kind, but changing least:" })
    hang.append(promptsOf(said.controls))
  }
  const zeroed = said.kinds.filter(({ zero }) => zero)
  if (zeroed.length) {
    const cells = zeroed.map(({ kind, said: mean, zero, misleads }) => ({
      title: kind,
      cells: [mean, zero, misleads ? "zero misleads" : ""],
    }))
    const zero = folded(section, "zeros", "Set to zero instead of its mean")
    zero.append(tableOf(["by mean", "by zero", ""], cells))
  }
  return section
}

/** @type {(kinds: KindSaid[], scale: Scale) => HTMLElement} */
function kindsOf(kinds, { most, unit }) {
  const box = make("div", "kinds")
  for (const kind of kinds) {
    make("bdi", kind.needed ? "kind needed" : "kind", box, { textContent: kind.kind })
    box.append(stripOf(kind, most))
    make("span", "number", box, { textContent: kind.said })
  }
  const ends = make("div", "ends", box, { ariaHidden: "true" })
  const end = Math.round(100 * most)
  make("span", "", ends, { textContent: `−${end}` })
  make("span", "", ends, { textContent: "0" })
  make("span", "", ends, { textContent: `+${end} ${unit}` })
  return box
}

/** Effects on single prompts as dots, of each half in a row, with the mean and its interval, and a
    ring for that of a change as large in a random direction.
    @type {(kind: KindSaid, most: number) => SVGElement} */
function stripOf({ dots, means, turned, turnedSaid, kind, said }, most) {
  const beside = turned.length ? `; in a random direction ${turnedSaid}` : ""
  const strip = makeShape("svg", { role: "img", "aria-label": `${kind}: ${said}${beside}` })
  const x = (/** @type {number} */ effect) =>
    lengthOf(0.5 + Math.max(-most, Math.min(most, effect)) / (2 * most))
  makeShape("line", { x1: "0%", x2: "100%", y1: 14, y2: 14, class: "zero" }, strip)
  makeShape("line", { x1: "50%", x2: "50%", y1: 0, y2: 28, class: "zero" }, strip)
  for (const [effect, half] of dots) {
    const side = effect < 0 ? "less" : "more"
    makeShape("circle", { cx: x(effect), cy: half ? 21 : 7, r: 3.2, class: `dot ${side}` }, strip)
  }
  for (const [half, { mean, low, high }] of means.entries()) {
    const [y1, y2] = half ? [16, 26] : [2, 12]
    const middle = (y1 + y2) / 2
    makeShape("line", { x1: x(low), x2: x(high), y1: middle, y2: middle, class: "between" }, strip)
    makeShape("line", { x1: x(mean), x2: x(mean), y1, y2, class: "mean" }, strip)
  }
  for (const [half, mean] of turned.entries())
    makeShape("circle", { cx: x(mean), cy: half ? 21 : 7, r: 4, class: "turned" }, strip)
  return strip
}

/** @type {(prompts: Fallen[]) => HTMLElement} */
function promptsOf(prompts) {
  const list = make("ul", "prompts")
  for (const { text, said, link } of prompts) {
    const item = make("li", "", list)
    if (link) make("a", "", item, { href: link, textContent: text })
    else make("span", "", item, { textContent: text })
    make("span", "", item, { textContent: said })
  }
  return list
}

/** @type {(said: PassportSaid, shades: Uint32Array) => HTMLElement} */
function looksOf(said, shades) {
  const section = sectionOf("looks", "What it looks at")
  for (const name of said.names) section.append(nameOf(name, shades))
  if (!said.names.length) make("p", "", section, { textContent: said.looks })
  const shown = said.names.length ? 0 : SOME_ROWS
  for (const row of said.rows.slice(0, shown)) section.append(lookedOf(row, shades))
  const rows = folded(section, "rows", "A sample of its rows, not the best alone")
  for (const row of said.rows.slice(shown)) rows.append(lookedOf(row, shades))
  const columns = ["found", "checked", "keys shuffled", "untrained"]
  folded(section, "measures", "All measures").append(tableOf(columns, said.measures))
  return section
}

/** @type {(name: NameSaid, shades: Uint32Array) => HTMLElement} */
function nameOf({ title, holds, bars, example, counter }, shades) {
  const box = make("div", holds ? "name" : "name fails")
  const line = make("h4", "", box, { textContent: title })
  make("small", "", line, { textContent: holds ? "holds on other texts" : "fails on other texts" })
  box.append(barsOf(bars))
  const cases = folded(
    box,
    `cases-${title.replaceAll(/\W/g, "-")}`,
    "An example, and where it fails",
  )
  cases.append(lookedOf(example, shades))
  if (counter) cases.append(lookedOf(counter, shades))
  else make("p", "quiet", cases, { textContent: "It fails on none of the texts." })
  return box
}

/** Shares of 1 with their intervals, those by chance grey.
    @type {(bars: Bar[]) => HTMLElement} */
function barsOf(bars) {
  const box = make("div", "bars")
  for (const [at, { title, mean, low, high, said }] of bars.entries()) {
    make("span", "", box, { textContent: title })
    const level = make("span", at < CHANCE ? "level" : "level chance", box, { ariaHidden: "true" })
    make("i", "", level).style.width = lengthOf(sizeOf(mean))
    if (high > low)
      Object.assign(make("u", "", level).style, {
        insetInlineStart: lengthOf(sizeOf(low)),
        width: lengthOf(sizeOf(high) - sizeOf(low)),
      })
    make("span", "", box, { textContent: said })
  }
  return box
}

/** @type {(columns: string[], measures: MeasureSaid[]) => HTMLElement} */
function tableOf(columns, measures) {
  const box = make("div", "table", null, { tabIndex: 0, ariaLabel: "Table", role: "group" })
  const lines = measures.map(({ title, cells }) => [title, ...cells])
  drawTable(box, { columns, lines, total: [], bars: [], links: [] })
  return box
}

/** @type {(said: PassportSaid) => HTMLElement} */
function unexplainedOf({ bars }) {
  const section = sectionOf("unexplained", "Attention that is not explained")
  section.append(barsOf(bars))
  return section
}
