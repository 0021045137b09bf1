/* What all pictures of a page show: what has been chosen, a query and a stage, and what is pointed
   at for the moment. A choice changes here first and stands in the address at once; the server is
   told a moment later. */
const place = { values: {}, defaults: {}, turn: 0, tell: null, pointed: null }
const listeners = new Set()
let telling
let asked

/* Takes over what the server says, unless something newer has been chosen here. */
export function adopt({ turn, values, defaults }) {
  place.defaults = defaults
  if (turn < place.turn) return
  place.turn = turn
  const changed = Object.keys(values).some((name) => values[name] !== place.values[name])
  place.values = values
  write()
  if (changed) announce()
}

/* Where one stands among so many queries: the chosen one (the last, where there are fewer), and
   which query, key and cell is pointed at; where none is, the chosen query. */
export function where(queries) {
  const held = Math.min(place.values.query ?? 0, queries - 1)
  const { query = held, key = null, cell = false } = place.pointed ?? {}
  return { held, query: Math.min(query, queries - 1), key, cell, wanted: place.values.query, stage: place.values.stage }
}

/* Points at a query, a key or both, or at nothing; shown with the next frame. */
export function pointAt(pointed) {
  if (JSON.stringify(pointed) === JSON.stringify(place.pointed)) return
  place.pointed = pointed
  cancelAnimationFrame(asked)
  asked = requestAnimationFrame(announce)
}

export function choose(name, value) {
  place.pointed = null
  if (place.values[name] !== value) {
    place.values = { ...place.values, [name]: value }
    place.turn += 1
    write()
    clearTimeout(telling)
    telling = setTimeout(() => place.tell?.({ turn: place.turn, values: place.values }), 60)
  }
  announce()
}

/* Runs a task whenever something is chosen or pointed at, for as long as the element is there. */
export function whenMoved(element, task) {
  listeners.add({ element, task })
}

/* How the server is told. */
export function tellBy(tell) {
  place.tell = tell
}

function announce() {
  for (const listener of listeners) {
    if (listener.element.isConnected) listener.task()
    else listeners.delete(listener)
  }
}

function write() {
  const address = new URL(location.href)
  for (const [name, value] of Object.entries(place.values)) {
    if (value === place.defaults[name]) address.searchParams.delete(name)
    else address.searchParams.set(name, value)
  }
  if (address.href !== location.href) history.replaceState(history.state, "", address)
}
