import { palette, ramp } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { acrossOf, downOf, makePlot, markMoment, pathOf, writeIn } from "../shared/curves.js"
import { childrenOf, make, makeShape } from "../shared/elements.js"
import { makeFilm, takeFilm, tellSlider } from "../shared/film.js"
import { frameCells, makeMatrix, paintMatrix } from "../shared/matrix.js"
import { countDrawing } from "../shared/painter.js"
import { fixed } from "../shared/words.js"

/** @import { Curve, LearningHeader, Other } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @import { Plot } from "../shared/curves.js"
    @import { Matrix } from "../shared/matrix.js"
    @typedef {ReturnType<typeof build>} View */

const PLOT = { width: 400, height: 150, left: 44, bottom: 22, top: 8, right: 8 }
const ATTENTION = "Attention: each row looks at columns"
const FRAME = 180 // milliseconds from one step to the next
const ROOMY = 20 // pixels of a cell that is an effect, where there is room
const LARGE = 380 // pixels of a map that stands alone
const SMALL = [110, 210] // of one of several, at least and at most
const BESIDE = 880 // pixels at which the maps have room beside the curves
const FEW = 2 // maps side by side that have room to be large
const MARGIN = 40 // pixels of the names at the left of a map
const GAP = 16
const LABELLED = 12 // pixels of a cell that has its name
const LETTER = 7 // pixels, of names that are words
const TELLING = 0.5 // above it a head stands out
const OPEN = 4 // of a training's steps the first such part, in which one may still bet
const DASHES = ["", "5 4", "2 3"] // of the tests of one network

export default component(build, draw)

/** @param {Mount<"learning">} mount */
function build({ root, content }) {
  const frame = make("div", "frame", root)
  const bet = makeBet(frame)
  const way = make("div", "reel", frame)
  const film = makeFilm(way, FRAME, () => show(view))
  const row = make("div", "row", frame)
  const view = {
    ...{ content, frame, bet, film, width: 0 },
    ...{ curves: make("div", "curves", row), maps: make("div", "maps", row) },
    ...{ outline: "", time: false },
    plots: /** @type {Plot[]} */ ([]),
    matrices: /** @type {Matrix[]} */ ([]),
    captions: /** @type {HTMLElement[]} */ ([]),
  }
  bet.slider.addEventListener("input", () => {
    bet.value = Number(bet.slider.value)
    drawBet(view)
    drawCurves(view)
    show(view)
  })
  return view
}

/** @type {(view: View) => void} */
function draw(view) {
  const { steps, brief, tokens, keys, layers, heads, last, other } = view.content
  view.width = view.frame.clientWidth
  if (!view.width) return
  const names = other?.maps.length ? other.names : []
  const outline = JSON.stringify([tokens, keys, layers, heads, last, names, view.width])
  const changed = outline !== view.outline
  if (changed) lay(view)
  view.outline = outline
  view.curves.hidden = brief
  if (steps.length < view.film.count) view.bet.value = null // another training begins
  drawBet(view)
  if (!brief) drawCurves(view)
  takeFilm(view.film, view.content, changed)
}

/** Where one bets on what a training will reach; nothing of it leaves the browser.
    @param {HTMLElement} parent */
function makeBet(parent) {
  const box = make("div", "bet", parent)
  const label = make("label", "", box)
  const asks = make("span", "", label)
  const slider = make("input", "", label, { type: "range", min: "0", max: "100", step: "1" })
  const said = make("output", "", box)
  return { box, label, asks, slider, said, value: /** @type {number | null} */ (null) }
}

/** True while nobody can know yet how a training ends.
    @type {(content: Pick<LearningHeader, "steps" | "live" | "last" | "brief" | "losses" | "shares">)
      => boolean} */
export function isOpen({ steps, live, last, brief, losses, shares }) {
  const begun = losses[0].values.length > 0
  return !brief && shares.length > 0 && (live ? (steps.at(-1) ?? 0) <= last / OPEN : !begun)
}

/** @type {(bet: number, reached: number, right: string) => string} */
export function verdict(bet, reached, right) {
  const off = Math.abs(bet - reached)
  const far = off ? `${off} point${off === 1 ? "" : "s"} off` : "spot on"
  return `You bet ${bet} %. It is ${reached} % ${right}: ${far}.`
}

/** @type {(view: View) => void} */
function drawBet({ bet, content }) {
  const { steps, live, last, right, shares } = content
  const { box, label, asks, slider, said, value } = bet
  const open = isOpen(content)
  box.hidden = !open && value === null
  label.hidden = !open
  asks.textContent = `Your bet: how many % ${right} after ${last} steps?`
  if (value === null) slider.value = "50"
  slider.setAttribute("aria-valuetext", value === null ? "no bet yet" : `${value} %`)
  const share = shares[0]?.values.at(-1)
  const over = !live && steps.at(-1) === last && share !== undefined
  const mine = open ? `${value} %` : `Your bet: ${value} %`
  if (value === null) said.textContent = ""
  else said.textContent = over ? verdict(value, Math.round(100 * share), right) : mine
}

