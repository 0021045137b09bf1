/** A change of a widget becomes a step that Back undoes; Streamlit alone would replace the address.

    What is changed again soon, as text while one types, belongs to the same step. */
const SAME_STEP = 2000 // milliseconds
const CHOSEN = new Set(["query", "stage"]) // in the pictures: too many to be steps
let kept = false

/** @type {() => void} */
export function keepSteps() {
  if (kept) return
  kept = true
  const replace = history.replaceState.bind(history)
  let last = { names: "", at: -SAME_STEP }
  addEventListener("popstate", () => (last = { names: "", at: performance.now() }))
  history.replaceState = (state, title, url) => {
    const names = changed(location.href, String(url ?? location.href)).join()
    const at = performance.now()
    const goesOn = at - last.at < SAME_STEP && (names === last.names || !last.names)
    if (names) last = { names, at }
    if (!names || goesOn) replace(state, title, url)
    else history.pushState(state, title, url)
  }
}

/** The names of the settings in which two addresses of one page differ.
    @type {(from: string, to: string) => string[]} */
export function changed(from, to) {
  const [before, after] = [new URL(from), new URL(to, from)]
  if (before.pathname !== after.pathname) return []
  const names = new Set([...before.searchParams.keys(), ...after.searchParams.keys()])
  const said = (/** @type {URL} */ url, /** @type {string} */ name) =>
    JSON.stringify(url.searchParams.getAll(name))
  return [...names].filter((name) => !CHOSEN.has(name) && said(before, name) !== said(after, name))
}
