import { component } from "../shared/component.js"
import { childrenOf, make, makeShape } from "../shared/elements.js"
import { isAlone } from "../shared/projecting.js"

/** @import { FoundHeader } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

const MOST = 8
const SLIPS = 4 // letters of a word from which on one may be wrong

export default component(build, () => {}, null)

/** @param {Mount<"search">} mount */
function build({ root, content }) {
  const frame = make("div", "frame", root)
  const title = "Search pages, settings and words (/)"
  const button = make("button", "", frame, { type: "button", title, ariaKeyShortcuts: "/" })
  const glass = makeShape("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, button)
  makeShape("path", { d: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14" }, glass)
  make("span", "name", button, { textContent: "Search" })
  const dialog = make("dialog", "", frame, { ariaLabel: title })
  const looks = {
    type: "search",
    placeholder: "Page, setting or word",
    ariaLabel: title,
    autocomplete: "off",
  }
  const input = make("input", "", dialog, looks)
  const list = make("div", "hits", dialog, { role: "group", ariaLabel: "Found" })
  const none = make("p", "", dialog, { role: "status" })
  const view = { content, frame, dialog, input, list, none }
  button.addEventListener("click", () => open(view))
  input.addEventListener("input", () => draw(view))
  dialog.addEventListener("keydown", (event) => move(view, event))
  dialog.addEventListener("click", ({ target }) => {
    if (target !== input) dialog.close() // what is behind it, or a hit
  })
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || !isAlone(event) || !frame.isConnected || dialog.open) return
    event.preventDefault()
    open(view)
  })
  return view
}

/** @type {(view: View) => void} */
function open(view) {
  view.input.value = ""
  draw(view)
  view.dialog.showModal()
}

/** @type {(view: View) => void} */
function draw({ content, input, list, none }) {
  const found = hits(content.places, input.value)
  list.replaceChildren(
    ...found.map((place) => {
      const link = make("a", "", null, {
        href: leadsTo(place, location.href, content.first),
        target: "_self",
      })
      make("strong", "", link, { textContent: place.title })
      make("span", "", link, { textContent: place.told })
      return link
    }),
  )
  const words = input.value.trim()
  none.textContent = words && !found.length ? `Nothing is called “${words}” here.` : ""
}

/** Arrow keys go through the hits, Enter takes the first one.
    @type {(view: View, event: KeyboardEvent) => void} */
function move({ input, list }, event) {
  const links = /** @type {HTMLElement[]} */ (childrenOf(list))
  const root = /** @type {Document | ShadowRoot} */ (list.getRootNode())
  const at = links.indexOf(/** @type {HTMLElement} */ (root.activeElement))
  if (event.key === "Enter" && at < 0) links[0]?.click()
  else if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus()
  else if (event.key === "ArrowUp") (links[at - 1] ?? input).focus()
  else return
  event.preventDefault()
}

/** The address of a place: on the page that is open all that is set stays, unless the link of the
    place says all, and what it has blank goes; first: the page at the address without a name.
    @type {(place: FoundHeader, here: string, first: string) => string} */
export function leadsTo({ link, whole }, here, first) {
  const [there, now] = [new URL(link, here), new URL(here)]
  const [name, open] = [there, now].map(({ pathname }) => pathname.split("/").at(-1) || first)
  const settings = name === open && !whole ? [...now.searchParams] : []
  for (const [name] of there.searchParams) now.searchParams.delete(name)
  for (const [name, text] of [...there.searchParams]) if (!text) there.searchParams.delete(name)
  for (const [name, text] of settings)
    if (now.searchParams.has(name)) there.searchParams.append(name, text)
  return there.href
}

/** The places with all words of a query in their names, the best first; none for no query.
    @type {(places: FoundHeader[], query: string) => FoundHeader[]} */
export function hits(places, query) {
  const asked = wordsOf(query)
  if (!asked.length) return []
  const rated = places.map((place) => {
    const parts = [place.title, place.names, place.told].map(wordsOf)
    const rates = asked.map((word) =>
      Math.max(...parts.map((words, at) => (3 - at) * Math.max(0, ...words.map(rate(word))))),
    )
    const exact = parts[0].join(" ") === asked.join(" ") ? 9 : 0
    return { place, rate: Math.min(...rates) && exact + rates.reduce((sum, one) => sum + one, 0) }
  })
  const found = rated.filter(({ rate }) => rate).sort((one, other) => other.rate - one.rate)
  return found.slice(0, MOST).map(({ place }) => place)
}

/** @type {(text: string) => string[]} */
function wordsOf(text) {
  const plain = text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "")
  return plain.split(/[^\p{L}\p{N}_.√‖Σ]+/u).filter(Boolean)
}

/** How well words fit another, which is asked for: from 4, the same, to 0.
    @type {(asked: string) => (word: string) => number} */
function rate(asked) {
  return (word) => {
    if (word === asked) return 4
    if (word.startsWith(asked)) return 3
    return asked.length >= SLIPS && isOneSlip(asked, word) ? 1 : 0
  }
}

/** Whether one letter is wrong, too many, missing, or has changed places with the next.
    @type {(one: string, other: string) => boolean} */
export function isOneSlip(one, other) {
  let [start, end] = [0, 0]
  const least = Math.min(one.length, other.length)
  while (start < least && one[start] === other[start]) start++
  while (end < least - start && one.at(-1 - end) === other.at(-1 - end)) end++
  const [left, right] = [one, other].map((word) => word.slice(start, word.length - end))
  if (left.length <= 1 && right.length <= 1) return true
  return left.length === 2 && left === [...right].reverse().join("")
}
