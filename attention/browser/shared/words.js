const LEAST_SHARE = 0.045 // that is written beside a word

/** The text of a number as people read it, with a minus sign and none before a zero.
    @type {(text: string) => string} */
export function shown(text) {
  return Number(text) === 0 ? text.replace("-", "") : text.replaceAll("-", "−")
}

/** A number with that many decimals.
    @type {(number: number, digits: number) => string} */
export function fixed(number, digits) {
  return shown(number.toFixed(digits))
}

/** A number with that many digits.
    @type {(number: number, digits: number) => string} */
export function precise(number, digits) {
  return shown(number.toPrecision(digits).replace("e+", "e"))
}

/** A number with four decimals, or as a power of ten where those would not tell it.
    @type {(number: number) => string} */
export function inFull(number) {
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞"
  const size = Math.abs(number)
  const plain = number === 0 || (size >= 1e-3 && size < 1e5)
  return shown(plain ? number.toFixed(4) : number.toExponential(3).replace("+", ""))
}

/** A size of which only the order of magnitude counts.
    @type {(number: number) => string} */
export function scientific(number) {
  return number === 0 ? "0" : shown(number.toExponential(1).replace("+", ""))
}

/** A weight at a glance: two digits, or more of a row in which nearly all are small.
    @type {(weight: number, columns: number) => string} */
export function glance(weight, columns) {
  return fixed(weight, columns > 64 ? 4 : columns > 20 ? 3 : 2)
}

/** How large a weight is drawn, whichever row it is of: on one scale from 0 to 1.
    @type {(weight: number) => number} */
export function sizeOf(weight) {
  return Math.min(1, Math.abs(weight))
}

/** A share of the whole as a length in CSS.
    @type {(share: number) => string} */
export function lengthOf(share) {
  return `${(100 * share).toFixed(2)}%`
}

/** A share of all as a sentence says it.
    @type {(share: number) => string} */
export function percent(share) {
  return `${fixed(100 * share, share < 0.01 ? 1 : 0)} %`
}

/** A share of all beside others: whole from 10 % on, below with one decimal.
    @type {(share: number) => string} */
export function finePercent(share) {
  if (share > 0 && share < 0.0005) return "< 0.1 %"
  return `${fixed(100 * share, share >= 0.0995 || !share ? 0 : 1)} %`
}

/** A weight beside a word, if it is large enough to be written there.
    @type {(weight: number) => string} */
export function besideWord(weight) {
  return weight >= LEAST_SHARE ? finePercent(weight) : ""
}

/** A token as a sentence names it, with its position where it stands more than once.
    @type {(tokens: string[], position: number) => string} */
export function named(tokens, position) {
  return `“${distinct(tokens, position)}”`
}

/** A token with its position where it stands more than once.
    @type {(tokens: string[], position: number) => string} */
export function distinct(tokens, position) {
  return `${tokens[position]}${positionOf(tokens, position)}`
}

/** The position of a token that stands more than once, in the notation of all pages.
    @type {(tokens: string[], position: number) => string} */
export function positionOf(tokens, position) {
  return repeated(tokens, position) ? ` (${position})` : ""
}

/** Whether the token there stands elsewhere too.
    @type {(tokens: string[], position: number) => boolean} */
export function repeated(tokens, position) {
  return tokens.indexOf(tokens[position]) !== tokens.lastIndexOf(tokens[position])
}

/** About how wide the longest of some names is, in pixels.
    @type {(names: string[]) => number} */
export function roomFor(names) {
  const longest = names.reduce((most, name) => Math.max(most, [...name].length), 0)
  return Math.min(112, longest * 7 + 12)
}
