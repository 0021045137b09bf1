const ACTS = ["pointerdown", "keydown", "click"]
let kept = false
let acted = false

/** One step in the browser's history for one act of the visitor. Streamlit makes one for a page and
    one for each message that writes the address, some of them before it has left the page before. To
    be called at least once. */
export function keepStepsOne() {
  if (kept) return
  kept = true
  const { pushState, replaceState } = history
  const note = (/** @type {Event} */ { type }) => {
    acted = type !== "popstate"
  }
  for (const name of [...ACTS, "popstate"]) addEventListener(name, note, { capture: true })
  history.pushState = (...entry) => {
    const write = acted ? pushState : replaceState
    acted = false
    write.apply(history, entry)
  }
}
