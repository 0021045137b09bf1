import { axis, strands } from "../shared/axis.js"
import { itemAfter } from "../shared/cells.js"
import { listenToQueries, markQueries } from "../shared/choosing.js"
import { inkOn, ramp, rgb, shadeOf } from "../shared/colours.js"
import { make, makeShape, setAttributes, setLengths } from "../shared/elements.js"
import { isStill, move } from "../shared/moving.js"
import { byWeight } from "../shared/token_lines.js"
import { distinct, glance, percent, precise, sizeOf } from "../shared/words.js"
import { rowOf } from "./sums.js"

/** @import { At, Content, Part } from "./index.js"
    @import { Axis } from "../shared/axis.js"
    @typedef {{ x: number, y: number }} Spot where arcs end at a word
    @typedef {Axis["kind"]} Kind
    @typedef {{ spots: Spot[], kind: Kind, room: number, sight: number[] }} Layout sight: between
      which heights a word is seen, of a sentence that scrolls
    @typedef {ReturnType<typeof build>} View */

const LARGEST = 34 // pixels of letters
const SMALLEST = 21
const NARROW = 600
const WRAPPED = [24, 20, 17, 15] // pixels of letters, the largest that fit
const HIGHEST = 1 / 3 // of the window
const ALL = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
const MOST_STACKED = 20 // words
const SHARE = 56 // pixels for a share beside its word
const TOLD = 0.045 // of a weight that is written below its word
const DRAWN = 0.004
const CHANGED = 0.02
const MOST_ARCS = 48
const THICKEST = 16
const THREAD = { thickest: 6, apart: 3 } // of a marked row

/** The sentence in large words, with an arc from the chosen one to each that it looks at, a question
    above it and a line below; where the last word can be changed, the other one stands there too.
    @type {(parent: HTMLElement, content: Content) => Part} */
export function buildArcs(parent, content) {
  const view = build(parent, content)
  listenToQueries(view, "key", itemAfter)
  view.other.addEventListener("click", () => {
    const { switch: between, exchange } = view.content
    if (between) exchange?.(between.words.indexOf(view.other.dataset.word ?? ""))
  })
  return { draw: (content) => draw(view, content), show: (at) => show(view, at) }
}

/** @param {HTMLElement} parent
    @param {Content} content */
function build(parent, content) {
  const question = make("h1", "", make("header", "page-title beside", parent))
  const stage = make("div", "stage", parent)
  const drawing = makeShape("svg", {}, stage)
  drawing.ariaHidden = "true"
  const ghosts = makeShape("g", { class: "ghosts" }, drawing)
  const threads = makeShape("g", {}, drawing)
  const queries = make("div", "sentence", stage, { role: "listbox", tabIndex: 0 })
  queries.ariaLabel = "The sentence: choose a word; arrow keys move"
  const other = make("button", "other", stage, { type: "button" })
  const told = make("p", "told-line", parent, { role: "status" })
  const view = {
    ...{ content, question, stage, drawing, ghosts, threads, queries, other, told },
    ...{
      names: "",
      width: 0,
      height: 0,
      query: -1,
      held: -1,
      pointed: /** @type {number | null} */ (null),
    },
    options: /** @type {HTMLElement[]} */ ([]),
    shares: /** @type {HTMLElement[]} */ ([]),
    arcs: /** @type {SVGPathElement[]} */ ([]),
    layout: /** @type {Layout} */ ({ spots: [], kind: "row", room: 0, sight: ALL }),
    target: /** @type {Float32Array | null} */ (null),
    now: /** @type {Float32Array} */ (new Float32Array()),
    shades: /** @type {Uint32Array} */ (new Uint32Array()),
  }
  strands.follow(stage, () => thread(view))
  queries.addEventListener("scroll", () => {
    layOut(view, view.layout.kind, view.layout.room)
    place(view)
  })
  new ResizeObserver(() => {
    const [width, height] = [stage.clientWidth, window.innerHeight]
    if (width === view.width && height === view.height) return
    fit(view)
    place(view)
  }).observe(stage)
  document.fonts?.ready.then(() => {
    fit(view)
    place(view)
  })
  return view
}

/** @type {(view: View, content: Content) => void} */
function draw(view, content) {
  const { tokens, known, theme } = content
  const names = JSON.stringify([tokens, known])
  view.content = content
  view.shades = ramp(content.signed ? theme.diverging : theme.sequential)
  if (view.names !== names) write(view)
  view.names = names
}

