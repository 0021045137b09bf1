/** @import { StepGraphHeader } from "../messages.js"
    @typedef {Pick<StepGraphHeader, "boxes" | "arrows">} Graph
    @typedef {{ left: number, top: number, width: number }} Spot
    @typedef {{ d: string, tip: [number, number, "right" | "up"], text: string, x: number, y: number,
      anchor: string }} Line
    @typedef {{ spots: Spot[], lines: Line[], width: number, height: number }} Layout
    @typedef {{ from: Spot, to: Spot, text: string }} Ends */

export const HEIGHT = 40
const LANE = 54
const ABOVE = 15
const NARROWEST = 62
const WIDEST = 104
const GAP = 26
const OF_Y = 18

/** @type {(spot: Spot) => { right: number, middle: number, centre: number, bottom: number }} */
function edges({ left, top, width }) {
  const [right, middle, centre] = [left + width, top + HEIGHT / 2, left + width / 2]
  return { right, middle, centre, bottom: top + HEIGHT }
}

/** @type {(content: Graph, spots: Spot[], index: number) => Ends} */
function endsOf({ arrows }, spots, index) {
  const { start, end, name, shape } = arrows[index]
  const first = arrows.findIndex((arrow) => arrow.start === start && arrow.name === name)
  const text = first < index ? "" : `${name} (${shape.join(", ")})`.trim()
  return { from: spots[start], to: spots[end], text }
}

/** Where boxes and arrows stand, queries, keys and values below each other: in so many pixels, or as
    many as they need.
    @type {(content: Graph, room: number) => Layout} */
export function layoutOf(content, room) {
  const { boxes, arrows } = content
  const columns = boxes[boxes.length - 1].column
  const width = Math.max(room, OF_Y + columns * (NARROWEST + GAP))
  const most = Math.min(WIDEST, (width - OF_Y - columns * GAP) / columns)
  const pitch = (width - OF_Y) / columns
  const spots = boxes.map(({ column, lane, step }) => ({
    left: column * pitch,
    top: ABOVE + lane * LANE,
    width: step ? most : OF_Y,
  }))
  const lines = arrows.map(({ start, end, name }, index) => {
    const ends = endsOf(content, spots, index)
    if (boxes[end].column - boxes[start].column > 1) return below(ends)
    const fans = arrows.filter((arrow) => arrow.start === start && !arrow.name).length > 1
    return across(ends, name, fans)
  })
  const lowest = Math.max(...lines.map(({ y }) => y + 6), ...spots.map(({ top }) => top + HEIGHT))
  return { spots, lines, width, height: lowest + 4 }
}

/** @type {(ends: Ends, name: string, fans: boolean) => Line} */
function across({ from, to, text }, name, fans) {
  const [start, end] = [edges(from), edges(to)]
  const aside = name ? Math.sign(start.middle - end.middle) * 8 : 0
  const y = end.middle + aside
  const turn = (start.right + to.left) / 2
  const d = `M${start.right},${start.middle} H${turn} V${y} H${to.left - 1}`
  /** @type {[number, number, "right"]} */
  const tip = [to.left, y, "right"]
  const low = fans || start.middle > y
  const x = fans ? start.centre : turn
  const at = low ? start.bottom + 12 : from.top - 4
  return { d, tip, text, x, y: at, anchor: "middle" }
}

/** Under the boxes between two that stand apart.
    @type {(ends: Ends) => Line} */
function below({ from, to, text }) {
  const [start, end] = [edges(from), edges(to)]
  const level = from.top === to.top ? start.bottom + 20 : start.middle
  const [x, out] =
    from.top === to.top
      ? [start.centre, `M${start.centre},${start.bottom} V${level}`]
      : [start.right, `M${start.right},${level}`]
  const d = `${out} H${end.centre} V${end.bottom + 1}`
  return { d, tip: [end.centre, end.bottom, "up"], text, x: x + 22, y: level - 4, anchor: "start" }
}
