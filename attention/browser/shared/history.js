const ACTS = ["pointerdown", "keydown", "click", "focusin"]
const TYPING = "input:not([type=range], [type=radio], [type=checkbox]), textarea"
let kept = false
let acted = false

/** One step in the browser's history for one act of the visitor; a text is one act, however many
    letters it takes. Streamlit makes a step for a page and for each message that writes the address,
    some of them before it has left the page before, and none for what a widget writes. To be called
    at least once. */
export function keepStepsOne() {
  if (kept) return
  kept = true
  const { pushState, replaceState } = history
  const note = (/** @type {Event} */ { type, target }) => {
    const types = target instanceof Element && target.matches(TYPING)
    if (type === "focusin" ? types : !types) acted = type !== "popstate"
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
