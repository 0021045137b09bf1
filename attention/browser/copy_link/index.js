import { hasCard, saveCard } from "../shared/card.js"
import { component } from "../shared/component.js"
import { copied, wholeView } from "../shared/copying.js"
import { bridgeCuts } from "../shared/cuts.js"
import { make } from "../shared/elements.js"
import { partsOf } from "../shared/figures.js"
import { keepStepsOne } from "../shared/history.js"
import { foldMenu } from "../shared/menu.js"
import { fitPaper } from "../shared/printing.js"
import { listenToKeys } from "../shared/projecting.js"

/** @import { CopyLinkHeader } from "../messages.js"
    @import { Mount, Root } from "../shared/component.js"
    @typedef {{ name: string, told: string, text: (content: CopyLinkHeader) => string,
      act?: (content: CopyLinkHeader) => void }} Item to copy something, or to do something else
    @typedef {ReturnType<typeof build>} View */

const LONGEST_TYPED = 400
const CARD = {
  ...{ name: "Save card as PNG", told: "card", text: () => "" },
  act: (/** @type {CopyLinkHeader} */ content) => saveCard(wholeView(shared(content))),
}
const LINK = { name: "Copy link", told: "link", text: shared }

export default component(build, draw, write)

/** @type {(view: View) => void} */
function draw(view) {
  const { content } = view
  document.title = content.title
  write(view)
  fitPaper()
  bridgeCuts()
  keepStepsOne()
  foldMenu()
  listenToKeys()
}

/** What stands on paper; the token chosen in the figures is known to the address alone.
    @type {(view: View) => void} */
function write({ content, paper, address }) {
  paper.textContent = settingsOnPaper(content, location.href)
  address.textContent = addressOnPaper(shared(content))
}

/** An embedded page leads to the whole one, as it is at the moment of the click.
    @type {(root: Root) => void} */
function buildWayOut(root) {
  const link = make("a", "", root, { target: "_blank", rel: "noopener" })
  link.textContent = "Open in Attention explorer"
  const follow = () => Object.assign(link, { href: wholeView(location.href) })
  for (const event of ["pointerdown", "keydown", "focus", "click"])
    link.addEventListener(event, follow)
  follow()
}

/** @param {Mount<"copy_link">} mount */
function build({ root, content }) {
  if (content.embedded) buildWayOut(root)
  const frame = make("div", "share", content.embedded ? null : root)
  const title = "Copies the address of exactly this view"
  const button = make("button", "copy", frame, { type: "button", title, textContent: LINK.name })
  const more = make("button", "more", frame, { type: "button", title: "More ways to share" })
  more.ariaLabel = more.title
  more.ariaHasPopup = "menu"
  more.append("▾")
  const menu = make("div", "menu", frame, { role: "menu", ariaLabel: "Share", hidden: true })
  const said = make("p", "said", frame, { ariaLive: "polite" })
  const paper = make("p", "on-paper", root)
  const address = make("p", "address", root)
  const view = { content, frame, button, more, menu, said, paper, address }
  button.addEventListener("click", () => copy(view, LINK))
  more.addEventListener("click", () => open(view, Boolean(menu.hidden)))
  more.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown") return
    event.preventDefault()
    open(view, true)
  })
  menu.addEventListener("keydown", (event) => move(view, event))
  frame.addEventListener("focusout", ({ relatedTarget }) => {
    if (!frame.contains(/** @type {Node | null} */ (relatedTarget))) open(view, false)
  })
  open(view, false)
  return view
}

/** As the menu opens: what is offered then stays as it is, since one may just be clicking it.
    @type {(view: View) => void} */
function fill(view) {
  const { figures } = view.content
  const there = Object.keys(figures).filter((name) => partsOf(name, figures[name]).length)
  const items = itemsOf(there, hasCard()).map((item) => {
    const line = make("button", "", null, { type: "button", role: "menuitem", tabIndex: -1 })
    line.textContent = item.name
    line.addEventListener("click", () => {
      if (item.act) item.act(view.content)
      else copy(view, item)
      open(view, false)
      view.more.focus()
    })
    return line
  })
  view.menu.replaceChildren(...items)
}

