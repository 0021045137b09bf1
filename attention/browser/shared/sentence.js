import { inkOn, rgb, shadeOf } from "./colours.js"
import { make, makeName } from "./elements.js"
import { sizeOf } from "./words.js"

/** A word of a sentence to be clicked, with room for its share below; data: where it stands.
    @type {(line: HTMLElement, text: string, data: Record<string, number>) => HTMLElement} */
export function makeWord(line, text, data) {
  const word = Object.assign(makeName("button", "word", line, text), { type: "button" })
  for (const [name, at] of Object.entries(data)) word.dataset[name] = String(at)
  make("small", "", word)
  return word
}

/** Fills a word by its weight.
    @type {(word: HTMLElement, weight: number, shades: Uint32Array) => void} */
export function shadeWord(word, weight, shades) {
  const pixel = shadeOf(sizeOf(weight), 0, 1, shades)
  Object.assign(word.style, { background: rgb(pixel), color: inkOn(pixel) })
}

/** Words of a text, apart where it has spaces, each filled by its weight.
    @type {(line: HTMLElement, words: [string, boolean][], weights: number[], shades: Uint32Array)
      => HTMLElement[]} */
export function writeShaded(line, words, weights, shades) {
  return words.map(([textContent, apart], at) => {
    if (apart && at) line.append(" ")
    const word = make("bdi", "", line, { textContent })
    shadeWord(word, weights[at], shades)
    return word
  })
}
