const KEY = "p"
const FIELDS = "input, textarea, select, [contenteditable]"
const HINT = "P shows the menu again"
let listening = false

/** P hides all but the page itself, with larger type, for a projector; P again shows it. A question
    mark shows the shortcuts at the foot, and hides them. To be called at least once. */
export function listenToKeys() {
  if (listening) return
  listening = true
  document.addEventListener("keydown", (event) => {
    if (!isAlone(event)) return
    if (event.key === "?") showShortcuts()
    if (event.key.toLowerCase() !== KEY) return
    const on = document.documentElement.classList.toggle("projected")
    document.querySelector(".projector-hint")?.remove()
    if (!on) return
    const hint = document.createElement("p")
    Object.assign(hint, { className: "projector-hint", textContent: HINT, role: "status" })
    document.body.append(hint)
  })
}

function showShortcuts() {
  const shortcuts = document.getElementById("shortcuts")
  if (shortcuts?.togglePopover()) shortcuts.focus()
}

/** Whether a key is pressed once, alone, and typed into no field.
    @type {(event: KeyboardEvent) => boolean} */
export function isAlone(event) {
  const path = event.composedPath()
  const typing = path.some((part) => part instanceof Element && part.matches(FIELDS))
  return !(typing || event.ctrlKey || event.metaKey || event.altKey || event.repeat)
}
