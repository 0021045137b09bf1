import { make } from "./elements.js"

/** Copies a text; gives whether it is done.
    @type {(text: string) => Promise<boolean>} */
export async function copied(text) {
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
