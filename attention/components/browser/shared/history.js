/** One choice of a visitor is one step that Back undoes; Streamlit alone would replace the address.

    A step begins with what a widget says, or the server, after the visitor has done something. All
    else belongs to the step before: the scale that the server proposes for a variant, what it says
    of a page that one has come to or gone back to, and what one sets again soon, as text while one
    types. What the server says of a page before the browser knows that one goes there is not put
    down to the page before. */
const TYPING = 2000 // milliseconds
const SOON = 1000
const JUST_BEFORE = 500
const CHOSEN = new Set(["query", "stage"]) // in the pictures: too many to be steps
let kept = false
/** @type {Set<(names: string[]) => void>} */
const tasks = new Set()

/** Runs a task whenever a visitor has set something by a widget, with the names of what was set.
    @type {(task: (names: string[]) => void) => void} */
export function whenSet(task) {
  tasks.add(task)
}

/** @type {() => void} */
export function keepSteps() {
  if (kept) return
  kept = true
  const replace = history.replaceState.bind(history)
  const push = history.pushState.bind(history)
  let acted = { at: 0, typing: false } // the visitor, whatever it was
  let last = { names: "", at: 0, typing: false } // what the last step set, when, and how
  const never = { at: -JUST_BEFORE, address: "", isStep: false }
  let told = never // by the server: when, what the address was before, whether it became a step
  for (const name of ["pointerdown", "pointerup", "click", "keydown", "input"]) {
    const act = (/** @type {Event} */ event) =>
      (acted = { at: performance.now(), typing: "inputType" in event })
    addEventListener(name, act, true)
  }
  addEventListener("popstate", () => {
    last = { names: "", at: performance.now(), typing: false }
    told = never
  })

  /** Whether it became a step of its own.
      @type {(byServer: boolean, ...to: Parameters<typeof history.pushState>) => boolean} */
  const step = (byServer, state, title, url) => {
    const names = changed(location.href, String(url ?? location.href)).join()
    const again = names === last.names
    let pause = SOON
    if (again && acted.typing && last.typing) pause = TYPING
    if (!again && last.names && !byServer) pause = 0
    const own = names !== "" && acted.at - last.at >= pause
    if (own || (again && names))
      last = { ...acted, names, at: byServer ? acted.at : performance.now() }
    if (own) push(state, title, url)
    else replace(state, title, url)
    return own
  }
  history.replaceState = (...to) => {
    const names = changed(location.href, String(to[2] ?? location.href))
    step(false, ...to)
    if (names.length) for (const task of tasks) task(names)
  }
  history.pushState = (state, title, url) => {
    const at = performance.now()
    const address = location.href
    const goesOn = at - told.at < JUST_BEFORE
    if (new URL(url ?? "", address).pathname === location.pathname) {
      const isStep = step(true, state, title, url)
      told = goesOn ? { ...told, at } : { at, address, isStep }
      return
    }
    if (goesOn && told.isStep) replace(state, title, url)
    else {
      if (goesOn) replace(history.state, "", told.address)
      push(state, title, url)
    }
    last = { names: "", at, typing: false }
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
