import { palette, ramp, writeScale } from "../shared/colours.js"
import { component } from "../shared/component.js"
import * as curves from "../shared/curves.js"
import { make, makeShape, setLengths } from "../shared/elements.js"
import { makeFilm, makeSlider, takeFilm, tellSlider } from "../shared/film.js"
import { makeMatrix, paintMatrix } from "../shared/matrix.js"
import { countDrawing } from "../shared/painter.js"
import { fixed } from "../shared/words.js"

/** @import { RaceHeader, Runner } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @import { Content } from "../shared/message.js"
    @import { Matrix } from "../shared/matrix.js"
    @typedef {{ figure: HTMLElement, share: HTMLElement, keeps: HTMLElement, scale: HTMLElement,
      sums: HTMLElement, matrix: Matrix | null, line: SVGPathElement,
      band: SVGPathElement }} Lane
    @typedef {ReturnType<typeof build>} View */

const PLOT = { width: 460, left: 46, right: 10, top: 12, bottom: 34 }
const FRAME = 450 // milliseconds from one step to the next
const HEIGHTS = [460, 300, 200] // pixels of the curves: beside the maps, above them, where swiped
const MAP = [96, 192, 150] // pixels of a map, at least, and at most beside the curves and below them
const COLUMNS = 4
const GAP = 20
const BESIDE = 900 // pixels at which the maps have room beside the curves
const NARROW = 500 // pixels below which a brief race has its maps in one row, to be swiped
const MARKS = [0, 0.25, 0.5, 0.75, 1] // shares with a line

export default component(build, draw)

/** @param {Mount<"race">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const way = make("div", "reel", frame)
  const film = makeFilm(way, FRAME, () => show(view))
  const width = makeSlider(way, "State")
  const pairs = makeSlider(way, "Pairs")
  const row = make("div", "row", frame)
  const view = {
    ...{ content, frame, film, pairs, state: width, width: 0, size: 0, list: 0 },
    ...{ told: "", outline: "" },
    ...{ plotted: make("div", "plotted", row), maps: make("div", "maps", row) },
    plot: /** @type {curves.Plot | null} */ (null),
    lanes: /** @type {Lane[]} */ ([]),
  }
  width.slider.addEventListener("input", () => {
    view.size = Number(width.slider.value)
    show(view)
  })
  pairs.slider.addEventListener("input", () => {
    view.list = Number(pairs.slider.value)
    lay(view)
    show(view)
  })
  width.slider.addEventListener("change", () => {
    if (!view.content.brief) send("width", view.content.widths[view.size])
  })
  pairs.slider.addEventListener("change", () => {
    if (!view.content.brief) send("pairs", view.content.lists[view.list])
  })
  return view
}

/** @type {(view: View) => void} */
function draw(view) {
  const { widths, width, lists, pairs, runners, seeds } = view.content
  view.width = view.frame.clientWidth
  if (!view.width) return
  const told = JSON.stringify([widths, width, pairs])
  if (told !== view.told) {
    view.size = widths.indexOf(width)
    view.list = lists.indexOf(pairs)
  }
  view.told = told
  const outline = JSON.stringify([view.width, runners, view.list, seeds])
  if (outline !== view.outline) lay(view)
  view.outline = outline
  view.state.label.hidden = widths.length < 2
  view.state.slider.max = String(widths.length - 1)
  view.pairs.slider.max = String(lists.length - 1)
  takeFilm(view.film, view.content)
}

/** The curves, the shares and the maps at one step, for one state and lists of so many pairs.
    @type {(view: View) => void} */
