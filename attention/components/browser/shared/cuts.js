/* A server that is away for a moment takes nothing from a visitor. */

const STATE = "data-test-connection-state"
let bridged = false

/** To be called at least once. */
export function bridgeCuts() {
  if (bridged) return
  bridged = true
  let away = isAway()
  const look = () => {
    keepEnabled(document.activeElement)
    if (away && !isAway()) rerun()
    away = isAway()
  }
  const attributeFilter = [STATE, "disabled"]
  new MutationObserver(look).observe(document.body, { subtree: true, attributeFilter })
}

/** @type {() => boolean} */
function isAway() {
  return document.querySelector("[data-testid=stApp]")?.getAttribute(STATE) !== "CONNECTED"
}

/** Streamlit disables every field meanwhile, and a disabled field takes no key and loses the focus.
    The one that somebody types into is enabled again before the next key.
    @type {(focused: Element | null) => void} */
function keepEnabled(focused) {
  if (focused?.matches("input:disabled, textarea:disabled"))
    /** @type {HTMLInputElement} */ (focused).disabled = false
}

/** What was set meanwhile is sent by the next run, and a server that has not seen this page yet
    needs a whole one. Streamlit asks for that in some cases only; its key for it is R. */
function rerun() {
  for (const type of ["keydown", "keyup"])
    document.body.dispatchEvent(new KeyboardEvent(type, { key: "r", keyCode: 82, bubbles: true }))
}
