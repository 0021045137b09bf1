import { encode } from "../shared/message.js"
import { blockOf, EXACT, shadeOfWeight, sideOf } from "../street_map/geometry.js"

/** @import { MapAsked, MapFound, MapLink, MapTile, StreetMapHeader } from "../messages.js"
    @import { At } from "../street_map/geometry.js"

    A head of which all weights are at hand. texts: of the queries, and of the keys where they are
    others; least: the weight up to which all have the faintest colour.
    @typedef {{ map: string, rows: number, columns: number, least: number, weights: Float32Array,
      texts: string[][] }} Kept */

const SIDES = { side: 256, exactSide: 64 }
const CHUNK = 1024 // texts
const MOST_GREATEST = 12
const MOST_FAR = 20
const MOST_FOUND = 1000

/** The message that answers a question, as `StreetMap.content` in Python does; to none, the one
    that shows the whole, with a query and its greatest weight chosen.
    @type {(kept: Kept, asked: MapAsked | null, query: number) => Uint8Array} */
export function answer(kept, asked, query) {
  const { map, rows, columns, least, weights, texts } = kept
  const top = Math.max(0, Math.ceil(Math.log2(Math.max(rows, columns) / SIDES.side)))
  /** @type {MapTile[]} */
  const tiles = []
  const numbers = /** @type {number[][]} */ ([])
  const shades = /** @type {number[][]} */ ([])
  for (const at of asked?.tiles ?? [/** @type {At} */ ([top, 0, 0])]) {
    const [level, row, column] = at
    const { found, height, width } = tileOf(kept, at)
    tiles.push({ level, row, column, height, width, final: true })
    if (level === EXACT) numbers.push(found)
    else shades.push(found.map((weight) => shadeOfWeight(weight, least)))
  }
  let cell = asked?.block.length ? greatestIn(kept, asked.block) : null
  const row = cell ? cell[0] : asked ? asked.row : query
  /** @type {MapLink[]} */
  let greatest = []
  if (row >= 0) {
    const own = [...weights.subarray(row * columns, (row + 1) * columns)]
    numbers.push(own)
    const first = own.map((weight, key) => ({ query: row, key, weight }))
    greatest = greatestOf(first, MOST_GREATEST).map((link) => named(texts, link))
  }
  if (!asked) cell = [query, greatest[0]?.key ?? 0]
  const shown = (asked?.texts ?? []).map(([side, chunk]) => {
    return { side, chunk, texts: texts[side].slice(chunk * CHUNK, (chunk + 1) * CHUNK) }
  })
  /** @type {StreetMapHeader} */
  const header = {
    ...{ map, rows, columns, sides: texts.length, top, ...SIDES },
    ...{ chunk: CHUNK, chosen: -1, least, done: rows, tiles, texts: shown, row, greatest, cell },
    found: asked?.words ? foundIn(texts[asked.side], asked.words, asked.side) : null,
    links: asked?.far.length ? farLinks(kept, asked.far[0], asked.far[1] === 1) : null,
  }
  return encode(header, Float32Array.from(numbers.flat()), Uint8Array.from(shades.flat()))
}

/** The greatest weights of the blocks of a tile.
    @type {(kept: Kept, at: At) => { found: number[], height: number, width: number }} */
function tileOf({ rows, columns, weights }, [level, row, column]) {
  const [size, side] = [blockOf(level), sideOf(level, SIDES)]
  const [top, left] = [row * side, column * side]
  const [below, right] = [Math.min(rows, top + side), Math.min(columns, left + side)]
  const [height, width] = [Math.ceil((below - top) / size), Math.ceil((right - left) / size)]
  const found = new Array(height * width).fill(0)
  for (let query = top; query < below; query++)
    for (let key = left; key < right; key++) {
      const into = Math.floor((query - top) / size) * width + Math.floor((key - left) / size)
      const weight = weights[query * columns + key]
      if (Math.abs(weight) > Math.abs(found[into])) found[into] = weight
    }
  return { found, height, width }
}

/** The cell of the greatest weight of a block.
    @type {(kept: Kept, block: number[]) => [number, number]} */
function greatestIn({ rows, columns, weights }, [level, row, column]) {
  const size = blockOf(level)
  const [top, left] = [row * size, column * size]
  let best = /** @type {[number, number]} */ ([top, left])
  /** @type {(query: number, key: number) => number} */
  const sizeAt = (query, key) => Math.abs(weights[query * columns + key])
  for (let query = top; query < Math.min(rows, top + size); query++)
    for (let key = left; key < Math.min(columns, left + size); key++)
      if (sizeAt(query, key) > sizeAt(...best)) best = [query, key]
  return best
}

/** @typedef {Omit<MapLink, "texts">} Cell
    @type {(cells: Cell[], most: number) => Cell[]} */
function greatestOf(cells, most) {
  const some = cells.filter(({ weight }) => weight)
  return some.sort((one, other) => Math.abs(other.weight) - Math.abs(one.weight)).slice(0, most)
}

/** @type {(texts: string[][], cell: Cell) => MapLink} */
function named(texts, { query, key, weight }) {
  return { query, key, weight, texts: [texts[0][query], texts[texts.length - 1][key]] }
}

/** The greatest weights of cells whose query and key stand at least so far apart.
    @type {(kept: Kept, apart: number, withoutFirst: boolean) => MapLink[]} */
function farLinks({ rows, columns, weights, texts }, apart, withoutFirst) {
  /** @type {Cell[]} */
  let found = []
  for (let query = 0; query < rows; query++) {
    const least = found.length === MOST_FAR ? Math.abs(found[MOST_FAR - 1].weight) : 0
    for (let key = withoutFirst ? 1 : 0; key < columns; key++) {
      const weight = weights[query * columns + key]
      if (Math.abs(weight) > least && Math.abs(query - key) >= apart)
        found.push({ query, key, weight })
    }
    found = greatestOf(found, MOST_FAR)
  }
  return found.map((cell) => named(texts, cell))
}

/** Positions of the tokens in which these words begin, whichever letters are capitals.
    @type {(texts: string[], words: string, side: number) => MapFound} */
function foundIn(texts, words, side) {
  const read = texts.map((text) => text.toLowerCase())
  const [text, wanted] = [read.join(""), words.trim().toLowerCase()]
  /** @type {number[]} */
  const positions = []
  let [token, end] = [0, read[0].length]
  let at = wanted ? text.indexOf(wanted) : -1
  while (at >= 0 && positions.length < MOST_FOUND) {
    while (end <= at) end += read[++token].length
    if (positions.at(-1) !== token) positions.push(token)
    at = text.indexOf(wanted, at + 1)
  }
  return { words, side, positions }
}