/** The words; of a sentence that is as long the elements stay, and what moves goes on.
    @type {(view: View) => void} */
function write(view) {
  const { queries, content } = view
  const { tokens, known } = content
  if (view.options.length !== tokens.length) {
    view.options = tokens.map((_, at) => makeWord(at))
    view.shares = view.options.map((word) => /** @type {HTMLElement} */ (word.lastElementChild))
    queries.replaceChildren(...view.options)
    view.target = null
    view.held = -1
  }
  for (const [at, word] of view.options.entries()) {
    const [pill] = word.children
    const text = /** @type {HTMLElement} */ (pill.firstElementChild)
    if (text.textContent !== tokens[at]) text.textContent = tokens[at]
    word.classList.toggle("unknown", !known[at])
  }
  const last = tokens.at(-1) ?? ""
  const words = content.switch?.words ?? []
  const others = words.includes(last) ? words.filter((word) => word !== last) : []
  view.other.hidden = !others.length
  view.options.at(-1)?.classList.toggle("changeable", others.length > 0)
  if (others.length) {
    view.other.textContent = others[0]
    view.other.dataset.word = others[0]
    view.other.ariaLabel = `Change “${last}” to “${others[0]}”`
  }
  fit(view)
}

/** @type {(at: number) => HTMLElement} */
function makeWord(at) {
  const word = make("div", "word", null, { id: `option-${at}` })
  word.setAttribute("role", "option")
  word.setAttribute("aria-selected", "false")
  make("bdi", "", make("span", "pill", word))
  make("small", "", word)
  return word
}

/** Lays the words out: in one row where they are legible so, else one below the other or in lines.
    @type {(view: View) => void} */
function fit(view) {
  const { stage, options, queries, drawing, other } = view
  view.width = stage.clientWidth
  view.height = window.innerHeight
  if (!view.width || !options.length) return
  const [first, last] = [options[0], options[options.length - 1]]
  stage.dataset.layout = "row"
  setLengths(stage, { "--letters": LARGEST })
  const needed = last.offsetLeft + last.offsetWidth - first.offsetLeft
  const letters = Math.min(LARGEST, Math.floor((LARGEST * view.width) / needed))
  const kind = kindOf(letters, view.width, options.length)
  const highest = Math.min(150, Math.max(80, 0.165 * view.height))
  const room = kind === "row" ? (options.length > 2 ? highest : 56) : kind === "wrap" ? 56 : 0
  stage.dataset.layout = kind
  const sizes = kind === "row" ? [letters] : view.width < NARROW ? WRAPPED.slice(1) : WRAPPED
  const most = HIGHEST * view.height
  setLengths(stage, { "--arcs": room, "--highest": most })
  for (const size of sizes) {
    setLengths(stage, { "--letters": size })
    if (kind === "stack" || queries.scrollHeight <= most) break
  }
  if (options[view.held]) scrollTo(view, view.held)
  layOut(view, kind, room)
  const wide = /** @type {HTMLElement} */ (last.firstElementChild).offsetWidth
  const [left, top] = [queries.offsetLeft + last.offsetLeft, queries.offsetTop + last.offsetTop]
  const [height, below] = [stage.clientHeight, top + last.offsetHeight + 2]
  const words = options.map((word) => word.getBoundingClientRect())
  axis.tell(stage, view.content.tokens, { kind, words }) // before anything else is written
  setAttributes(drawing, { width: view.width, height })
  if (kind === "stack") setLengths(other, { left: left + wide + SHARE, top })
  else setLengths(other, { left, top: below, minWidth: wide })
}

/** Finds where the words are, as far as the sentence is scrolled.
    @type {(view: View, kind: Kind, room: number) => void} */
function layOut(view, kind, room) {
  const { options, queries } = view
  const top = queries.offsetTop
  const spots = options.map((word) => {
    const pill = /** @type {HTMLElement} */ (word.firstElementChild)
    const [x, y] = [queries.offsetLeft + word.offsetLeft, top + word.offsetTop - queries.scrollTop]
    if (kind === "stack") return { x, y: y + pill.offsetHeight / 2 }
    return { x: x + word.offsetWidth / 2, y }
  })
  const scrolls = queries.scrollHeight > queries.clientHeight + 1
  view.layout = { spots, kind, room, sight: scrolls ? [top, top + queries.clientHeight] : ALL }
}

