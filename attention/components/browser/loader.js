/* The script of every component: loads its module and passes on, in order, what Streamlit gives.
   base.py writes in here where the modules are and which of them are shared. */
const folder = new URL("component/{folder}/", document.baseURI)
const NOT_LOADED = "This part of the page could not be loaded; reload the page."
const modules = new Map()

function load(path) {
  if (!modules.has(path)) modules.set(path, import(new URL(path, folder).href))
  return modules.get(path)
}

/* All at once, rather than as one imports the other. */
for (const path of "{shared}".split(" ")) load(path).catch(() => {})

export default async function (component) {
  const { name, parentElement } = component
  const module = await load(`${name.replace("attention_", "")}/index.js`).catch(() => null)
  if (module) return module.default(component)
  const line = Object.assign(document.createElement("p"), { textContent: NOT_LOADED })
  line.setAttribute("role", "alert")
  parentElement.replaceChildren(line)
}
