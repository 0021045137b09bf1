import { palette, ramp } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"
import { writeShaded } from "../shared/sentence.js"
import { lengthOf } from "../shared/words.js"

/** @import { HeadCard } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

/** Cards of sentences whose answer hangs on one head: its share falls, and a link breaks it. */
export default component(build, draw)

/** @param {Mount<"head_cards">} mount */
function build({ root, content }) {
  return { content, frame: make("div", "frame", root) }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { cards } }) {
  const shades = ramp(palette(frame, "sequential"))
  frame.replaceChildren(...cards.map((card) => cardOf(card, shades)))
}

/** @type {(card: HeadCard, shades: Uint32Array) => HTMLElement} */
function cardOf(card, shades) {
  const frame = make("article", "", null, { ariaLabel: card.title })
  const sentence = make("p", "sentence", frame)
  writeShaded(sentence, card.words, card.weights, shades)
  sentence.append(" ")
  make("bdi", "answer", sentence, { textContent: card.answer })
  const fall = make("p", "fall", frame)
  make("s", "", fall, { textContent: card.before })
  make("span", "to", fall, { textContent: "→" })
  make("strong", "", fall, { textContent: card.after })
  const bar = make("div", "bar", frame, { ariaHidden: "true" })
  for (const share of card.shares) make("i", "", bar).style.width = lengthOf(share)
  const told = make("div", "told", frame)
  for (const line of card.told) make("p", "", told, { textContent: line })
  const controls = make("dl", "", frame)
  for (const [name, found] of card.controls) {
    make("dt", "", controls, { textContent: name })
    make("dd", "", controls, { textContent: found })
  }
  if (card.link) make("a", "", frame, { textContent: "Break it", href: card.link })
  return frame
}
