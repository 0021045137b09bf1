const SVG = "http://www.w3.org/2000/svg"
const views = new WeakMap()

export default function ({ data, parentElement, setTriggerValue }) {
  const view = views.get(parentElement) ?? build(parentElement)
  views.set(parentElement, view)
  view.select = (query) => setTriggerValue("query", query)
  const { numbers, tokens, known, query } = decode(data)
  view.rows = numbers
  if (view.names !== tokens.join("\n")) write(view, { tokens, known })
  view.query = query
  afterPaint(() => {
    reveal(view)
    show(view, view.query)
  })
}

function build(parent) {
  const element = (tag, name, root) => root.appendChild(Object.assign(document.createElement(tag), { className: name }))
  const frame = element("div", "frame", parent)
  const heads = element("div", "heads", frame)
  element("span", "", heads).textContent = "query"
  element("span", "", heads).textContent = "key and weight"
  const scroll = element("div", "scroll", frame)
  const queries = element("div", "queries", scroll)
  const lines = scroll.appendChild(document.createElementNS(SVG, "svg"))
  const keys = element("div", "keys", scroll)
  const summary = element("p", "summary", frame)
  summary.setAttribute("role", "status")
  queries.tabIndex = 0
  queries.setAttribute("role", "listbox")
  queries.setAttribute("aria-label", "Choose a query token; arrow keys move")
  keys.setAttribute("role", "list")
  keys.setAttribute("aria-label", "Keys, each with the weight it gets")
  lines.setAttribute("aria-hidden", "true")

  const view = { scroll, queries, lines, keys, summary, names: null, shown: undefined }
  const position = (event) => [...queries.children].indexOf(event.target.closest(".token"))
  queries.addEventListener("pointerover", (event) => position(event) >= 0 && show(view, position(event)))
  queries.addEventListener("pointerleave", () => show(view, view.query))
  queries.addEventListener("click", (event) => position(event) >= 0 && choose(view, position(event)))
  queries.addEventListener("keydown", (event) => {
    const last = queries.children.length - 1
    const next = { ArrowUp: view.query - 1, ArrowDown: view.query + 1, Home: 0, End: last, Enter: view.query }[event.key]
    if (next === undefined) return
    event.preventDefault()
    choose(view, Math.min(last, Math.max(0, next)))
  })
  new ResizeObserver(() => view.shown === undefined || show(view, view.shown)).observe(scroll)
  return view
}

function write(view, { tokens, known }) {
  view.tokens = tokens
  view.names = tokens.join("\n")
  view.scroll.classList.toggle("long", tokens.length > 14)
  const chip = (role) => (token, index) => {
    const item = document.createElement("div")
    item.className = known[index] ? "token" : "token unknown"
    item.setAttribute("role", role)
    item.id = `${role}-${index}`
    item.title = known[index] ? token : `${token}: no vector, zeros`
    const text = item.appendChild(document.createElement("bdi"))
    text.textContent = token
    return item
  }
  view.queries.replaceChildren(...tokens.map(chip("option")))
  view.shown = undefined
  view.keys.replaceChildren(...tokens.map(chip("listitem")))
  for (const key of view.keys.children) key.appendChild(document.createElement("small"))
  view.lines.replaceChildren(...tokens.map(() => document.createElementNS(SVG, "path")))
}

function choose(view, query) {
  const changed = query !== view.query
  view.query = query
  show(view, query)
  reveal(view)
  clearTimeout(view.pending)
  if (changed) view.pending = setTimeout(() => view.select(query), 60)
}

function show(view, query) {
  view.shown = query
  const n = view.tokens.length
  const row = view.rows.subarray(query * n, query * n + n)
  const most = row.reduce((most, weight) => (weight > most ? weight : most), 0) || 1
  const width = view.lines.clientWidth
  const places = [...view.keys.children].map((key) => key.offsetTop + key.offsetHeight / 2)
  const from = places[query]
  for (let key = 0; key < n; key++) {
    const weight = row[key]
    const masked = Number.isNaN(weight)
    const item = view.keys.children[key]
    item.classList.toggle("masked", masked)
    item.style.setProperty("--strength", masked ? 0 : weight / most)
    item.lastChild.textContent = masked ? "masked" : weight.toFixed(n > 64 ? 4 : 3)
    const line = view.lines.children[key]
    line.setAttribute("d", masked ? "" : `M0,${from} C${width / 2},${from} ${width / 2},${places[key]} ${width},${places[key]}`)
    line.style.strokeWidth = 0.75 + 7 * weight
    line.style.opacity = 0.08 + (0.8 * weight) / most
  }
  for (const [index, item] of [...view.queries.children].entries()) {
    item.setAttribute("aria-selected", index === view.query)
    item.classList.toggle("previewed", index === query && query !== view.query)
  }
  view.queries.setAttribute("aria-activedescendant", `option-${view.query}`)
  view.summary.textContent = summarise(view.tokens, row, query)
}

function summarise(tokens, row, query) {
  const order = [...row.keys()].filter((key) => row[key] > 0).sort((a, b) => row[b] - row[a])
  if (order.length === 0) return `“${tokens[query]}” may attend to nothing: weights and output are 0.`
  const name = (position) => `“${tokens[position]}”${tokens.indexOf(tokens[position]) === tokens.lastIndexOf(tokens[position]) ? "" : ` at ${position}`}`
  const named = order.slice(0, 2).map((key) => `${key === query ? "itself" : name(key)} (${row[key].toFixed(3)})`)
  return `${name(query)} attends most to ${named.join(", then ")}.`
}

function reveal(view) {
  const item = view.queries.children[view.query]
  if (!item) return
  const { scrollTop, clientHeight } = view.scroll
  if (item.offsetTop < scrollTop || item.offsetTop + item.offsetHeight > scrollTop + clientHeight)
    view.scroll.scrollTop = item.offsetTop - clientHeight / 2
}
