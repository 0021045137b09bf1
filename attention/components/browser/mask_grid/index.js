import { make, makeName, viewIn } from "../shared/elements.js"

export default function ({ data, parentElement, setTriggerValue }) {
  const view = viewIn(parentElement, build)
  view.send = (cells, allowed) => setTriggerValue("paint", { cells, allowed })
  if (view.names !== JSON.stringify([data.tokens, data.keys])) write(view, data.tokens, data.keys)
  view.cells.forEach((row, query) => row.forEach((cell, key) => mark(cell, data.mask[query][key] === 1)))
}

function build(parent) {
  const grid = make("div", "grid", parent)
  grid.setAttribute("role", "grid")
  grid.setAttribute("aria-label", "Custom mask: queries down, keys across. Space hides or shows a cell.")
  const view = { grid, names: null, cells: [], stroke: null }
  const at = (element) => element?.closest?.("[data-query]")

  const paint = (cell) => {
    const place = `${cell.dataset.query},${cell.dataset.key}`
    if (view.stroke.places.has(place)) return
    view.stroke.places.add(place)
    mark(cell, view.stroke.allowed)
  }
  const finish = () => {
    if (!view.stroke) return
    const cells = [...view.stroke.places].map((place) => place.split(",").map(Number))
    view.send(cells, view.stroke.allowed)
    view.stroke = null
  }
  grid.addEventListener("pointerdown", (event) => {
    const cell = at(event.target)
    if (!cell) return
    event.preventDefault()
    cell.focus()
    view.stroke = { allowed: cell.getAttribute("aria-pressed") === "true", places: new Set() }
    paint(cell)
  })
  grid.addEventListener("pointerover", (event) => view.stroke && at(event.target) && paint(at(event.target)))
  window.addEventListener("pointerup", finish)
  grid.addEventListener("keydown", (event) => {
    const cell = at(event.target)
    const [dy, dx] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0]
    if (cell && (dy || dx)) {
      event.preventDefault()
      view.cells[Number(cell.dataset.query) + dy]?.[Number(cell.dataset.key) + dx]?.focus()
    } else if (cell && (event.key === " " || event.key === "Enter")) {
      event.preventDefault()
      view.stroke = { allowed: cell.getAttribute("aria-pressed") === "true", places: new Set() }
      paint(cell)
      finish()
    }
  })
  return view
}

function write(view, tokens, keys) {
  view.names = JSON.stringify([tokens, keys])
  const button = (query) => (token, key) => {
    const cell = make("button", "")
    cell.type = "button"
    cell.dataset.query = query
    cell.dataset.key = key
    cell.tabIndex = query + key === 0 ? 0 : -1
    cell.title = `${tokens[query]} (${query}) → ${token} (${key})`
    cell.setAttribute("aria-label", `hide ${token} ${key} from ${tokens[query]} ${query}`)
    return cell
  }
  view.cells = tokens.map((_, query) => keys.map(button(query)))
  view.grid.style.gridTemplateColumns = `minmax(3rem, 5rem) repeat(${keys.length}, 1.4rem)`
  view.grid.replaceChildren(
    make("span", ""),
    ...keys.map((token) => makeName("span", "key", null, token)),
    ...view.cells.flatMap((row, query) => [makeName("span", "query", null, tokens[query]), ...row]),
  )
}

function mark(cell, allowed) {
  cell.setAttribute("aria-pressed", String(!allowed))
}
