/** What all pictures of a page show: what has been chosen, a query and a stage, and what is pointed
    at for the moment. A choice changes here first and stands in the address at once; the server is
    told a moment later.
    @typedef {{ query: number, stage: string }} Values
    @typedef {{ turn: number, values: Values, defaults: Values }} Standing
    @typedef {{ query?: number, key?: number | null, cell?: boolean }} Pointed */

/** @typedef {(chosen: { turn: number, values: Values }) => void} Tell
    @type {{ values: Values, defaults: Values, turn: number, pointed: Pointed | null }} */
const place = {
  values: { query: 0, stage: "" },
  defaults: { query: 0, stage: "" },
  turn: 0,
  pointed: null,
}
/** @type {Set<{ element: Element, task: () => void }>} */
const listeners = new Set()
/** @type {{ element: Node, tell: Tell }[]} */
let tellers = []
const [SOON, AGAIN, PATIENCE] = [60, 1000, 20000] // milliseconds
let telling = 0
let asked = 0

/** Takes over what the server says, unless something newer has been chosen here.
    @type {(standing: Standing) => void} */
export function adopt({ turn, values, defaults }) {
  place.defaults = defaults
  if (turn < place.turn) return
  clearTimeout(telling)
  place.turn = turn
  const { query, stage } = place.values
  place.values = values
  write()
  if (values.query !== query || values.stage !== stage) announce()
}

/** Where one stands among so many queries: the chosen one (the last, where there are fewer), and
    which query and key is pointed at; where no query is, the chosen one.
    @type {(queries: number) => { held: number, query: number, key: number | null, cell: boolean,
      wanted: number, stage: string }} */
export function where(queries) {
  const { query: wanted, stage } = place.values
  const held = Math.min(wanted, queries - 1)
  const { query = held, key = null, cell = false } = place.pointed ?? {}
  return { held, query: Math.min(query, queries - 1), key, cell, wanted, stage }
}

/** Points at a query, a key or both, or at nothing; shown with the next frame.
    @type {(pointed: Pointed | null) => void} */
export function pointAt(pointed) {
  if (JSON.stringify(pointed) === JSON.stringify(place.pointed)) return
  place.pointed = pointed
  cancelAnimationFrame(asked)
  asked = requestAnimationFrame(announce)
}

/** @type {<Name extends keyof Values>(name: Name, value: Values[Name]) => void} */
export function choose(name, value) {
  place.pointed = null
  if (place.values[name] !== value) {
    place.values = { ...place.values, [name]: value }
    place.turn += 1
    write()
    tell(SOON)
  }
  announce()
}

/** Tells the server, and again until it says so itself: what it is told while it is away is lost.
    @type {(wait: number) => void} */
function tell(wait) {
  clearTimeout(telling)
  if (wait > PATIENCE) return
  telling = window.setTimeout(() => {
    tellers = tellers.filter(({ element }) => element.isConnected)
    tellers.at(-1)?.tell({ turn: place.turn, values: place.values })
    tell(Math.max(AGAIN, 2 * wait))
  }, wait)
}

/** Runs a task whenever something is chosen or pointed at, for as long as the element is there.
    @type {(element: Element, task: () => void) => void} */
export function whenMoved(element, task) {
  listening()
  listeners.add({ element, task })
}

/** Those whose elements are there; the others, of a page that one has left, are let go.
    @type {() => typeof listeners} */
export function listening() {
  for (const listener of listeners) if (!listener.element.isConnected) listeners.delete(listener)
  return listeners
}

/** How the server is told, for as long as the element is there. While a page is drawn anew there
    are two for a moment, and the one that goes may be heard of last.
    @type {(element: Node, tell: Tell) => void} */
export function tellBy(element, tell) {
  tellers = tellers.filter((known) => known.element !== element && known.element.isConnected)
  tellers.push({ element, tell })
}

function announce() {
  for (const { task } of listening()) task()
}

/* What Streamlit writes into the address may be older than a choice made here. A step in the history
   is no such thing: the server says what its address asks for. */
const { navigation } = /** @type {any} */ (globalThis)
navigation?.addEventListener("currententrychange", (/** @type {any} */ { navigationType }) => {
  if (place.defaults.stage && navigationType !== "traverse") write()
})

function write() {
  const address = new URL(location.href)
  for (const [name, value] of Object.entries(place.values)) {
    if (value === place.defaults[/** @type {keyof Values} */ (name)])
      address.searchParams.delete(name)
    else address.searchParams.set(name, String(value))
  }
  if (address.href !== location.href) history.replaceState(history.state, "", address)
}
