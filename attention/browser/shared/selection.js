import { whenBack } from "./cuts.js"
import { isLate, nextTurn } from "./turns.js"

/** What all pictures of a page show: what has been chosen, a query and a stage, and what is pointed
    at for the moment. A choice shows here and stands in the address at once, and the server is told
    of it a moment later; what the server says holds, unless it has not heard of the last choice.
    @import { SelectionHeader, QueryAndStage } from "../messages.js"
    @typedef {{ query?: number, key?: number | null }} Pointed
    @typedef {(values: QueryAndStage) => void} Tell */

export const KEY = "selection"

const selection = {
  values: { query: 0, stage: "" },
  defaults: { query: 0, stage: "" },
  pointed: /** @type {Pointed | null} */ (null),
}
/** @type {Set<{ element: Element, task: () => void }>} */
const listeners = new Set()
const SOON = 60 // milliseconds
/** @type {Tell} */
let tell = () => {}
let telling = 0
let chosen = false
let asked = 0
let stays = false // the query, as other figures hang on it that nobody draws anew
let page = "" // whose address has been written last

/** Takes over what the server says, unless something newer has been chosen here: then the address,
    which may have been written before that, says so again.
    @type {(said: SelectionHeader) => void} */
export function adopt({ turn, values, defaults }) {
  const { query, stage } = selection.values
  selection.defaults = defaults
  if (!isLate(KEY, turn)) selection.values = values
  write()
  if (selection.values.query !== query || selection.values.stage !== stage) announce()
}

/** Where one stands in a figure among so many queries: the chosen one (the last, where there are
    fewer), and which query and key is pointed at; where no query is, the chosen one. cell: whether
    both are.
    @type {(queries: number) => { held: number, query: number, key: number | null, cell: boolean,
      wanted: number, stage: string }} */
export function where(queries) {
  const { query: wanted, stage } = selection.values
  const held = Math.min(wanted, queries - 1)
  const { query = held, key = null } = selection.pointed ?? {}
  const cell = selection.pointed?.query !== undefined && key !== null
  return { held, query: Math.min(query, queries - 1), key, cell, wanted, stage }
}

/** Points at a query, a key or both, or at nothing; shown with the next frame.
    @type {(pointed: Pointed | null) => void} */
export function pointAt(pointed) {
  if (JSON.stringify(pointed) === JSON.stringify(selection.pointed)) return
  selection.pointed = pointed
  cancelAnimationFrame(asked)
  asked = requestAnimationFrame(announce)
}

/** @type {<Name extends keyof QueryAndStage>(name: Name, value: QueryAndStage[Name]) => void} */
export function choose(name, value) {
  selection.pointed = null
  if (selection.values[name] !== value && !(stays && name === "query")) {
    selection.values = { ...selection.values, [name]: value }
    chosen = true
    nextTurn(KEY, Infinity)
    write()
    tellSoon()
  }
  announce()
}

/** Keeps the chosen query from now on; pointing shows others. */
export function keepQuery() {
  stays = true
}

/** Of choices made in a row the server is told the last. */
function tellSoon() {
  clearTimeout(telling)
  telling = window.setTimeout(() => tell(selection.values), SOON)
}

/** How the server is told from now on; at once, where it has not heard of the last choice.
    @type {(by: Tell, turn: number) => void} */
export function tellBy(by, turn) {
  tell = by
  if (isLate(KEY, turn)) tellSoon()
}

/* What the server is told while it is away is lost. */
whenBack(() => chosen && tellSoon())

/** Runs a task whenever something is chosen or pointed at, for as long as the element is there.
    @type {(element: Element, task: () => void) => void} */
export function whenMoved(element, task) {
  listening()
  listeners.add({ element, task })
  if (location.pathname === page) write() // Streamlit may have written the address meanwhile
}

/** Those whose elements are there; the others, of a page that one has left, are let go.
    @type {() => typeof listeners} */
export function listening() {
  for (const listener of listeners) if (!listener.element.isConnected) listeners.delete(listener)
  return listeners
}

function announce() {
  for (const { task } of listening()) task()
}

function write() {
  const address = new URL(location.href)
  page = address.pathname
  for (const name of /** @type {const} */ (["query", "stage"])) {
    const value = selection.values[name]
    if (value === selection.defaults[name]) address.searchParams.delete(name)
    else address.searchParams.set(name, String(value))
  }
  // The bare address opens on something else than these defaults.
  if (!address.search && page.endsWith("/"))
    address.searchParams.set("query", String(selection.values.query))
  if (address.href !== location.href) history.replaceState(history.state, "", address)
}

/* Streamlit writes the address of a run after the pictures are drawn too, as it was before. */
globalThis.navigation?.addEventListener("currententrychange", ({ navigationType }) => {
  if (navigationType !== "traverse" && location.pathname === page && listening().size) write()
})
