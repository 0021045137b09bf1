/** @import { Box, StepGraphHeader } from "../messages.js"
    @typedef {Pick<StepGraphHeader, "boxes" | "arrows">} Graph
    @typedef {{ left: number, top: number, width: number }} Spot
    @typedef {"right" | "left" | "down" | "up"} Direction
    @typedef {{ d: string, tip: [number, number, Direction], text: string, x: number, y: number,
      anchor: string }} Line
    @typedef {{ spots: Spot[], lines: Line[], height: number }} Layout
    @typedef {{ from: Spot, to: Spot, text: string }} Ends */

export const HEIGHT = 40
const LANE = 54
const ABOVE = 15
const NARROWEST = 56
const WIDEST = 104
const GAP = 26
const OF_Y = 18
const ROW = 70
const CELL = 112
const LETTER = 6
const MARGIN = 5

/** Where boxes and arrows stand: in one line, queries, keys and values below each other, or, where
    there is no room for that, in rows that run to and fro.
    @type {(content: Graph, width: number) => Layout} */
export function layoutOf(content, width) {
  const columns = content.boxes[content.boxes.length - 1].column
  const room = (width - OF_Y - columns * GAP) / columns
  return room < NARROWEST ? inRows(content, width) : inLine(content, width, columns)
}

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

/** @type {(content: Graph, width: number, columns: number) => Layout} */
function inLine(content, width, columns) {
  const { boxes, arrows } = content
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
  return { spots, lines, height: lowest + 4 }
}

/** @type {(ends: Ends, name: string, fans: boolean) => Line} */
function across({ from, to, text }, name, fans) {
  const [start, end] = [edges(from), edges(to)]
  const aside = name ? Math.sign(start.middle - end.middle) * 8 : 0
  const y = end.middle + aside
  const turn = (start.right + to.left) / 2
  const d = `M${start.right},${start.middle} H${turn} V${y} H${to.left - 1}`
  /** @type {[number, number, Direction]} */
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

/** @type {(content: Graph, width: number) => Layout} */
function inRows(content, width) {
  const { boxes, arrows } = content
  const across = Math.max(3, Math.min(6, Math.floor(width / CELL)))
  const pitch = width / across
  const size = Math.min(WIDEST, pitch - 48)
  const cells = cellsOf(boxes, across)
  const spots = cells.map(([row, column], index) => {
    const width = boxes[index].step ? size : OF_Y
    return { left: column * pitch + (pitch - width) / 2, top: row * ROW, width }
  })
  const lines = arrows.map(({ start, end, name }, index) => {
    const ends = endsOf(content, spots, index)
    if (boxes[end].column - boxes[start].column > 1) return around(ends, cells[end][1])
    return near(ends, name, cells[start][1] === across - 1)
  })
  const height = Math.max(...spots.map(({ top }) => top)) + HEIGHT + 4
  return { spots, lines, height }
}

/** The row and the column of each box. Values stand first, so that their way round is free; below
    queries and keys stands what these go through.
    @type {(boxes: Box[], across: number) => [number, number][]} */
function cellsOf(boxes, across) {
  const apart = boxes.filter(({ column }) => column === 1).length > 1
  /** @type {(index: number, row: number) => [number, number]} */
  const turning = (index, row) => {
    const [down, along] = [Math.floor(index / across), index % across]
    return [row + down, down % 2 ? across - 1 - along : along]
  }
  if (!apart) return boxes.map((_, index) => turning(index, 0))
  const meet = boxes.findIndex(({ lane }) => !Number.isInteger(lane))
  return boxes.map(({ column, lane }, index) => {
    if (column === 0) return [0, 1]
    return index < meet ? [column, (lane + 1) % 3] : turning(index - meet, boxes[meet].column)
  })
}

/** @type {(ends: Ends, name: string, last: boolean) => Line} */
function near({ from, to, text }, name, last) {
  const [start, end] = [edges(from), edges(to)]
  const [x, anchor] = last && name ? [start.centre - 5, "end"] : [start.centre + 6, "start"]
  if (from.top !== to.top) {
    const turn = start.bottom + (name ? 17 : 15)
    const d = `M${start.centre},${start.bottom} V${turn} H${end.centre} V${to.top - 1}`
    /** @type {[number, number, Direction]} */
    const tip = [end.centre, to.top, "down"]
    return { d, tip, text, x, y: name ? start.bottom + 12 : start.bottom + 13, anchor }
  }
  const right = from.left < to.left
  const [leave, arrive] = right ? [start.right, to.left] : [from.left, end.right]
  const fits = text.length * LETTER < Math.abs(arrive - leave)
  return {
    d: `M${leave},${start.middle} H${right ? arrive - 1 : arrive + 1}`,
    tip: [arrive, start.middle, right ? "right" : "left"],
    text,
    x: (leave + arrive) / 2,
    y: fits ? start.middle - 5 : from.top - 4,
    anchor: "middle",
  }
}

/** Along the edge between two that stand apart.
    @type {(ends: Ends, column: number) => Line} */
function around({ from, to, text }, column) {
  const [start, end] = [edges(from), edges(to)]
  const first = from.left < from.width
  const out = first
    ? `M${from.left},${start.middle} H${MARGIN}`
    : `M${start.centre},${start.bottom} V${start.bottom + 17} H${MARGIN}`
  const words = { text, x: start.centre + 6, y: start.bottom + 12, anchor: "start" }
  if (column === 0)
    return {
      d: `${out} V${end.middle} H${to.left - 1}`,
      tip: [to.left, end.middle, "right"],
      ...words,
    }
  const d = `${out} V${to.top - 10} H${end.centre} V${to.top - 1}`
  return { d, tip: [end.centre, to.top, "down"], ...words }
}
