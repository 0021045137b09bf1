import { component } from "../shared/component.js"
import { childrenOf, make, setLengths } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js" */

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
  const frame = lightParts(root, (name) =>
    partsWithin(document.querySelector(view.content.figure), view.content.selectors[name]),
  )
  const view = { content, frame }
  return view
}

/** Boxes around what links of a text speak of, by name, for as long as the boxes are on the page.
    @type {(parent: Element | ShadowRoot,
      partsOf: (name: string, link: Element) => Element[]) => HTMLElement} */
export function lightParts(parent, partsOf) {
  const boxes = make("div", "lights", parent, { ariaHidden: "true" })
  const ended = new AbortController()
  const parts = (/** @type {HTMLAnchorElement} */ link) =>
    partsOf(link.hash.replace("#light-", ""), link)
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
  on(["pointerover", "focusin"], (link) => link && light(boxes, parts(link)))
  on(["pointerout", "focusout", "scroll"], () => boxes.replaceChildren())
  on(["click"], (link, event) => {
    if (!link) return
    event.preventDefault()
    parts(link)[0]?.scrollIntoView({ block: "nearest" })
    requestAnimationFrame(() => light(boxes, parts(link)))
  })
  return boxes
}

/** @type {(boxes: HTMLElement, parts: Element[]) => void} */
function light(boxes, parts) {
  boxes.replaceChildren()
  for (const part of parts) {
    const { left, top, width, height } = part.getBoundingClientRect()
    if (!width && !height) continue
    setLengths(make("div", "", boxes), {
      ...{ left: left - AROUND, top: top - AROUND },
      ...{ width: width + 2 * AROUND, height: height + 2 * AROUND },
    })
  }
  boxes.dataset.lit = String(childrenOf(boxes).length)
}

/** What a selector finds in a figure, inside components too.
    @type {(whole: Element | null, selector: string | undefined) => Element[]} */
export function partsWithin(whole, selector) {
  if (!selector || !whole) return []
  const inside = [...whole.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? [])
  return [whole, ...inside].flatMap((root) => [...root.querySelectorAll(selector)])
}
