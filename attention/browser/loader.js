/* The script of every component: loads its module and passes on, in order, what Streamlit gives.
   base.py writes in here where the modules are and which of them are shared. */
const NOT_LOADED = "This part of the page could not be loaded; reload the page."
const folder = new URL("component/{folder}/", document.baseURI)
const WAITS = [500, 2000] // milliseconds, before it is tried again
/** @typedef {import("./shared/component.js").Draw} Draw
    @typedef {{ default: Draw } & typeof import("./shared/passing.js")} Module
    @type {Record<string, Promise<Module>>} */
const modules = {}
/** @type {Record<string, Promise<string>>} */
const styles = {}

/* An open page that meets another release, as after a deployment, is loaded again: it is built of
   the modules of one release alone. */
const release = document.documentElement.dataset
release.attention ??= folder.href
if (release.attention !== folder.href) location.reload()

class NotLoaded extends Error {}

/** What a bad connection cuts off is asked for again; in the end, by the next to need it.
    @type {<Kind>(task: () => Promise<Kind>) => Promise<Kind>} */
async function again(task) {
  for (const wait of WAITS) {
    try {
      return await task()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
  return task().catch((error) => {
    throw new NotLoaded(String(error))
  })
}

/** @type {(path: string) => Promise<Module>} */
function load(path) {
  modules[path] ??= again(() => import(new URL(path, folder).href))
  modules[path].catch(() => delete modules[path])
  return modules[path]
}

/** The text of a style.
    @type {(path: string) => Promise<string>} */
function loadStyle(path) {
  styles[path] ??= again(async () => {
    const answer = await fetch(new URL(path, folder))
    if (!answer.ok) throw new Error(`${path} answers ${answer.status}`)
    return answer.text()
  })
  styles[path].catch(() => delete styles[path])
  return styles[path]
}

/* All at once, rather than as one imports the other. */
for (const path of "{shared}".split(" ")) load(path).catch(() => {})

/** @param {{ name: string } & import("./shared/component.js").Given} given */
export default async function (given) {
  const parent = given.parentElement
  parent.querySelector(".not-loaded")?.remove()
  try {
    const paths = [`${given.name.replace("attention_", "")}/index.js`, "shared/passing.js"]
    const [module, passing] = await Promise.all(paths.map(load))
    await passing.passOn(Object.assign(Object.create(given), { load, loadStyle }), module.default)
  } catch (error) {
    if (!(error instanceof NotLoaded)) throw error
    const line = document.createElement("p")
    line.className = "not-loaded"
    line.textContent = NOT_LOADED
    line.setAttribute("role", "alert")
    parent.append(line)
  }
}
