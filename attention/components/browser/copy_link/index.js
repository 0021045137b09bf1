import { make } from "../shared/elements.js"

/** @type {(given: import("../shared/message.js").Given) => void} */
export default function ({ parentElement }) {
  if (parentElement.querySelector("button")) return
  const title = "Copies the address of exactly this view"
  const button = make("button", "", parentElement, { type: "button", title, ariaLive: "polite" })
  button.textContent = "Copy link"
  button.addEventListener("click", async () => {
    const done = await copied(window.location.href)
    button.textContent = done ? "Copied" : "Copy the address bar"
    setTimeout(() => Object.assign(button, { textContent: "Copy link" }), 2000)
  })
}

/** @type {(text: string) => Promise<boolean>} */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = make("textarea", "", document.body, { value: text })
    field.select()
    const done = document.execCommand("copy")
    field.remove()
    return done
  }
}
