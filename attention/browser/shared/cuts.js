/* A server that is away for a moment takes nothing from a visitor. */

const STATE = "data-test-connection-state"
let bridged = false
/** What somebody types into.
    @type {HTMLInputElement | null} */
let field = null
/** @type {(() => void)[]} */
const tasks = []

/** Runs a task whenever the server is there again.
    @type {(task: () => void) => void} */
export function whenBack(task) {
  tasks.push(task)
}

/** To be called at least once. */
export function bridgeCuts() {
  if (bridged) return
  bridged = true
  let away = isAway()
  whenBack(rerun)
  const look = () => {
    keepField()
    const back = away && !isAway()
    away = isAway()
    if (back) for (const task of tasks) task()
  }
  const attributeFilter = [STATE, "disabled"]
  new MutationObserver(look).observe(document.body, { subtree: true, attributeFilter })
  document.addEventListener("focusin", ({ target }) => {
    const focused = /** @type {HTMLInputElement} */ (target)
    field = focused.matches("input, textarea") ? focused : null
  })
  document.addEventListener("focusout", () => {
    if (field?.disabled) queueMicrotask(keepField)
    else field = null
  })
}

/** @type {() => boolean} */
function isAway() {
  return document.querySelector("[data-testid=stApp]")?.getAttribute(STATE) !== "CONNECTED"
}

/** Streamlit disables every field meanwhile, and a disabled field takes no key and loses the focus,
    at once or a frame later. This one has both back before the next key.
    @type {() => void} */
function keepField() {
  if (!field?.disabled || !isAway()) return
  field.disabled = false
  field.focus()
}

/** What was set meanwhile is sent by the next run, and a server that has not seen this page yet
    needs a whole one. Streamlit asks for that in some cases only; its key for it is R. */
function rerun() {
  for (const type of ["keydown", "keyup"])
    document.body.dispatchEvent(new KeyboardEvent(type, { key: "r", keyCode: 82, bubbles: true }))
}
