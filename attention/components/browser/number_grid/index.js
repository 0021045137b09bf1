import { make, viewIn } from "../shared/elements.js"

export default function ({ data, parentElement, setTriggerValue }) {
  const view = viewIn(parentElement, build)
  view.send = (cells) => setTriggerValue("cells", cells)
  view.cells = data.cells
  view.most = data.most
  write(view, data)
}

function build(parent) {
  const frame = make("div", "frame", parent)
  const caption = make("div", "caption", frame)
  const name = make("b", "", caption)
  const size = make("span", "", caption)
  const table = make("table", "", make("div", "scroll", frame))
  const tools = make("div", "tools", frame)
  const wrong = make("p", "wrong", frame)
  wrong.setAttribute("role", "status")
  const view = { name, size, tools, table, wrong, inputs: [] }
  const tool = (text, words, change) => {
    const button = make("button", "", tools)
    button.type = "button"
    button.textContent = text
    button.title = words
    button.setAttribute("aria-label", words)
    button.addEventListener("click", () => view.send(change(read(view))))
    return button
  }
  const width = (cells) => Math.max(...cells.map((line) => line.length))
  view.buttons = [
    tool("+ row", "Add a row", (cells) => [...cells, Array(width(cells)).fill("0")]),
    tool("− row", "Take the last row away", (cells) => cells.slice(0, -1)),
    tool("+ col", "Add a column", (cells) => cells.map((line) => [...line, "0"])),
    tool("− col", "Take the last column away", (cells) => cells.map((line) => line.slice(0, -1))),
  ]
  table.addEventListener("change", () => view.send(read(view)))
  table.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1, Enter: 1 }[event.key]
    const place = event.target.place
    if (!step || !place) return
    event.preventDefault()
    const next = view.inputs[place[0] + step]?.[place[1]]
    if (next) next.focus()
    else event.target.blur()
  })
  return view
}

function read(view) {
  return view.inputs.map((line) => line.map((input) => input.value.trim()))
}

/* Inputs are made anew only when their number changes, so that typing keeps its place. */
function write(view, { name, cells, wrong, row, column, resizable }) {
  const shape = JSON.stringify(cells.map((line) => line.length))
  if (shape !== view.shape) {
    view.shape = shape
    view.table.replaceChildren()
    view.inputs = cells.map((line, row) => {
      const tr = make("tr", "", view.table)
      return line.map((_, column) => {
        const input = make("input", "", make("td", "", tr))
        input.inputMode = "decimal"
        input.place = [row, column]
        return input
      })
    })
  }
  view.name.textContent = name
  view.size.textContent = `${cells.length} × ${cells[0].length}`
  cells.forEach((line, r) =>
    line.forEach((text, c) => {
      const input = view.inputs[r][c]
      if (input.value.trim() !== text) input.value = text
      input.setAttribute("aria-label", `${name}, row ${r}, column ${c}`)
      input.setAttribute("aria-invalid", String(wrong !== "" && (row ?? r) === r && (column ?? c) === c))
    }),
  )
  view.wrong.textContent = wrong
  view.tools.hidden = !resizable
  const [more, fewer, wider, narrower] = view.buttons
  more.disabled = (cells.length + 1) * cells[0].length > view.most
  wider.disabled = cells.length * (cells[0].length + 1) > view.most
  fewer.disabled = cells.length < 2
  narrower.disabled = cells[0].length < 2
}
