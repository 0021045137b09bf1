import { component } from "../shared/component.js"
import { childrenOf, make, setLengths } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

const LINK = 'a[href^="#light-"]'
const HEADING = ".st-key-guide_words h2"
const SPOKEN = ".st-key-way, .st-key-guide_words, .st-key-guide_question" // in its language
const AROUND = 3
/** @type {number | undefined} */
let opened

/** Words of a text light the part of the figure they speak of: when pointed at, focused or
    tapped. */
export default component(
  build,
  ({ content: { chapter, language } }) => {
    for (const box of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(SPOKEN)))
      box.lang = language
    if (opened !== undefined && opened !== chapter) begin()
    opened = chapter
  },
  null,
)

/** Another chapter is read from its heading on. */
function begin() {
  const heading = /** @type {HTMLElement | null} */ (document.querySelector(HEADING))
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
  heading.scrollIntoView({ block: "nearest" })
}

/** @param {Mount<"lights">} mount */
function build({ root, content }) {
  const boxes = make("div", "lights", root, { ariaHidden: "true" })
  const view = { content, frame: boxes, boxes }
  const ended = new AbortController()
  /** @type {(types: string[], task: (link: HTMLAnchorElement | null, event: Event) => void) => void} */
  const on = (types, task) => {
    const listen = (/** @type {Event} */ event) => {
      if (!boxes.isConnected) return ended.abort()
      const link = event.target instanceof Element ? event.target.closest(LINK) : null
      task(/** @type {HTMLAnchorElement | null} */ (link), event)
    }
    for (const type of types)
      document.addEventListener(type, listen, { signal: ended.signal, capture: true })
  }
  on(["pointerover", "focusin"], (link) => link && light(view, link))
  on(["pointerout", "focusout", "scroll"], () => boxes.replaceChildren())
  on(["click"], (link, event) => {
    if (!link) return
    event.preventDefault()
    const [first] = partsOf(view, link)
    first?.scrollIntoView({ block: "nearest" })
    requestAnimationFrame(() => light(view, link))
  })
  return view
}

/** @type {(view: View, link: HTMLAnchorElement) => void} */
function light(view, link) {
  view.boxes.replaceChildren()
  for (const part of partsOf(view, link)) {
    const { left, top, width, height } = part.getBoundingClientRect()
    if (!width && !height) continue
    setLengths(make("div", "", view.boxes), {
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