/** What the menu offers: also each of the figures that stand on the page alone; card: whether what
    is shown has one.
    @type {(figures: string[], card: boolean) => Item[]} */
export function itemsOf(figures, card) {
  const embed = (/** @type {string} */ figure) => (/** @type {CopyLinkHeader} */ content) =>
    embedCode(shared(content), content.title, figure)
  return [
    LINK,
    ...(card ? [CARD] : []),
    { name: "Copy embed code", told: "embed code of the page", text: embed("") },
    ...figures.map((name) => ({
      name: `Copy embed code: ${name} alone`,
      told: `embed code of ${name} alone`,
      text: embed(name),
    })),
    {
      name: "Copy caption",
      told: "caption",
      text: (content) => `${content.caption} ${wholeView(shared(content))}`,
    },
  ]
}

/** @type {(view: View, shown: boolean) => void} */
function open(view, shown) {
  const { menu, more } = view
  if (shown) fill(view)
  menu.hidden = !shown
  more.ariaExpanded = String(shown)
  if (shown) /** @type {HTMLElement | null} */ (menu.firstElementChild)?.focus()
}

/** @type {(view: View, event: KeyboardEvent) => void} */
function move(view, event) {
  const items = /** @type {HTMLElement[]} */ ([...view.menu.children])
  const at = items.indexOf(/** @type {HTMLElement} */ (event.target))
  const last = items.length - 1
  /** @type {Record<string, number>} */
  const to = {
    ...{ ArrowDown: at === last ? 0 : at + 1, ArrowUp: at === 0 ? last : at - 1 },
    ...{ Home: 0, End: last },
  }
  if (event.key === "Escape") {
    open(view, false)
    view.more.focus()
  } else if (event.key in to) items[to[event.key]].focus()
  else return
  event.preventDefault()
}

/** @type {(view: View, item: Item) => Promise<void>} */
async function copy({ content, button, said }, { told, text }) {
  said.textContent = "" // so that the same words are told again
  const done = await copied(text(content))
  const seen = told === LINK.told ? "Copy the address bar" : "Could not copy"
  button.textContent = done ? "Copied" : seen
  said.textContent = done ? `Copied the ${told}.` : `The ${told} could not be copied.`
  setTimeout(() => {
    button.textContent = LINK.name
  }, 2000)
}

/** The address to share: that of this view, but for what its reader has answered, or one that
    stands for it.
    @type {(content: CopyLinkHeader) => string} */
function shared({ link }) {
  const address = new URL(link || location.href, location.href)
  address.searchParams.delete("answered")
  return address.href
}

/** All that is set, with the token chosen in the figures where that is not the first.
    @type {(content: Pick<CopyLinkHeader, "paper" | "query">, href: string) => string} */
export function settingsOnPaper({ paper, query }, href) {
  const chosen = new URL(href).searchParams.get("query")
  return [paper, chosen && `${query}: ${chosen}`].filter(Boolean).join(" · ")
}

/** The address of a page, or where it is longer than anybody types, how long it is.
    @type {(href: string) => string} */
export function addressOnPaper(href) {
  const whole = wholeView(href)
  if (whole.length <= LONGEST_TYPED) return whole
  const { origin, pathname } = new URL(whole)
  return `${origin}${pathname} and ${whole.length} letters in all, too many to print`
}

/** The HTML that shows an address in a frame of another page, or one of its figures alone.
    @type {(href: string, title: string, figure: string) => string} */
export function embedCode(href, title, figure) {
  const address = new URL(href)
  address.searchParams.set("embed", "true")
  if (figure) address.searchParams.set("figure", figure)
  const attributes = {
    ...{ src: address.href, title, width: "100%", height: figure ? "520" : "760" },
    ...{ style: "border: 0", loading: "lazy" },
  }
  const written = Object.entries(attributes).map(([name, text]) => ` ${name}="${escaped(text)}"`)
  return `<iframe${written.join("")}></iframe>`
}

/** @type {(text: string) => string} */
export function escaped(text) {
  /** @type {Record<string, string>} */
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }
  return text.replace(/[&<>"']/g, (sign) => names[sign])
}
