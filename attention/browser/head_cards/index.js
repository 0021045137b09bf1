import { palette, ramp } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { make, whenClicked } from "../shared/elements.js"
import { writeShaded } from "../shared/sentence.js"
import { lengthOf } from "../shared/words.js"

/** @import { HeadCard } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

/** Cards of sentences whose answer a head decides: its share falls without it; a click shows one. */
export default component(build, draw)

/** @param {Mount<"head_cards">} mount */
function build({ root, content, send }) {
  const label = "Sentences to begin with"
  const frame = make("div", "frame", root, { role: "group", ariaLabel: label })
  whenClicked(frame, "button", ({ dataset }) => send("example", Number(dataset.at)))
  return { content, frame }
}

/** @type {(view: View) => void} */
function draw({ frame, content: { cards, chosen } }) {
  const shades = ramp(palette(frame, "sequential"))
  frame.replaceChildren()
  for (const [at, card] of cards.entries()) {
    const button = cardOf(card, frame, shades)
    button.dataset.at = String(at)
    if (at === chosen) button.ariaCurrent = "true"
  }
}

/** @type {(card: HeadCard, parent: HTMLElement, shades: Uint32Array) => HTMLElement} */
function cardOf(card, parent, shades) {
  const frame = make("button", "", parent, { type: "button" })
  make("small", "", frame, { textContent: card.title })
  const sentence = make("span", "sentence", frame)
  writeShaded(sentence, card.words, card.weights, shades)
  const fall = make("span", "fall", frame)
  make("bdi", "answer", fall, { textContent: card.answer })
  make("s", "", fall, { textContent: card.before })
  make("strong", "", fall, { textContent: `→ ${card.after}` })
  const bar = make("span", "bar", frame, { ariaHidden: "true" })
  for (const share of card.shares) make("i", "", bar).style.width = lengthOf(share)
  return frame
}
