const ACTS = ["pointerdown", "keydown", "click", "focusin"]
const TYPING = "input:not([type=range], [type=radio], [type=checkbox]), textarea"
const MOVES = /^(Arrow|Page)(Up|Down|Left|Right)$|^(Home|End)$/
let kept = false
let acted = false
/** The control that keys have moved last.
    @type {Element | null} */
let moved = null

/** One step in the browser's history for one act of the visitor; a text is one act, however many
    letters it takes, and so is a control that keys move on and on. Streamlit makes a step for a page
    and for each message that writes the address, some of them before it has left the page before.
    To be called at least once. */
export function keepStepsOne() {
  if (kept) return
  kept = true
  const { pushState, replaceState } = history
  const note = (/** @type {Event} */ event) => {
    const { type, target } = event
    const types = target instanceof Element && target.matches(TYPING)
    if (type === "focusin" ? !types : types) return
    const moves = event instanceof KeyboardEvent && MOVES.test(event.key)
    const control = moves && target instanceof Element && controlOf(target)
    if (!control || control !== moved) acted = type !== "popstate"
    moved = control || null
  }
  for (const name of [...ACTS, "popstate"]) addEventListener(name, note, { capture: true })
  history.pushState = history.replaceState = (...entry) => {
    const address = entry[2]
    const moves = address != null && new URL(address, location.href).href !== location.href
    const write = acted && moves ? pushState : replaceState
    if (moves) acted = false
    write.apply(history, entry)
  }
}

/** @type {(target: Element) => Element} */
function controlOf(target) {
  return target.closest("[role=radiogroup]") ?? target
}