/** One moment: a line in the curves, and the weights of all heads.
    @type {(view: View) => void} */
function show(view) {
  const { content, frame, plots, matrices, captions, film } = view
  const { at } = film
  const { tokens, keys, layers, heads, steps, live, losses, shares, measure, measured } = content
  const { other, effects } = content
  const [loss, share] = [losses[0].values[at], shares[0]?.values[at]]
  const right = share === undefined ? "" : `, ${(100 * share).toFixed(0)} % ${content.right}`
  const reached = loss === undefined ? "nothing is learned yet" : `loss ${loss.toFixed(2)}`
  tellSlider(film.step, at, `${steps[at]}: ${reached}${right}`)
  for (const plot of plots) markMoment(plot, acrossOf(plot, shareOf(content, view.time, at)))
  const shades = ramp(palette(frame, effects ? "diverging" : "sequential"))
  /** @type {[number, number]} */
  const scale = effects ? [-effects.most, effects.most] : [0, 1]
  const cells = tokens.length * keys.length
  const moment = live ? 0 : at
  for (let map = 0; map < layers * heads; map++) {
    const start = (moment * layers * heads + map) * cells
    const weights = content.numbers.subarray(start, start + cells)
    paintMatrix(matrices[map], weights, scale, shades)
    const number = measured[at]?.[map]
    const told = childrenOf(captions[map])[1]
    told.textContent = number === undefined ? "" : `${measure} ${fixed(number, 2)}`
    told.style.fontWeight = number > TELLING ? "700" : ""
  }
  if (other?.maps.length) {
    const start = (other.maps.length + moment) * cells
    paintMatrix(matrices[1], content.numbers.subarray(start, start + cells), scale, shades)
  }
  if (matrices[0]) countDrawing(matrices[0].canvas)
}

/** @type {(view: View) => void} */
function lay(view) {
  const { tokens, keys, layers, heads, brief, other, effects } = view.content
  view.maps.replaceChildren()
  make("h3", "", view.maps, { textContent: effects?.title ?? ATTENTION })
  const alone = layers * heads === 1
  const rows = make("div", "heads", view.maps)
  view.matrices = []
  view.captions = []
  const wide = view.width >= BESIDE && !brief ? view.width - PLOT.width - 3 * GAP : view.width
  const pair = Boolean(other?.maps.length)
  const columns = heads + (pair ? 1 : 0)
  const [least, most] = columns > FEW ? SMALL : [SMALL[0], LARGE]
  const longest = Math.max(...tokens.map((token) => token.length))
  const names = longest > 4 ? LETTER * longest : columns > FEW ? 0 : MARGIN
  const each = Math.floor(wide / columns) - 2 * GAP - names
  const single = Math.min(wide - 60, effects ? ROOMY * keys.length : LARGE)
  const room = alone && (effects || !pair) ? single : Math.max(least, Math.min(most, each))
  const cell = room / Math.max(tokens.length, keys.length)
  const lines = Array.from({ length: layers }, () => make("div", "layer", rows))
  for (const [layer, line] of lines.entries())
    for (let head = 0; head < heads; head++) {
      const one = effects ? "" : `layer ${layer}, head ${head}`
      const name = other && pair ? other.names[0] : one
      const label = effects?.title ?? `Weights of ${name}`
      view.captions.push(layMap(view, line, name, label, cell, layer === layers - 1))
    }
  if (!other || !pair) return
  layMap(view, lines[0], other.names[1], effects?.title ?? `Weights ${other.names[1]}`, cell, true)
}

/** One map with its caption, whose second line is empty.
    @type {(view: View, line: HTMLElement, name: string, label: string, cell: number,
      rings: boolean) => HTMLElement} */
function layMap(view, line, name, label, cell, rings) {
  const { tokens, keys, truth, measure } = view.content
  const figure = make("figure", "", line)
  const caption = make("figcaption", "", figure)
  for (const textContent of [name, measure && "\u00a0"]) make("span", "", caption, { textContent })
  const plot = make("div", "plot", figure)
  const named = cell >= LABELLED
  const matrix = makeMatrix(plot, {
    ...{ rows: tokens.length, columns: keys.length, label },
    ...{ width: cell * keys.length, height: cell * tokens.length },
    ...(named ? { across: keys, down: tokens } : {}),
  })
  const longest = Math.max(...keys.map((key) => key.length))
  plot.firstElementChild?.classList.toggle("tall", named && longest * 8 > cell)
  view.matrices.push(matrix)
  for (const [row, looked] of rings ? truth.entries() : [])
    for (const key of looked)
      frameCells(matrix, make("i", named ? "around in" : "around", matrix.box), row, key)
  return caption
}

