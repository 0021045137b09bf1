import { inkOn, ramp, rgb, shadeOf } from "../shared/colours.js"
import { make } from "../shared/elements.js"
import { paintNumbers } from "../shared/painter.js"
import { byWeight } from "../shared/token_lines.js"
import { distinct, sizeOf } from "../shared/words.js"
import { rowOf, summary } from "./sums.js"

/** @import { Card } from "../shared/card.js"
    @import { Content } from "./index.js" */

const MOST_BARS = 8

/** The card of one attention: its queries, and its keys as the chosen query sees them, which are the
    same words where `own`; the weights of all, the greatest of them, and what is said of them here.
    @type {(content: Content, query: number) => Card} */
export function cardOf(content, query) {
  const { tokens, keys, own, columns, numbers, theme, said, head } = content
  const row = rowOf(numbers.weights, columns, query)
  const shades = ramp(theme.sequential)
  const edge = (/** @type {number} */ at) => (at === query ? "#d97706" : "")
  const seen = keys.map((word, key) => {
    const pixel = shadeOf(sizeOf(row[key]), 0, 1, shades)
    return { word, fill: rgb(pixel), ink: inkOn(pixel), edge: own ? edge(key) : "" }
  })
  const asking = tokens.map((word, at) => ({ word, fill: "", ink: "", edge: edge(at) }))
  const asked = `“${distinct(tokens, query)}”`
  const most = byWeight(row).slice(0, MOST_BARS)
  const bars = {
    title: head === null ? `${asked} looks at` : `Head ${head}, from ${asked}`,
    texts: most.map((key) => distinct(keys, key)),
    shares: most.map((key) => sizeOf(row[key])),
    colour: theme.primary,
  }
  const map = make("canvas", "")
  paintNumbers(map, columns, numbers.weights.map(sizeOf), [0, 1], shades)
  return {
    pills: own ? [seen] : [asking, seen],
    map,
    bars: [bars],
    told: [said[query]?.line.join("") || summary(content, query)],
  }
}
