import grid from "../head_grid/index.js"
import { make } from "../shared/elements.js"
import { decode, encode } from "../shared/message.js"
import map from "../street_map/index.js"
import { follow } from "./theme.js"

/** @import { MapAsked } from "../messages.js"
    @import { Content } from "../shared/message.js"
    @import { Themes } from "./theme.js"

    What is chosen, by the model's own numbers; and what is asked of a head: its first picture with
    that query chosen, or what its map has not yet.
    @typedef {{ layer: number, head: number, query: number }} Chosen
    @typedef {Chosen & { asked: MapAsked | null }} Question

    A run to be shown. grid: the message of all heads; heads: layer and head of each of these;
    words: below them; absent: in place of a head that is not there; styles: of the two components;
    answer: gives the message to a question, null where there is none; choose: gets what is chosen.
    @typedef {{ grid: Uint8Array, heads: [number, number][], words: string, absent: string,
      styles: { head_grid: string, street_map: string }, themes: Themes,
      answer: (question: Question) => Promise<Uint8Array | null>,
      choose: (chosen: Chosen) => void }} Shown */

/** Draws a run: all heads, and the map of the chosen one below.
    @param {HTMLElement} parent
    @param {Shown} shown
    @param {Chosen} first
    @returns {{ show: (chosen: Chosen) => void, end: () => void }} */
export function showRun(parent, shown, first) {
  const { heads, styles } = shown
  parent.dataset.lmSuppressShortcuts = "true" // keys of JupyterLab, as `a` and `d d`, are not meant
  const frame = make("div", "attention-run", parent)
  const above = makeHost(frame, `${styles.head_grid} .caption { display: none; }`)
  const words = make("p", "", frame, { textContent: shown.words })
  const title = make("p", "", frame, { role: "status" })
  const below = makeHost(frame, styles.street_map)
  for (const line of [words, title]) {
    line.style.cssText = "font: 0.85rem sans-serif; margin: 0.6rem 0"
    line.style.color = "inherit"
  }
  title.style.fontWeight = "600"
  const content = /** @type {Content<"head_grid">} */ (decode(shown.grid))
  let chosen = first
  const end = follow(frame, [above.host, below.host], shown.themes)
  below.root.addEventListener("chosen", (event) => {
    const query = /** @type {CustomEvent<[number, number]>} */ (event).detail[0]
    if (query === chosen.query) return
    chosen = { ...chosen, query }
    shown.choose(chosen)
  })
  show(first)
  return { show, end }

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
        show({ ...chosen, layer, head })
        shown.choose(chosen)
      },
    })
    title.textContent = `Layer ${next.layer}, head ${next.head}`
    ask(null)
  }

  /** @param {MapAsked | null} asked */
  async function ask(asked) {
    const { layer, head } = chosen
    const data = await shown.answer({ ...chosen, asked })
    if (layer !== chosen.layer || head !== chosen.head) return
    below.host.hidden = !data && !asked
    if (below.host.hidden) title.textContent += `: ${shown.absent}`
    if (!data) return
    map({
      data,
      parentElement: below.root,
      setTriggerValue: (_, next) => ask(/** @type {[number, MapAsked]} */ (next)[1]),
    })
  }
}

/** A place of its own for a component, which no style from outside reaches.
    @type {(parent: HTMLElement, style: string) => { host: HTMLElement, root: ShadowRoot }} */
function makeHost(parent, style) {
  const host = make("div", "", parent)
  const root = host.attachShadow({ mode: "open" })
  make("style", "", root, { textContent: style })
  return { host, root }
}
