/** A change of a widget becomes a step that Back undoes; Streamlit alone would replace the address.

    What is changed again soon, as text while one types, belongs to the same step. So does what the
    server says soon after one has come to a page. What it says of that page before the browser
    knows that one goes there is not put down to the page before. */
const SAME_STEP = 2000 // milliseconds
const JUST_BEFORE = 500
const CHOSEN = new Set(["query", "stage"]) // in the pictures: too many to be steps
let kept = false

/** @type {() => void} */
export function keepSteps() {
  if (kept) return
  kept = true
  const replace = history.replaceState.bind(history)
  const push = history.pushState.bind(history)
  let last = { names: "", at: -SAME_STEP }
  let came = -SAME_STEP
  const never = { at: -JUST_BEFORE, address: "", isStep: false }
  let told = never // by the server: when, what the address was before, whether it became a step
  addEventListener("popstate", () => (last = { names: "", at: performance.now() }))

  /** Whether it became a step of its own.
      @type {(...to: Parameters<typeof history.pushState>) => boolean} */
  const step = (state, title, url) => {
    const names = changed(location.href, String(url ?? location.href)).join()
    const at = performance.now()
    const goesOn = at - last.at < SAME_STEP && (names === last.names || !last.names)
    if (names) last = { names, at }
    const own = names !== "" && !goesOn && at - came >= SAME_STEP
    if (own) push(state, title, url)
    else replace(state, title, url)
    return own
  }
  history.replaceState = (...to) => void step(...to)
  history.pushState = (state, title, url) => {
    const at = performance.now()
    const address = location.href
    const goesOn = at - told.at < JUST_BEFORE
    if (new URL(url ?? "", address).pathname === location.pathname) {
      const isStep = step(state, title, url)
      told = goesOn ? { ...told, at } : { at, address, isStep }
      return
    }
    if (goesOn && told.isStep) replace(state, title, url)
    else {
      if (goesOn) replace(history.state, "", told.address)
      push(state, title, url)
    }
    came = at
    told = never
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