/** @type {(letters: number, width: number, count: number) => Kind} */
export function kindOf(letters, width, count) {
  if (letters >= SMALLEST) return "row"
  return width < NARROW && count <= MOST_STACKED ? "stack" : "wrap"
}

/** @type {(view: View, at: At) => void} */
function show(view, at) {
  const { content, queries, options } = view
  const { query, held, key } = at
  if (!view.width) fit(view)
  const row = rowOf(content.numbers.weights, content.columns, query)
  const before = view.target
  const kept = before !== null && view.query === query
  const same =
    kept && before.length === row.length && before.every((weight, at) => weight === row[at])
  if (view.query !== query || !same) say(view, query)
  view.query = query
  if (query === held && view.held !== held) scrollTo(view, held)
  if (!same) {
    haunt(view, kept ? before : null, row)
    view.target = row
    place(view)
    const from = kept ? view.now : new Float32Array(row.length)
    move(view, before && query === held ? from : null, row, (weights) => paint(view, weights))
  } else paint(view, view.now)
  view.held = held
  mark(view, key)
  markQueries({ queries, options }, held, query)
}

/** Brings a word into sight, in a sentence that scrolls.
    @type {(view: View, at: number) => void} */
function scrollTo({ queries, options }, at) {
  const { offsetTop, offsetHeight } = options[at]
  const [above, below] = [offsetTop, offsetTop + offsetHeight - queries.clientHeight]
  if (queries.scrollTop <= above && queries.scrollTop >= below) return
  queries.scrollTop = (above + below) / 2
}

/** @type {(view: View, query: number) => void} */
function say({ content, question, told }, query) {
  const { said, tokens } = content
  const { question: asked, line } = said[query] ?? { question: distinct(tokens, query), line: [] }
  if (question.textContent !== asked) question.textContent = asked
  if (told.textContent === line.join("")) return
  told.replaceChildren(
    ...line.map((text, at) => {
      if (at % 2 === 0) return document.createTextNode(text)
      const strong = make("b", "")
      make("bdi", "", strong, { textContent: text })
      return strong
    }),
  )
}

/** The arcs of the chosen word, as the layout has room for them.
    @type {(view: View) => void} */
function place(view) {
  const { drawing, layout, query, target, arcs } = view
  if (!target || query < 0 || !layout.spots[query]) return
  const keys = arcsOf(target)
  while (arcs.length < keys.length)
    arcs.push(/** @type {SVGPathElement} */ (makeShape("path", { class: "arc" }, drawing)))
  for (const arc of arcs.splice(keys.length)) arc.remove()
  for (const [at, key] of keys.entries()) {
    arcs[at].dataset.key = String(key)
    arcs[at].setAttribute("d", arc(layout, query, key))
  }
  thread(view)
  paint(view, view.now.length === target.length ? view.now : target)
}

/** Thin arcs of marked rows, of each to the words that it looks at most.
    @type {(view: View) => void} */
function thread({ threads, content, layout, query }) {
  const marked = (layout.spots[query] && strands.of(content.tokens)) || []
  threads.replaceChildren()
  for (const [at, { colour, weights }] of marked.entries()) {
    const aside = THREAD.apart * (at - (marked.length - 1) / 2)
    const group = makeShape("g", { transform: `translate(${aside})` }, threads)
    group.style.setProperty("--ink", colour)
    for (const [key, weight] of Array.from(weights).entries()) {
      if (!(weight >= TOLD)) continue
      const looks = { "stroke-width": 1 + THREAD.thickest * sizeOf(weight) }
      makeShape("path", { d: arc(layout, query, key), ...looks }, group)
    }
  }
}

/** The keys that have an arc, the strongest last: it lies above the others.
    @type {(weights: Float32Array) => number[]} */
export function arcsOf(weights) {
  return byWeight(weights).slice(0, MOST_ARCS).reverse()
}

/** From a query up, or aside, and back to a key; nothing where either is out of sight.
    @type {(layout: Layout, query: number, key: number) => string} */
