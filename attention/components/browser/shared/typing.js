/* A server that is away for a moment does not take the keyboard from whoever is typing. */

let kept = false

/** Streamlit disables every field while there is no server, and a disabled field loses the focus.
    It gets it back at once, and Streamlit sends what is typed meanwhile once there is a server. */
export function keepTyping() {
  if (kept) return
  kept = true
  document.addEventListener("focusout", ({ target }) => {
    const field = /** @type {HTMLInputElement} */ (target)
    if (field.matches("input:disabled, textarea:disabled"))
      queueMicrotask(() => isAway() && enable(field))
  })
}

/** @type {() => boolean} */
function isAway() {
  const app = document.querySelector("[data-testid=stApp]")
  return app?.getAttribute("data-test-connection-state") !== "CONNECTED"
}

/** @type {(field: HTMLInputElement) => void} */
function enable(field) {
  field.disabled = false
  field.focus()
}
