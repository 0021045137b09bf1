/* The script of every component: loads its module and passes on, in order, what Streamlit gives.
   base.py writes in here where the modules are and which of them are shared. */
const NOT_LOADED = "This part of the page could not be loaded; reload the page."
const folder = new URL("component/{folder}/", document.baseURI)
/** @type {Record<string, Promise<any>>} */
const modules = {}

/** @type {(path: string) => Promise<any>} */
function load(path) {
  modules[path] ??= import(new URL(path, folder).href)
  return modules[path]
}

/* All at once, rather than as one imports the other. */
for (const path of "{shared}".split(" ")) load(path).catch(() => {})

/** @param {{ name: string } & import("./shared/message.js").Given} given */
export default async function (given) {
  const module = await load(`${given.name.replace("attention_", "")}/index.js`).catch(() => null)
  try {
    if (module) module.default(given)
    else tell(given.parentElement, NOT_LOADED)
  } catch (error) {
    if (!(error instanceof Error && error.name === "OtherVersion")) throw error
    tell(given.parentElement, error.message)
  }
}

/** @type {(place: Element | ShadowRoot, sentence: string) => void} */
function tell(place, sentence) {
  const line = Object.assign(document.createElement("p"), { textContent: sentence })
  line.setAttribute("role", "alert")
  place.replaceChildren(line)
}