export function arc({ spots, kind, room, sight }, query, key) {
  const [from, to] = [spots[query], spots[key]]
  const [top, end] = sight
  if (Math.min(from.y, to.y) < top || Math.max(from.y, to.y) > end) return ""
  if (kind === "stack") {
    if (query === key) return loop(from, -1, 0)
    const out =
      Math.min(from.x, to.x) - 10 - (from.x - 16) * (Math.abs(query - key) / spots.length) ** 0.6
    return `M${from.x},${from.y} C${out},${from.y} ${out},${to.y} ${to.x},${to.y}`
  }
  if (query === key) return loop(from, 0, -1)
  const [farthest, apart] = [
    Math.max(...spots.map(({ x }) => Math.abs(x - from.x))),
    Math.abs(to.x - from.x),
  ]
  const peak = kind === "row" ? 26 + (room - 44) * (apart / farthest) ** 0.75 : 22 + 0.03 * apart
  const [up, over] = [from.y - (4 / 3) * peak, to.y - (4 / 3) * peak]
  return `M${from.x},${from.y} C${from.x},${up} ${to.x},${over} ${to.x},${to.y}`
}

/** @type {(spot: Spot, across: number, up: number) => string} */
function loop({ x, y }, across, up) {
  const [near, far, out] = [10, 32, 52]
  if (up) return `M${x - near},${y} C${x - far},${y - out} ${x + far},${y - out} ${x + near},${y}`
  const left = x + across * out
  return `M${x},${y - near} C${left},${y - far} ${left},${y + far} ${x},${y + near}`
}

/** Weights as they are, or on their way: of arcs, of words, and below these.
    @type {(view: View, weights: Float32Array) => void} */
function paint(view, weights) {
  const { arcs, options, shares, shades, content, query, target } = view
  view.now = weights
  const masked = rowOf(content.hidden, content.columns, query)
  const { shares: shared, signed: around, theme } = content
  const least = around ? -1 : 0
  for (const arc of arcs) {
    const signed = weights[Number(arc.dataset.key)]
    const weight = sizeOf(signed)
    arc.style.stroke = around ? (theme.diverging.at(signed < 0 ? 1 : -2) ?? "") : ""
    arc.style.strokeWidth = `${1 + THICKEST * weight}px`
    arc.style.strokeOpacity = weight < DRAWN ? "0" : String(0.22 + 0.66 * weight)
  }
  for (const [key, word] of options.entries()) {
    const weight = weights[key]
    const pixel = shadeOf(around ? weight : sizeOf(weight), least, 1, shades)
    const pill = /** @type {HTMLElement} */ (word.firstElementChild)
    const filled = !masked[key] && Math.abs(weight) >= DRAWN
    pill.style.background = filled ? rgb(pixel) : ""
    pill.style.color = filled ? inkOn(pixel) : ""
    word.classList.toggle("masked", Boolean(masked[key]))
    const most = Math.max(Math.abs(target?.[key] ?? 0), Math.abs(weight))
    const tell = most >= TOLD || view.pointed === key
    const number = shared ? percent(weight) : glance(weight, content.columns)
    const shown = tell ? (masked[key] ? "masked" : number) : ""
    if (shares[key].textContent !== shown) shares[key].textContent = shown
  }
}

/** What was there before, for a while.
    @type {(view: View, before: Float32Array | null, row: Float32Array) => void} */
function haunt({ ghosts, arcs }, before, row) {
  ghosts.replaceChildren()
  if (!before || isStill()) return
  for (const arc of arcs) {
    const key = Number(arc.dataset.key)
    if (!(Math.abs(before[key] - row[key]) >= CHANGED)) continue
    const looks = {
      d: arc.getAttribute("d") ?? "",
      "stroke-width": 1 + THICKEST * sizeOf(before[key]),
    }
    makeShape("path", looks, ghosts)
  }
}

/** The word that is pointed at, and the arc that leads there.
    @type {(view: View, key: number | null) => void} */
function mark(view, key) {
  const { options, arcs } = view
  const before = view.pointed
  view.pointed = key
  for (const [at, word] of options.entries()) word.classList.toggle("pointed", at === key)
  for (const arc of arcs) arc.classList.toggle("pointed", Number(arc.dataset.key) === key)
  if (before === key) return
  paint(view, view.now)
  if (key === null) return
  const { content, query, target, now } = view
  const masked = rowOf(content.hidden, content.columns, query)[key]
  const number = masked ? "masked" : precise(target?.[key] ?? now[key], 6)
  options[key].title = `${distinct(content.tokens, key)}: ${number}`
}