function show(view) {
  const { content, film, size, list, lanes, frame, plot } = view
  const { steps, counts, lists, widths, runners, last } = content
  const { at } = film
  const pairs = lists[list]
  if (!plot) return
  tellSlider(film.step, at, `${steps[at].toLocaleString("en")} of ${last.toLocaleString("en")}`)
  tellSlider(view.state, size, `${widths[size]} × ${widths[size]} numbers`)
  tellSlider(view.pairs, list, `${pairs} in the list`)
  curves.markMoment(plot, acrossOf(plot, counts, pairs))
  let map = 0
  for (const [index, runner] of runners.entries()) {
    const lane = lanes[index]
    const [mean, least, most] = sharesOf(content, size, at, index)
    const around = [most, least].map((shares) => pointsOf(plot, counts, shares))
    lane.line.setAttribute("d", curves.pathOf(pointsOf(plot, counts, mean)) || "M0 0")
    lane.band.setAttribute("d", curves.pathOf([...around[0], ...around[1].reverse()]) || "M0 0")
    const place = counts.indexOf(pairs)
    lane.share.textContent = shareWords(mean[place], least[place], most[place], content.seeds)
    const [kept, learned] = [runner.keeps[size][list], runner.parameters[size]]
    const parameters = learned ? `, learns ${learned.toLocaleString("en")}` : ""
    lane.keeps.textContent = `keeps ${kept.toLocaleString("en")}${parameters} numbers`
    if (!learned) lane.share.textContent = "not trained at this size"
    if (!lane.matrix) continue
    const weights = weightsOf(content, size, at, map)[list]
    map += 1
    const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1e-9)
    const scale = /** @type {[number, number]} */ (runner.shares ? [0, 1] : [-largest, largest])
    const colours = palette(frame, runner.shares ? "sequential" : "diverging")
    paintMatrix(lane.matrix, weights, scale, ramp(colours))
    const digits = runner.shares ? 0 : largest < 1 ? 2 : 1
    const [low, high] = scale.map((end) => fixed(end, digits))
    writeScale(lane.scale, colours, low, high)
    lane.sums.textContent = runner.shares ? "each row sums to 1" : sumWords(weights, pairs, digits)
  }
  countDrawing(view.frame)
}

/** Share of right answers, and of several seeds the least and the greatest.
    @type {(mean: number, least: number, most: number, seeds: number) => string} */
export function shareWords(mean, least, most, seeds) {
  if (Number.isNaN(mean)) return "nothing is learned yet"
  const [middle, low, high] = [mean, least, most].map((share) => (100 * share).toFixed(0))
  return seeds > 1 && low !== high ? `${middle} % right (${low} to ${high})` : `${middle} % right`
}

/** Sums of the rows of weights that may lie below 0.
    @type {(weights: Float32Array, side: number, digits: number) => string} */
function sumWords(weights, side, digits) {
  const sums = Array.from({ length: side }, (_, row) =>
    weights.subarray(row * side, (row + 1) * side).reduce((sum, weight) => sum + weight, 0),
  )
  const [low, high] = [Math.min(...sums), Math.max(...sums)].map((sum) => fixed(sum, digits))
  return `rows sum to ${low} … ${high}`
}

/** Mean, least and greatest share of a runner, for each count.
    @type {(content: Pick<Content<"race">, "steps" | "widths" | "runners" | "counts" | "numbers">,
      size: number, at: number, runner: number) => Float32Array[]} */
export function sharesOf({ steps, widths, runners, counts, numbers }, size, at, runner) {
  const start = ((size * steps.length + at) * runners.length + runner) * counts.length
  const each = widths.length * steps.length * runners.length * counts.length
  return [0, 1, 2].map((kind) => {
    const from = kind * each + start
    return numbers.subarray(from, from + counts.length)
  })
}

/** Weights of a variant over each of the lists, row by row.
    @type {(content: Pick<Content<"race">, "steps" | "widths" | "runners" | "counts" | "lists" |
      "numbers">, size: number, at: number, variant: number) => Float32Array[]} */
export function weightsOf({ steps, widths, runners, counts, lists, numbers }, size, at, variant) {
  const before = 3 * widths.length * steps.length * runners.length * counts.length
  const variants = runners.filter(({ map }) => map).length
  const cells = lists.reduce((sum, pairs) => sum + pairs ** 2, 0)
  let from = before + ((size * steps.length + at) * variants + variant) * cells
  return lists.map((pairs) => {
    const start = from
    from += pairs ** 2
    return numbers.subarray(start, from)
  })
}

/** @type {(plot: curves.Plot, counts: number[], pairs: number) => number} */
function acrossOf(plot, counts, pairs) {
  const [first, last] = [counts[0], counts[counts.length - 1]]
  return curves.acrossOf(plot, (pairs - first) / (last - first))
}

/** True if the maps have room beside the curves.
    @type {(view: View) => boolean} */
function isWide({ width }) {
  return width >= BESIDE
}

/** True if the maps stand in one row, to be swiped.
    @type {(view: View) => boolean} */
function isSwiped({ content, width }) {
  return content.brief && width < NARROW
}

/** @type {(view: View) => number} */
function heightOf(view) {
  return HEIGHTS[isWide(view) ? 0 : isSwiped(view) ? 2 : 1]
}

