/* The script of every component: loads its module and passes on, in order, what Streamlit gives.
   base.py writes in here where the modules are and which of them are shared. */
const NOT_LOADED = "This part of the page could not be loaded; reload the page."
const folder = new URL("component/{folder}/", document.baseURI)
const WAITS = [500, 2000] // milliseconds, before it is tried again
/** @typedef {{ default: (given: import("./shared/component.js").Given) => void }} Module
    @type {Record<string, Promise<Module>>} */
const modules = {}

/* An open page that meets another release, as after a deployment, is loaded again: it is built of
   the modules of one release alone. */
const release = document.documentElement.dataset
release.attention ??= folder.href
if (release.attention !== folder.href) location.reload()

/** @type {(path: string) => Promise<Module>} */
function load(path) {
  modules[path] ??= fetched(path)
  return modules[path]
}

/** What a bad connection cuts off is asked for again; in the end, by the next to need it.
    @type {(path: string) => Promise<Module>} */
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

/** @param {{ name: string } & import("./shared/component.js").Given} given */
export default async function (given) {
  const parent = given.parentElement
  const module = await load(`${given.name.replace("attention_", "")}/index.js`).catch(() => null)
  parent.querySelector(".not-loaded")?.remove()
  if (module) return module.default(given)
  const line = document.createElement("p")
  line.className = "not-loaded"
  line.textContent = NOT_LOADED
  line.setAttribute("role", "alert")
  parent.append(line)
}
