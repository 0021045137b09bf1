import { make } from "./elements.js"

const WHOLE_VIEW = ["embed", "embed_options", "figure", "hide"]

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

/** The address of all that a page shows, of which an embedded one shows a part.
    @type {(href: string) => string} */
export function wholeView(href) {
  const address = new URL(href)
  for (const name of WHOLE_VIEW) address.searchParams.delete(name)
  return address.href
}
