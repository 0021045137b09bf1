import { fixed, inFull, percent } from "../shared/words.js"

/** @import { Scale } from "../shared/painter.js"
    @typedef {ArrayLike<number>} Row */

/** @type {Record<string, Scale>} */
const SCALES = { share: [0, 1], weight: [0, 1], signed: [-1, 1], change: [-0.5, 0.5] }
const LEAST = 0.005 // of a share that is not written as 0
const LETTER = { plain: 8, tight: 6.4, beside: 3 } // pixels of a letter's width, and around them

/** The weights of scores times a factor, in 64-bit floats as Python has them; NaN is masked.
    @type {(scores: Row, factor: number) => Float64Array} */
export function softmax(scores, factor) {
  const scaled = Float64Array.from(scores, (score) => score * factor)
  const greatest = scaled.reduce((most, score) => (score > most ? score : most), -Infinity)
  const sizes = scaled.map((score) => (score === greatest ? 1 : Math.exp(score - greatest)))
  const sum = sizes.reduce((sum, size) => sum + (size || 0), 0)
  return sizes.map((size) => (greatest === -Infinity ? size * 0 : size / sum))
}

/** One row less another; what is masked in both stays so.
    @type {(row: Row, base: Row) => Float64Array} */
export function less(row, base) {
  return Float64Array.from(row, (number, at) =>
    Number.isNaN(number) && Number.isNaN(base[at]) ? number : (number || 0) - (base[at] || 0),
  )
}

/** The lowest and the highest number of a row's colours.
    @type {(kind: string, row: Row) => Scale} */
export function scaleOf(kind, row) {
  if (SCALES[kind]) return SCALES[kind]
  const sizes = Array.from(row, Math.abs).filter(Number.isFinite)
  const most = Math.max(0, ...sizes) || 1
  return [kind === "bar" ? 0 : -most, most]
}

/** A number as its cell has it; most: the end of the row's colours; least: the smallest share that
    is written.
    @type {(kind: string, number: number, most: number, least?: number) => string} */
export function written(kind, number, most, least = 0) {
  if (Number.isNaN(number)) return kind === "score" ? "−∞" : ""
  if (!Number.isFinite(number)) return inFull(number)
  if (kind === "share") return number < least ? "" : number < LEAST ? "0" : percent(number)
  if (kind === "signed" || kind === "weight") return fixed(number, 2)
  if (kind === "change") return `${number >= 0.0005 ? "+" : ""}${fixed(100 * number, 1)}`
  if (kind === "bar") return ""
  const order = (/** @type {number} */ size) => Math.floor(Math.log10(size))
  return fixed(number, Math.max(0, 2 - Math.max(Math.min(0, order(most)), order(Math.abs(number)))))
}

/** A text as far as a cell has room for it, without its sign of percent first, and whether its
    letters have to be smaller.
    @type {(text: string, width: number) => { text: string, tight: boolean }} */
export function fitted(text, width) {
  const short = text.replace(" %", "")
  const room = width - LETTER.beside
  if (text.length * LETTER.plain <= room) return { text, tight: false }
  if (text.length * LETTER.tight <= room) return { text, tight: true }
  return { text: short.length * LETTER.tight <= room ? short : "", tight: true }
}
