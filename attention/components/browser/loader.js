/* The script of every component: loads its module and passes on, in order, what Streamlit gives.
   base.py writes in here where the modules are and which of them are shared. */
const NOT_LOADED = "This part of the page could not be loaded; reload the page."
const folder = new URL("component/{folder}/", document.baseURI)
const WAITS = [500, 2000] // milliseconds, before it is tried again
/** @type {Record<string, Promise<any>>} */
const modules = {}

/** @type {(path: string) => Promise<any>} */
function load(path) {
  modules[path] ??= fetched(path)
  return modules[path]
}

/** What a bad connection cuts off is asked for again; in the end, by the next to need it.
    @type {(path: string) => Promise<any>} */
async function fetched(path) {
  const { href } = new URL(path, folder)
  for (const wait of WAITS) {
    try {
      return await import(href)
    } catch {
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
  delete modules[path]
  return import(href)
}

/* All at once, rather than as one imports the other. */
for (const path of "{shared}".split(" ")) load(path).catch(() => {})

/** @param {{ name: string } & import("./shared/message.js").Given} given */
export default async function (given) {
  const place = given.parentElement
  const module = await load(`${given.name.replace("attention_", "")}/index.js`).catch(() => null)
  place.querySelector(".not-loaded")?.remove()
  try {
    if (module) module.default(given)
    else place.append(told(NOT_LOADED, "not-loaded"))
  } catch (error) {
    if (!(error instanceof Error && error.name === "OtherVersion")) throw error
    place.replaceChildren(told(error.message))
  }
}

/** @type {(sentence: string, className?: string) => HTMLElement} */
function told(textContent, className = "") {
  const line = Object.assign(document.createElement("p"), { textContent, className })
  line.setAttribute("role", "alert")
  return line
}