/** @type {(plot: curves.Plot, counts: number[], shares: Float32Array) => number[][]} */
function pointsOf(plot, counts, shares) {
  if (shares.some(Number.isNaN)) return []
  return counts.map((pairs, at) => [acrossOf(plot, counts, pairs), curves.downOf(plot, shares[at])])
}

/** @type {(view: View) => void} */
function lay(view) {
  const { runners, lists } = view.content
  const hues = palette(view.frame, "categorical")
  view.plotted.replaceChildren()
  view.maps.replaceChildren()
  view.plot = layPlot(view)
  const { svg, now } = view.plot
  const beside = isWide(view)
  view.frame.classList.toggle("beside", beside)
  const largest = MAP[beside ? 1 : 2]
  const room = beside ? view.width - PLOT.width - GAP : view.width
  const columns = Math.max(2, Math.min(COLUMNS, Math.floor((room + GAP) / (MAP[2] + GAP))))
  const swiped = isSwiped(view)
  const fits = Math.max(MAP[0], Math.min(largest, Math.floor(room / columns) - GAP))
  const side = swiped ? MAP[0] : fits
  make("h3", "", view.maps, {
    textContent:
      "Each row asks for a key, each column is a pair; the right one lies on the diagonal",
  })
  const lanes = make("div", "lanes", view.maps)
  setLengths(lanes, { "--side": side })
  lanes.style.setProperty("--columns", String(columns))
  lanes.classList.toggle("swiped", swiped)
  if (swiped) lanes.tabIndex = 0
  const bands = runners.map(() => makeShape("path", { class: "band" }, svg))
  view.lanes = runners.map((runner, index) => {
    const hue = hues[index % hues.length]
    bands[index].setAttribute("fill", hue)
    const line = makeShape("path", { class: "line", stroke: hue }, svg)
    return layLane(lanes, runner, { hue, line, band: bands[index], side, pairs: lists[view.list] })
  })
  for (const [index, { figure }] of view.lanes.entries())
    for (const [event, chosen] of [
      ["pointerenter", index],
      ["pointerleave", -1],
    ])
      figure.addEventListener(String(event), () => point(view, Number(chosen)))
  svg.append(now)
}

/** @type {(view: View) => curves.Plot} */
function layPlot(view) {
  const { counts } = view.content
  const label = "Right answers of each network by the number of pairs in the list"
  const room = { ...PLOT, height: heightOf(view) }
  const plot = curves.makePlot(view.plotted, "Right answers", room, view.width, label)
  const { svg, left, end, floor, height } = plot
  for (const share of MARKS) {
    const y = curves.downOf(plot, share)
    makeShape("path", { class: "axis", d: `M${left} ${y}H${end}` }, svg)
    curves.writeIn(plot, left - 6, y + 4, "end", `${100 * share} %`)
  }
  for (const pairs of [1, 5, 10, 15, counts[counts.length - 1]])
    curves.writeIn(plot, acrossOf(plot, counts, pairs), floor + 18, "middle", String(pairs))
  curves.writeIn(plot, end, height - 2, "end", "pairs in the list")
  return plot
}

/** A runner's card: its name in the colour of its curve, its share, its map.
    @type {(parent: HTMLElement, runner: Runner, look: { hue: string, line: SVGPathElement,
      band: SVGPathElement, side: number, pairs: number }) => Lane} */
function layLane(parent, { name, map, shares }, { hue, line, band, side, pairs }) {
  const figure = make("figure", "", parent)
  const caption = make("figcaption", "", figure)
  const title = make("span", "name", caption)
  make("i", "", title).style.background = hue
  title.append(name)
  const [share, keeps] = [make("span", "share", caption), make("span", "", caption)]
  const place = make("div", map ? "plot" : "none", figure)
  if (!map) place.textContent = "reads one pair after the other: it has no map"
  const sign = shares ? "" : ", of any sign"
  const matrix = map
    ? makeMatrix(place, {
        ...{ rows: pairs, columns: pairs, width: side, height: side },
        label: `Weights of ${name}${sign}`,
      })
    : null
  const scale = make("small", "scale", figure, { hidden: !map })
  const sums = make("small", "", figure)
  return { figure, share, keeps, scale, sums, matrix, line, band }
}

/** Lets one curve stand out. index: of the runner, -1: none
    @type {(view: View, index: number) => void} */
function point({ lanes }, index) {
  for (const [at, { line, band }] of lanes.entries()) {
    line.classList.toggle("away", index >= 0 && at !== index)
    band.classList.toggle("away", index >= 0 && at !== index)
    line.classList.toggle("chosen", at === index)
  }
}
