import { inkOn, ramp, rgb, shadeOf } from "../shared/colours.js"
import { make } from "../shared/elements.js"
import { paintNumbers } from "../shared/painter.js"
import { byWeight } from "../shared/token_lines.js"
import { distinct, sizeOf } from "../shared/words.js"
import { rowOf } from "./sums.js"

/** @import { Card } from "../shared/card.js"
    @import { Content } from "./index.js" */

const MOST_BARS = 6

/** The card of a sentence that looks at itself: its words as the chosen one sees them, the weights of
    all, the greatest of them, and what is said of them here.
    @type {(content: Content, query: number) => Card} */
export function cardOf({ tokens, columns, numbers, theme, said }, query) {
  const row = rowOf(numbers.weights, columns, query)
  const shades = ramp(theme.sequential)
  const pills = tokens.map((word, key) => {
    const pixel = shadeOf(sizeOf(row[key]), 0, 1, shades)
    return { word, fill: rgb(pixel), ink: inkOn(pixel), edge: key === query ? "#d97706" : "" }
  })
  const most = byWeight(row).slice(0, MOST_BARS)
  const bars = {
    title: `“${distinct(tokens, query)}” looks at`,
    texts: most.map((key) => distinct(tokens, key)),
    shares: most.map((key) => sizeOf(row[key])),
    colour: theme.primary,
  }
  const { question, line } = said[query] ?? {}
  const map = make("canvas", "")
  paintNumbers(map, columns, numbers.weights.map(sizeOf), [0, 1], shades)
  return {
    pills: [pills],
    map,
    bars: [bars],
    told: [question ?? "", [line ?? ""].flat().join("")].filter(Boolean),
  }
}
