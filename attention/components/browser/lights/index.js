import { childrenOf, make, place, viewIn } from "../shared/elements.js"

/** @import { Place } from "../shared/message.js"
    @typedef {{ selectors: Record<string, string>, figure: string, chapter: number }} Content
    @typedef {{ content: Content, boxes: HTMLElement }} View */

const LINK = 'a[href^="#light-"]'
const HEADING = ".st-key-guide_words h2"
const AROUND = 3
/** @type {number | undefined} */
let opened

/** Words of a text light the part of the figure they speak of: when pointed at, focused or tapped.
    @type {(given: { data: Content, parentElement: Place }) => void} */
export default function ({ data, parentElement }) {
  viewIn(parentElement, build).content = data
  if (opened !== undefined && opened !== data.chapter) begin()
  opened = data.chapter
}

/** Another chapter is read from its heading on. */
function begin() {
  const heading = /** @type {HTMLElement | null} */ (document.querySelector(HEADING))
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
  heading.scrollIntoView({ block: "nearest" })
}

/** @type {(parent: Place, view: View) => void} */
function build(parent, view) {
  view.boxes = make("div", "lights", parent, { ariaHidden: "true" })
  const ended = new AbortController()
  /** @type {(types: string[], task: (link: HTMLAnchorElement | null, event: Event) => void) => void} */
  const on = (types, task) => {
    const listen = (/** @type {Event} */ event) => {
      if (!view.boxes.isConnected) return ended.abort()
      const link = event.target instanceof Element ? event.target.closest(LINK) : null
      task(/** @type {HTMLAnchorElement | null} */ (link), event)
    }
    for (const type of types)
      document.addEventListener(type, listen, { signal: ended.signal, capture: true })
  }
  on(["pointerover", "focusin"], (link) => link && light(view, link))
  on(["pointerout", "focusout", "scroll"], () => view.boxes.replaceChildren())
  on(["click"], (link, event) => {
    if (!link) return
    event.preventDefault()
    const [first] = partsOf(view, link)
    first?.scrollIntoView({ block: "nearest" })
    requestAnimationFrame(() => light(view, link))
  })
}

/** @type {(view: View, link: HTMLAnchorElement) => void} */
function light(view, link) {
  view.boxes.replaceChildren()
  for (const part of partsOf(view, link)) {
    const { left, top, width, height } = part.getBoundingClientRect()
    if (!width && !height) continue
    place(make("div", "", view.boxes), {
      ...{ left: left - AROUND, top: top - AROUND },
      ...{ width: width + 2 * AROUND, height: height + 2 * AROUND },
    })
  }
  view.boxes.dataset.lit = String(childrenOf(view.boxes).length)
}

/** What a link speaks of, inside components too.
    @type {(view: View, link: HTMLAnchorElement) => Element[]} */
function partsOf({ content: { selectors, figure } }, link) {
  const selector = selectors[link.hash.replace("#light-", "")]
  const whole = document.querySelector(figure)
  if (!selector || !whole) return []
  const inside = [...whole.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])
  return [whole, ...inside].flatMap((root) => [...root.querySelectorAll(selector)])
}
