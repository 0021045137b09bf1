/* One turn under each key: how many answers were given there. A message brings back the turn of the
   last answer that the server has heard of; until that is the last one given, what comes is late. */

const PATIENCE = 4000 // milliseconds, after which the server's word holds: an answer may be lost
/** @type {Map<string, { turn: number, until: number }>} */
const given = new Map()

/** The turn of one more answer under a key. patience: Infinity while it is not on its way yet.
    @type {(key: string, patience?: number) => number} */
export function nextTurn(key, patience = PATIENCE) {
  const turn = (given.get(key)?.turn ?? 0) + 1
  given.set(key, { turn, until: performance.now() + patience })
  return turn
}

/** True if a message has not heard of the last answer; else its turn is gone on from.
    @type {(key: string, turn: number) => boolean} */
export function isLate(key, turn) {
  const last = given.get(key)
  const late = last !== undefined && turn < last.turn && performance.now() < last.until
  if (!late) given.set(key, { turn, until: 0 })
  return late
}
