import { palette, ramp } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { childrenOf, make, under } from "../shared/elements.js"
import { makeRadios, writeRadios } from "../shared/radios.js"
import { choose, whenMoved, where } from "../shared/selection.js"
import { makeWord, shadeWord } from "../shared/sentence.js"
import { besideWord, lengthOf, sizeOf } from "../shared/words.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

const MARKS = { right: "✓", wrong: "✗" }

/** A head on one's own sentence: where it looks, what its loss does, and its name tried. */
export default component(build, draw)

/** @param {Mount<"own_sentence">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const line = make("div", "line", frame, { role: "group", ariaLabel: "The sentence" })
  const asking = make("div", "line queries", frame, { role: "group", ariaLabel: "It asks from" })
  const both = make("div", "both", frame)
  const effect = make("section", "", both)
  const told = make("p", "told", effect, { ariaLive: "polite" })
  const bars = make("div", "bars", effect)
  const link = make("a", "", effect, { textContent: "Go on in the window" })
  const tried = make("section", "", both)
  const names = makeRadios(tried, "names", "Name to break", (name) => send("name", name))
  const verdict = make("p", "verdict", tried, { ariaLive: "polite" })
  const evidence = make("a", "", tried, { textContent: "Link to this evidence" })
  const shown = { evidence, line, asking, told, bars, link, names, verdict, pointed: -1 }
  const view = { content, frame, ...shown }
  for (const words of [line, asking]) {
    words.addEventListener("click", (event) => {
      const word = under(event, "button.word")
      if (word && (words === asking || view.content.same)) choose("query", Number(word.dataset.at))
    })
    words.addEventListener("pointerover", (event) => {
      const word = under(event, "button.word")
      const asks = words === asking || view.content.same
      if (event.pointerType === "mouse" && asks) point(view, word ? Number(word.dataset.at) : -1)
    })
    words.addEventListener("pointerleave", () => point(view, -1))
  }
  whenMoved(frame, () => follow(view))
  return view
}

/** @type {(view: View) => void} */
function draw(view) {
  const { content, line, asking, told, bars, link, names, verdict } = view
  fill(line, content.words)
  fill(asking, content.same ? [] : content.queries)
  asking.hidden = content.same
  told.textContent = content.effect
  link.href = content.link
  bars.replaceChildren()
  for (const [at, { title, mean, said }] of content.bars.entries()) {
    make("span", "", bars, { textContent: title })
    const bar = make("i", at ? "without" : "", bars, { ariaHidden: "true" })
    bar.style.width = lengthOf(sizeOf(mean))
    make("span", "", bars, { textContent: said })
  }
  const choices = content.names.map(
    ({ name, title }) => /** @type {[string, string]} */ ([name, title]),
  )
  for (const [at, button] of writeRadios(names, choices, content.tried).entries())
    button.classList.toggle("earned", content.names[at].holds)
  view.evidence.href = content.evidence
  view.evidence.hidden = !content.evidence
  verdict.textContent = content.verdict
  verdict.hidden = !content.verdict
  verdict.classList.toggle("holds", content.holds)
  verdict.classList.toggle("breaks", content.breaks)
  follow(view)
}

/** @type {(line: HTMLElement, words: string[]) => void} */
function fill(line, words) {
  line.replaceChildren()
  for (const [at, text] of words.entries())
    make("span", "mark", makeWord(line, text, { at }), { ariaHidden: "true", hidden: true })
}

/** @type {(view: View, query: number) => void} */
function point(view, query) {
  if (query === view.pointed) return
  view.pointed = query
  follow(view)
}

/** The weights of the word that looks, as fills of the words that it looks at.
    @type {(view: View) => void} */
function follow({ content, frame, line, asking, pointed }) {
  const held = where(content.queries.length).held
  const query = pointed < 0 ? held : pointed
  const count = content.words.length
  const row = content.numbers.subarray(query * count, (query + 1) * count)
  const shades = ramp(palette(frame, "sequential"))
  for (const [at, word] of childrenOf(line).entries()) {
    shadeWord(word, row[at], shades)
    const [, small] = childrenOf(word)
    small.textContent = besideWord(row[at])
    if (content.same) mark(word, at === query, content.marks[at])
  }
  for (const [at, word] of childrenOf(asking).entries()) mark(word, at === query, -1)
}

/** @type {(word: HTMLElement, asks: boolean, right: number) => void} */
function mark(word, asks, right) {
  word.classList.toggle("asks", asks)
  word.ariaPressed = String(asks)
  word.classList.toggle("right", right === 1)
  word.classList.toggle("wrong", right === 0)
  const sign = /** @type {HTMLElement} */ (word.lastElementChild)
  sign.hidden = right < 0
  sign.textContent = right ? MARKS.right : MARKS.wrong
}
