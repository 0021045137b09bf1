/** A number with that many decimals; no zero has a sign.
    @type {(number: number, digits: number) => string} */
export function fixed(number, digits) {
  const text = number.toFixed(digits)
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−")
}

/** A number with four decimals, or as a power of ten where those would not tell it.
    @type {(number: number) => string} */
export function inFull(number) {
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞"
  const size = Math.abs(number)
  const plain = number === 0 || (size >= 1e-3 && size < 1e5)
  const text = plain ? number.toFixed(4) : number.toExponential(3).replace("+", "")
  return text.replaceAll("-", "−")
}

/** A token as a sentence names it, with its position where it stands more than once.
    @type {(tokens: string[], position: number) => string} */
export function named(tokens, position) {
  return `“${tokens[position]}”${repeated(tokens, position) ? ` at ${position}` : ""}`
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
