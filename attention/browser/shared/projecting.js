const KEY = "p"
const FIELDS = "input, textarea, select, [contenteditable]"
const HINT = "P shows the menu again"
let listening = false

/** P hides all but the page itself, with larger type, for a projector; P again shows it. To be
    called at least once. */
export function listenToProjector() {
  if (listening) return
  listening = true
  document.addEventListener("keydown", (event) => {
    const typing = event
      .composedPath()
      .some((part) => part instanceof Element && part.matches(FIELDS))
    const other = event.ctrlKey || event.metaKey || event.altKey || event.repeat
    if (typing || other || event.key.toLowerCase() !== KEY) return
    const on = document.documentElement.classList.toggle("projected")
    document.querySelector(".projector-hint")?.remove()
    if (!on) return
    const hint = document.createElement("p")
    Object.assign(hint, { className: "projector-hint", textContent: HINT, role: "status" })
    document.body.append(hint)
  })
}
