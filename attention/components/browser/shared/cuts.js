/* A server that is away for a moment takes nothing from a visitor. */

const STATE = "data-test-connection-state"
let bridged = false

/** To be called at least once. */
export function bridgeCuts() {
  if (bridged) return
  bridged = true
  document.addEventListener("focusout", ({ target }) => keepFocus(target))
  let away = isAway()
  const look = () => {
    if (away && !isAway()) rerun()
    away = isAway()
  }
  new MutationObserver(look).observe(document.body, { subtree: true, attributeFilter: [STATE] })
}

/** @type {() => boolean} */
function isAway() {
  return document.querySelector("[data-testid=stApp]")?.getAttribute(STATE) !== "CONNECTED"
}

/** Streamlit disables every field meanwhile, and a disabled field loses the focus, with all that
    one goes on typing. This one is enabled again at once.
    @type {(target: EventTarget | null) => void} */
function keepFocus(target) {
  const field = /** @type {HTMLInputElement} */ (target)
  if (!field.matches("input:disabled, textarea:disabled")) return
  queueMicrotask(() => {
    if (!isAway()) return
    field.disabled = false
    field.focus()
  })
}

/** What was set meanwhile is sent by the next run, and a server that has not seen this page yet
    needs a whole one. Streamlit asks for that in some cases only; its key for it is R. */
function rerun() {
  for (const type of ["keydown", "keyup"])
    document.body.dispatchEvent(new KeyboardEvent(type, { key: "r", keyCode: 82, bubbles: true }))
}
