export default function ({ parentElement }) {
  if (parentElement.querySelector("button")) return
  const button = parentElement.appendChild(document.createElement("button"))
  button.type = "button"
  button.textContent = "Copy link"
  button.title = "Copies the address of exactly this view"
  button.setAttribute("aria-live", "polite")
  button.addEventListener("click", async () => {
    button.textContent = (await copied(window.location.href)) ? "Copied" : "Copy the address bar"
    setTimeout(() => (button.textContent = "Copy link"), 2000)
  })
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.body.appendChild(document.createElement("textarea"))
    field.value = text
    field.select()
    const done = document.execCommand("copy")
    field.remove()
    return done
  }
}
