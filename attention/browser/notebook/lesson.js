import { lightParts, partsWithin } from "../lights/index.js"
import draw from "../scene/index.js"
import { make } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { adopt } from "../shared/selection.js"
import { bytes } from "./packed.js"
import { follow } from "./theme.js"

/** @import { SceneHeader } from "../messages.js"
    @import { Module } from "../shared/component.js"
    @import { Themes } from "./theme.js"

    A chapter as a file holds it: its answer, and the messages of its figure before and after it,
    as base64; after: "" where it is the same; hidden: whether it comes with the answer.
    @typedef {{ answer: number, before: string, after: string, hidden: boolean }} Chapter
    @typedef {{ chapters: Chapter[], asked: string, letters: string, style: string,
      styles: Record<string, string>, themes: Themes, lights: Record<string, string>,
      words: Record<string, string> }} Given */

const MOST = 5 // numbers of a choice: none, and up to four

/** Leads through the chapters of a lesson that a file holds. Nothing is kept, nothing is sent.
    @param {Record<string, Module>} modules
    @returns {Promise<void>} */
export default async function showLesson(modules) {
  const data = one(document, "#given")
  const given = /** @type {Given} */ (JSON.parse(data.textContent ?? ""))
  const { chapters, styles, style, themes, words } = given
  make("style", "", document.head, { textContent: styles["scene/style.css"] + style })
  follow(null, [document.documentElement], themes)
  const sections = [...document.querySelectorAll("section")]
  /** @type {(number | null)[]} */
  const guesses = chapters.map(() => null)
  const revealed = chapters.map(() => false)
  const list = one(document, "nav ol")
  const dots = chapters.map((_, at) => {
    const label = one(sections[at], "h2").textContent
    return make("button", "", make("li", "", list), { type: "button", ariaLabel: label ?? "" })
  })
  const [back, next] = ["back", "next"].map((name) => one(document, `.${name}`))
  let at = 0

  /** @type {(chapter: number) => Promise<void>} */
  async function figure(chapter) {
    const place = one(sections[chapter], ".figure")
    const { before, after, hidden } = chapters[chapter]
    const waits = hidden && guesses[chapter] === null
    place.replaceChildren(waits ? words.hidden : "")
    if (waits) return
    const message = bytes((revealed[chapter] && after) || before)
    const { selection } = /** @type {SceneHeader} */ (/** @type {unknown} */ (decode(message)))
    const root = make("div", "", place)
    await draw({
      data: message,
      parentElement: root,
      answered: [],
      setTriggerValue: () => {},
      load: async (path) => modules[path],
      loadStyle: async (path) => styles[path],
    })
    if (selection) adopt(selection)
  }

  /** @type {(chapter: number) => Promise<void>} */
  async function open(chapter) {
    one(sections[at], ".figure").replaceChildren()
    at = chapter
    for (const [place, section] of sections.entries()) section.hidden = place !== at
    for (const [place, dot] of dots.entries()) {
      dot.ariaCurrent = place === at ? "step" : null
      dot.textContent = guesses[place] === null ? "" : "✓"
    }
    back.toggleAttribute("disabled", at === 0)
    next.toggleAttribute("disabled", at === sections.length - 1)
    await figure(at)
  }

  /** @type {(chapter: number, choice: number) => void} */
  function answer(chapter, choice) {
    const comes = chapters[chapter].hidden && guesses[chapter] === null
    guesses[chapter] ??= choice
    if (comes) figure(chapter)
    const section = sections[chapter]
    for (const [place, button] of section.querySelectorAll("[data-choice]").entries())
      button.ariaPressed = String(place === choice)
    const isRight = choice === chapters[chapter].answer
    one(section, ".verdict").textContent = isRight ? `✓ ${words.right}` : `✗ ${words.wrong}`
    for (const [place, reply] of section.querySelectorAll(".reply").entries())
      reply.toggleAttribute("hidden", place !== choice)
    one(section, ".because").hidden = false
    one(section, ".shows").hidden = !chapters[chapter].after
    dots[chapter].textContent = "✓"
    if (!guesses.includes(null)) tell()
  }

  function tell() {
    const code = codeOf(guesses, given.asked, given.letters)
    const right = guesses.filter((guess, at) => guess === chapters[at].answer).length
    one(document, ".code").textContent = `${right} / ${guesses.length} · ${code}`
  }

  for (const [place, section] of sections.entries()) {
    for (const [choice, button] of section.querySelectorAll("[data-choice]").entries())
      button.addEventListener("click", () => answer(place, choice))
    const reveal = one(section, ".reveal")
    reveal.addEventListener("click", () => {
      revealed[place] = !revealed[place]
      reveal.ariaPressed = String(revealed[place])
      return figure(place)
    })
    dots[place].addEventListener("click", () => open(place))
  }
  const turn = (/** @type {number} */ by) => async () => {
    await open(at + by)
    const title = one(sections[at], "h2")
    title.tabIndex = -1
    title.focus()
  }
  back.addEventListener("click", turn(-1))
  next.addEventListener("click", turn(1))
  lightParts(document.body, (name, link) =>
    partsWithin(link.closest("section"), given.lights[name]),
  )
  await open(0)
}

/** The code of some choices, as the app writes and reads it: see `carried.code_of`.
    @type {(guesses: (number | null)[], asked: string, letters: string) => string} */
export function codeOf(guesses, asked, letters) {
  let number = 1n
  for (const guess of guesses)
    number = number * BigInt(MOST) + BigInt(guess === null ? 0 : guess + 1)
  const many = letters.length
  const check = crc32(new TextEncoder().encode(`${number} ${asked}`)) % many ** 2
  let code = ""
  for (let rest = number; rest > 0n || !code; rest /= BigInt(many))
    code = letters[Number(rest % BigInt(many))] + code
  code += letters[Math.floor(check / many)] + letters[check % many]
  return code.match(/.{1,4}/g)?.join("-") ?? ""
}

/** @type {(data: Uint8Array) => number} */
function crc32(data) {
  let value = -1
  for (const byte of data) {
    value ^= byte
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0)
  }
  return ~value >>> 0
}

/** @type {(within: ParentNode, selector: string) => HTMLElement} */
function one(within, selector) {
  const found = within.querySelector(selector)
  if (!(found instanceof HTMLElement)) throw new TypeError(`a lesson must have ${selector}`)
  return found
}
