import { changed } from "./history.js"

/** What is typed is not lost by a reload, even if it was not sent yet. */
const KEPT = "attention.typed"
const PATIENCE = 5000 // milliseconds, for a page to have its fields
let keeping = false

/** Keeps it as the page goes, and types it again as it comes back.
    @type {() => void} */
export function keepTyped() {
  if (keeping) return
  keeping = true
  addEventListener("pagehide", () => {
    const field = document.activeElement
    const name = nameOf(field)
    if (name && field instanceof HTMLInputElement)
      sessionStorage.setItem(KEPT, JSON.stringify({ href: location.href, name, text: field.value }))
  })
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null")
  sessionStorage.removeItem(KEPT)
  if (kept && (isReload() || changed(kept.href, location.href).length === 0))
    typeAgain(kept, performance.now() + PATIENCE)
}

/** What was typed may have changed the address after its page began to be loaded again.
    @type {() => boolean} */
function isReload() {
  const [navigation] = performance.getEntriesByType("navigation")
  return /** @type {PerformanceNavigationTiming} */ (navigation).type === "reload"
}

/** @type {(kept: { name: string, text: string }, until: number) => void} */
function typeAgain(kept, until) {
  const field = document.querySelector(`.st-key-${CSS.escape(kept.name)} input`)
  if (!field && performance.now() < until) requestAnimationFrame(() => typeAgain(kept, until))
  else if (field instanceof HTMLInputElement && field.value !== kept.text) type(field, kept.text)
}

/** The setting that a field is the widget of.
    @type {(field: Element | null) => string} */
function nameOf(field) {
  const keys = field?.closest('[class*="st-key-"]')?.classList ?? []
  return [...keys].find((name) => name.startsWith("st-key-"))?.slice("st-key-".length) ?? ""
}

/** As if a person had typed the text and gone on.
    @type {(field: HTMLInputElement, text: string) => void} */
function type(field, text) {
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value") ?? {}
  set?.call(field, text)
  field.dispatchEvent(new Event("input", { bubbles: true }))
  field.dispatchEvent(new FocusEvent("focusout", { bubbles: true }))
}
