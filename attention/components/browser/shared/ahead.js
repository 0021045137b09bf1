import { whenSet } from "./history.js"

/** @typedef {{ element: Element, names: () => string[], take: (data: Uint8Array) => void }} Waiting
    @type {Waiting[]} */
let waiting = []
let asked = 0

/** Has a picture brought as soon as the address says what it will show, before its page has been
    run; not where other names than these were set.
    @type {(waits: Waiting) => void} */
export function bringAhead(waits) {
  if (!waiting.length) whenSet(ask)
  waiting = [...waiting.filter(({ element }) => element.isConnected), waits]
}

/** @type {(names: string[]) => void} */
function ask(names) {
  asked += 1
  const waits = waiting.find(({ element }) => element.isConnected)
  const known = waits?.names() ?? []
  if (waits && names.every((name) => known.includes(name))) bring(waits, asked)
}

/** What comes after something else has been set is of no use any more.
    @type {(waits: Waiting, number: number) => Promise<void>} */
async function bring({ element, take }, number) {
  const answer = await fetch(`${new URL("ahead", document.baseURI)}${location.search}`).catch(
    () => null,
  )
  if (answer?.status !== 200) return
  const data = new Uint8Array(await answer.arrayBuffer())
  if (number === asked && element.isConnected) take(data)
}
