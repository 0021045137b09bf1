import grid from "../head_grid/index.js"
import { make } from "../shared/elements.js"
import { decode, encode } from "../shared/message.js"
import map from "../street_map/index.js"
import { makePicture } from "./picture.js"
import { follow } from "./theme.js"

/** @import { MapAsked } from "../messages.js"
    @import { Content } from "../shared/message.js"
    @import { Picture } from "./picture.js"
    @import { Themes } from "./theme.js"

    What is chosen, by the model's own numbers; and what is asked of a head: its first picture with
    that query chosen, or what its map has not yet.
    @typedef {{ layer: number, head: number, query: number }} Chosen
    @typedef {Chosen & { asked: MapAsked | null }} Question
    @typedef {{ query: number, numbers: Float32Array }} Row

    A run to be shown. grid: the message of all heads; heads: layer and head of each of these;
    words: below them; absent: in place of a head that is not there; styles: of all heads, and of
    what shows one; picture: whose patches are the keys, null where a map shows them; answer: gives
    the message to a question, null where there is none; choose: gets what is chosen. step, steps:
    which step of learning this is, and all that there are; go: asks for another one.
    @typedef {{ grid: Uint8Array, heads: [number, number][], words: string, absent: string,
      styles: { grid: string, shown: string }, themes: Themes, picture: Picture | null,
      answer: (question: Question) => Promise<Uint8Array | null>,
      choose: (chosen: Chosen) => void, step: number, steps: number[],
      go: (step: number) => void }} Shown
    @typedef {Omit<Shown, "answer" | "choose" | "go">} Given */

const MEAN = -1 // in place of a head: the mean of all of a layer
const COLOURS = 8 // of the theme's: in darker ones nothing of a picture is seen

/** Draws a run: all heads, and the map of the chosen one below.
    @param {HTMLElement} parent
    @param {Shown} shown
    @param {Chosen} first
    @returns {{ show: (chosen: Chosen) => void, update: (given: Given) => void, end: () => void }} */
export function showRun(parent, shown, first) {
  const { styles, picture, steps } = shown
  let heads = shown.heads
  const frame = make("div", "attention-run", parent)
  const above = makeHost(null, `${styles.grid} .caption { display: none; }`)
  const words = make("p", "", null, { textContent: shown.words })
  const title = make("p", "", null, { role: "status" })
  const mean = make("label", "", null)
  const averages = make("input", "", mean, { type: "checkbox" })
  mean.append(" Mean of its heads")
  const below = makeHost(null, styles.shown)
  const time = make("label", "", null)
  const slider = make("input", "", time, { type: "range", min: "0", max: `${steps.length - 1}` })
  slider.style.cssText = "width: min(24rem, 60%); vertical-align: middle; margin-right: 0.6rem"
  slider.ariaLabel = "Step of learning"
  const where = make("span", "", time)
  slider.addEventListener("input", () => {
    tellStep(slider.valueAsNumber)
    shown.go(steps[slider.valueAsNumber])
  })
  // Keys of JupyterLab, as `a` and `d d`, are not meant; it asks what has the focus itself first.
  for (const focused of [parent, slider, averages]) focused.dataset.lmSuppressShortcuts = "true"
  if (steps.length) frame.append(time)
  if (picture) frame.append(title, mean, below.host, words, above.host)
  else frame.append(above.host, words, title, below.host)
  for (const line of [words, title, mean, time]) {
    line.style.cssText = "display: block; font: 0.85rem sans-serif; margin: 0.6rem 0"
    line.style.color = "inherit"
  }
  title.style.fontWeight = "600"
  let content = /** @type {Content<"head_grid">} */ (decode(shown.grid))
  let chosen = first
  let turns = 0
  const end = follow(frame, [above.host, below.host], shown.themes)
  const colours = shown.themes.light["--st-chart-sequential-colors"].split(",").slice(0, COLOURS)
  const over = picture && makePicture(below.root, picture, colours, (query) => change({ query }))
  averages.addEventListener("change", () => {
    const own = heads.find(([layer]) => layer === chosen.layer) ?? heads[0]
    change({ head: averages.checked ? MEAN : own[1] })
  })
  below.root.addEventListener("chosen", (event) => {
    const query = /** @type {CustomEvent<[number, number]>} */ (event).detail[0]
    if (query === chosen.query) return
    chosen = { ...chosen, query }
    shown.choose(chosen)
  })
  update(shown)
  return { show, update, end }

  /** Shows a run, with the same head and query chosen.
      @param {Given} given */
  function update(given) {
    heads = given.heads
    words.textContent = given.words
    content = /** @type {Content<"head_grid">} */ (decode(given.grid))
    const at = steps.indexOf(given.step)
    slider.value = String(at)
    tellStep(at)
    above.host.hidden = below.host.hidden = !heads.length
    if (heads.length) show(chosen)
  }

  /** @param {number} at */
  function tellStep(at) {
    where.textContent = `step ${steps[at]?.toLocaleString("en")}`
    slider.setAttribute("aria-valuetext", where.textContent)
  }

  /** @param {Partial<Chosen>} next */
  function change(next) {
    show({ ...chosen, ...next })
    shown.choose(chosen)
  }

  /** Shows a head, and chooses that query in it.
      @param {Chosen} next */
  function show(next) {
    chosen = next
    const at = heads.findIndex(([layer, head]) => layer === next.layer && head === next.head)
    const { numbers, rest, ...header } = content
    grid({
      data: encode({ ...header, chosen: at }, numbers, rest),
      parentElement: above.root,
      setTriggerValue: (_, answer) => {
        const [layer, head] = heads[/** @type {[number, number]} */ (answer)[1]]
        change({ layer, head })
      },
    })
    averages.checked = next.head === MEAN
    const named = averages.checked ? "mean of all heads" : `head ${next.head}`
    title.textContent = `Layer ${next.layer}, ${named}`
    ask(null)
  }

  /** @param {MapAsked | null} asked */
  async function ask(asked) {
    const { layer, head } = chosen
    const turn = ++turns
    const data = await shown.answer({ ...chosen, asked })
    if (layer !== chosen.layer || head !== chosen.head || (over && turn !== turns)) return
    below.host.hidden = !data && !asked
    if (below.host.hidden) title.textContent += `: ${shown.absent}`
    if (!data) return
    if (over) {
      const { query, numbers } = /** @type {Row} */ (decode(data))
      if (query !== chosen.query) shown.choose({ ...chosen, query })
      chosen = { ...chosen, query }
      return over.show(query, numbers)
    }
    map({
      data,
      parentElement: below.root,
      setTriggerValue: (_, next) => ask(/** @type {[number, MapAsked]} */ (next)[1]),
    })
  }
}

/** A place of its own for a component, which no style from outside reaches.
    @type {(parent: HTMLElement | null, style: string) => { host: HTMLElement, root: ShadowRoot }} */
function makeHost(parent, style) {
  const host = make("div", "", parent)
  const root = host.attachShadow({ mode: "open" })
  make("style", "", root, { textContent: style })
  return { host, root }
}
