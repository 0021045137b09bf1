/* What follows from one row of weights and the values, without a page to show it on. */
export const MOST_TERMS = 32
export const COLUMNS = ["score", "scaled", "‖v‖", "‖w·v‖", "share of y"]
const MOST_WRITTEN = 7
const MOST_LETTERS = 12
const STRIP_QUANTILE = 0.97

/* A row of a matrix that stands row after row. */
export function rowOf(numbers, columns, row) {
  return numbers.subarray(row * columns, (row + 1) * columns)
}

/* The keys from the largest weight to the smallest, whatever their signs. */
export function byWeight(weights) {
  return [...weights.keys()].sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a]) || a - b)
}

/* Scaled scores come along only where something was added to them; else they are worked out, in
   32-bit floats as in Python. */
export function stageOf(content, stage) {
  const { numbers } = content
  if (numbers[stage]) return numbers[stage]
  if (stage === "masked") return stageOf(content, "scaled")
  const scale = Math.fround(content.scale)
  numbers.scaled ??= numbers.scores.map((score) => score * scale)
  return numbers.scaled
}

/* What the values are multiplied by. */
export function applied({ numbers }) {
  return numbers.mixed ?? numbers.weights
}

/* The terms w·v of one query in the order of the keys, the weaker of many added up in one more row,
   and their sum. */
export function termsOf(content, query) {
  const { columns, width, numbers } = content
  const weights = rowOf(applied(content), columns, query)
  const output = rowOf(numbers.output, width, query)
  const [scores, scaled] = ["scores", "scaled"].map((stage) => rowOf(stageOf(content, stage), columns, query))
  const order = byWeight(weights)
  const kept = order.slice(0, MOST_TERMS).sort((a, b) => a - b)
  const rest = order.slice(MOST_TERMS)
  const terms = new Float32Array((kept.length + (rest.length ? 1 : 0) + 1) * width)
  const squared = dot(output, output)
  const rows = kept.map((key, row) => {
    const value = rowOf(numbers.values, width, key)
    const term = rowOf(terms, width, row)
    for (let at = 0; at < width; at++) term[at] = weights[key] * value[at]
    return { key, weight: weights[key], cells: [scores[key], scaled[key], length(value), length(term), share(term, output, squared)] }
  })
  if (rest.length) {
    const together = new Float64Array(width)
    for (const key of rest) {
      const value = rowOf(numbers.values, width, key)
      for (let at = 0; at < width; at++) together[at] += Math.fround(weights[key] * value[at])
    }
    rowOf(terms, width, kept.length).set(together)
    const weight = rest.reduce((sum, key) => sum + weights[key], 0)
    rows.push({ key: null, others: rest.length, weight, cells: [null, null, null, length(together), share(together, output, squared)] })
  }
  rowOf(terms, width, rows.length).set(output)
  return { rows, terms, most: quantile(terms, STRIP_QUANTILE) || 1, length: Math.sqrt(squared) }
}

function dot(a, b) {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at] * b[at]
  return sum
}

function length(vector) {
  return Math.sqrt(dot(vector, vector))
}

function share(term, output, squared) {
  return squared ? dot(term, output) / squared : 0
}

/* Below which that part of the sizes lies, as torch has it: between two of them in proportion. */
export function quantile(numbers, part) {
  const sizes = numbers.map(Math.abs).sort()
  const place = part * (sizes.length - 1)
  const low = Math.floor(place)
  return sizes[low] + (place - low) * ((sizes[low + 1] ?? sizes[low]) - sizes[low])
}

/* The weights of a row added up, and how far the sum of its terms is from the output. */
export function check(content, query) {
  const { columns, width, numbers } = content
  const weights = rowOf(applied(content), columns, query)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const sum = new Float64Array(width)
  for (const [key, weight] of weights.entries()) {
    const value = rowOf(numbers.values, width, key)
    for (let at = 0; at < width; at++) sum[at] += Math.fround(weight * value[at])
  }
  const output = rowOf(numbers.output, width, query)
  return { total, residual: length(sum.map((number, at) => number - output[at])) }
}

/* The strongest terms of the sum written out: [weight, key] each, and what is left. */
export function written(weights) {
  const order = byWeight(weights).filter((key) => weights[key])
  const rest = order.slice(MOST_WRITTEN)
  return { terms: order.slice(0, MOST_WRITTEN).map((key) => [weights[key], key]), count: rest.length, rest: rest.reduce((sum, key) => sum + weights[key], 0) }
}

/* How a token is called where there is little room, with its position where it comes again. */
export function shortName(tokens, at) {
  const letters = [...tokens[at]]
  const name = letters.length > MOST_LETTERS ? `${letters.slice(0, MOST_LETTERS - 1).join("")}…` : tokens[at]
  return [name, again(tokens, at) ? ` ${at}` : ""]
}

export function again(tokens, at) {
  return tokens.indexOf(tokens[at]) !== tokens.lastIndexOf(tokens[at])
}

/* How much of a row each mask hides. */
export function maskWords({ tokens, columns, masks, hidden, emptyRow }, query) {
  if (!masks.length) return ""
  const row = rowOf(hidden, columns, query)
  const left = row.reduce((sum, bits) => sum + (bits ? 0 : 1), 0)
  const hides = masks.map((name, bit) => `${name} hides ${row.reduce((sum, bits) => sum + ((bits >> bit) & 1), 0) || "none"}`)
  const listed = hides.length > 1 ? `${hides.slice(0, -1).join(", ")} and ${hides.at(-1)}` : hides[0]
  if (left) return `“${tokens[query]}” may attend to ${left} of ${columns} keys: ${listed}.`
  return `“${tokens[query]}” may attend to nothing: of ${columns} keys ${listed}. ${emptyRow}`
}

/* Whom a query attends to most, in a sentence. */
export function summary({ tokens, keys, masks, numbers, hidden, columns }, query) {
  const weights = rowOf(numbers.weights, columns, query)
  const bits = rowOf(hidden, columns, query)
  const order = [...weights.keys()].filter((key) => weights[key] > 0 && !(masks.length && bits[key])).sort((a, b) => weights[b] - weights[a])
  if (order.length === 0) return `“${tokens[query]}” may attend to nothing: weights and output are 0.`
  const name = (list, at) => `“${list[at]}”${again(list, at) ? ` at ${at}` : ""}`
  const named = order.slice(0, 2).map((key) => `${!keys && key === query ? "itself" : name(keys ?? tokens, key)} (${weights[key].toFixed(3)})`)
  return `${name(tokens, query)} attends most to ${named.join(", then ")}.`
}

/* A number as the field writes it: a true minus, as many digits as asked for. */
export function signed(number, digits) {
  return number.toFixed(digits).replace("-", "−")
}

/* As Python writes it: two digits in the exponent at least. */
export function scientific(number) {
  return number.toExponential(1).replace(/([+-])(\d)$/, "$10$2")
}