/** Where a moment stands along the axis, as a share of it.
    @type {(content: Pick<LearningHeader, "steps" | "last" | "losses">, time: boolean, at: number,
      curve?: Curve) => number} */
export function shareOf({ steps, last, losses }, time, at, curve = losses[0]) {
  const most = Math.max(...losses.flatMap(({ seconds }) => seconds), 1e-9)
  return time ? curve.seconds[at] / most : steps[at] / last
}

/** @type {(view: View) => void} */
function drawCurves(view) {
  const { losses, shares, other } = view.content
  view.curves.replaceChildren()
  view.plots = []
  const all = [...losses, ...(other?.losses ?? [])]
  const greatest = Math.max(...all.flatMap(({ values }) => values), 1e-9)
  const right = view.content.share_words
  drawPlot(view, "Loss, in nats", losses, other?.losses ?? [], greatest, (value) => fixed(value, 1))
  const percent = (/** @type {number} */ value) => `${Math.round(100 * value)} %`
  if (shares.length) drawPlot(view, right, shares, other?.shares ?? [], 1, percent, view.bet.value)
  const several = losses.length > 1
  if (!several) return
  const over = make("button", "", view.curves, { type: "button" })
  over.textContent = view.time ? "Over steps" : "Over time"
  over.addEventListener("click", () => {
    view.time = !view.time
    drawCurves(view)
    show(view)
    view.curves.querySelector("button")?.focus()
  })
}

/** thin: curves of another training; bet: the per cent at which a line is drawn.
    @type {(view: View, title: string, curves: Curve[], thin: Curve[], most: number,
      say: (value: number) => string, bet?: number | null) => void} */
function drawPlot(view, title, curves, thin, most, say, bet = null) {
  const { content, time, frame } = view
  const { other } = content
  const plot = makePlot(view.curves, title, PLOT, view.width)
  const { svg, left, end, top, floor, height } = plot
  makeShape("path", { class: "axis", d: `M${left} ${top}V${floor}H${end}` }, svg)
  if (bet !== null) {
    const y = downOf(plot, bet / 100)
    makeShape("line", { class: "bet", x1: left, x2: end, y1: y, y2: y }, svg)
  }
  writeIn(plot, left - 6, top + 6, "end", say(most))
  writeIn(plot, left - 6, floor + 2, "end", say(0))
  const seconds = Math.max(...content.losses.flatMap((curve) => curve.seconds))
  const unit = time ? `${fixed(seconds, 1)} s of a core` : `${content.last} steps`
  writeIn(plot, end, height - 6, "end", unit)
  const hues = palette(frame, "categorical")
  const names = make("ul", "legend", view.curves)
  const tests = curves.some(({ test }) => test)
  const pathOfCurve = (
    /** @type {typeof content | Other} */ { steps },
    /** @type {Curve} */ curve,
  ) =>
    pathOf(
      curve.values.flatMap((value, at) => {
        const x = acrossOf(plot, shareOf({ ...content, steps }, time, at, curve))
        return x > end + 0.01 ? [] : [[x, downOf(plot, value / most)]]
      }),
    )
  /** @type {(look: Record<string, string | number>, ...words: string[]) => void} */
  const addName = (look, ...words) => {
    const item = make("li", "", names)
    const sample = makeShape("svg", { width: 26, height: 8, "aria-hidden": "true" }, item)
    makeShape("path", { ...look, d: "M0 4H26" }, sample)
    item.append(words.filter(Boolean).join(", "))
  }
  const beside = { class: "thin", stroke: hues[0] }
  for (const curve of other ? thin : []) {
    const d = pathOfCurve(/** @type {Other} */ (other), curve)
    makeShape("path", { ...beside, d }, svg)
  }
  for (const [index, curve] of curves.entries()) {
    const look = {
      ...{ fill: "none", stroke: hueOf(hues, content, index), "stroke-width": 2.5 },
      ...{ "stroke-dasharray": DASHES[curve.test % DASHES.length] },
    }
    const d = pathOfCurve(content, curve)
    if (d) makeShape("path", { ...look, d }, svg)
    const [network, test] = curve.name.split(", ")
    const words = tests ? (network === curves[0].name.split(", ")[0] ? test : "") : curve.name
    if ((curves.length < 2 && !thin.length) || !words) continue
    const stroke = tests ? "currentColor" : look.stroke
    addName({ ...look, stroke }, words, curves.length > 1 ? "" : (other?.names[0] ?? ""))
  }
  if (other && thin.length) addName(beside, thin[0].name.split(", ")[0], other.names[1])
  if (!childrenOf(names).length) names.remove()
  svg.append(plot.now)
  view.plots.push(plot)
}

/** The colour of a curve: that of its network, the same in all plots.
    @type {(hues: string[], content: LearningHeader, index: number) => string} */
function hueOf(hues, { losses }, index) {
  return hues[(index % losses.length) % hues.length]
}
