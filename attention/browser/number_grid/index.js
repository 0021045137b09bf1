import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {string[][]} Cells
    @typedef {ReturnType<typeof build>} View */

/** The buttons: what stands on them, what they do in words, and to the cells.
    @type {[string, string, (cells: Cells) => Cells][]} */
export const TOOLS = [
  ["+ row", "Add a row", (cells) => [...cells, Array(widthOf(cells)).fill("0")]],
  ["− row", "Take the last row away", (cells) => cells.slice(0, -1)],
  ["+ col", "Add a column", (cells) => cells.map((line) => [...line, "0"])],
  ["− col", "Take the last column away", (cells) => cells.map((line) => line.slice(0, -1))],
]

/** @type {(cells: Cells) => number} */
function widthOf(cells) {
  return Math.max(...cells.map((line) => line.length))
}

export default component(build, draw, null)

/** @param {Mount<"number_grid">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const caption = make("div", "caption", frame)
  const name = make("b", "", caption)
  const size = make("span", "", caption)
  const table = make("table", "", make("div", "scroll", frame))
  const tools = make("div", "tools", frame)
  const wrong = make("p", "wrong", frame, { role: "status" })
  const buttons = TOOLS.map(([textContent, title, change]) => {
    const words = { textContent, title, ariaLabel: `${textContent}: ${title}` }
    const button = make("button", "", tools, { type: "button", ...words })
    button.addEventListener("click", () => {
      view.content.cells = change(read(view))
      draw(view)
      send("cells", view.content.cells)
    })
    return button
  })
  const inputs = /** @type {HTMLInputElement[][]} */ ([])
  const typed = /** @type {EventTarget | null} */ (null)
  const view = {
    content,
    frame,
    name,
    size,
    tools,
    table,
    wrong,
    buttons,
    inputs,
    shape: "",
    typed,
  }
  table.addEventListener("input", ({ target }) => {
    view.typed = target
  })
  table.addEventListener("focusout", () => {
    view.typed = null
  })
  table.addEventListener("change", () => {
    view.typed = null
    send("cells", read(view))
  })
  table.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowDown: 1, Enter: 1 }[event.key]
    const input = event.target
    if (!step || !(input instanceof HTMLInputElement)) return
    event.preventDefault()
    const row = view.inputs.findIndex((line) => line.includes(input))
    const next = view.inputs[row + step]?.[view.inputs[row].indexOf(input)]
    if (next) next.focus()
    else input.blur()
  })
  return view
}

/** @type {(view: { inputs: HTMLInputElement[][] }) => Cells} */
function read({ inputs }) {
  return inputs.map((line) => line.map((input) => input.value.trim()))
}

/** Inputs are made anew only when their number changes, and an answer to an edit before leaves the
    one that is typed into as it is.
    @type {(view: View) => void} */
function draw(view) {
  const { name, cells, wrong, row, column, resizable, most } = view.content
  const shape = JSON.stringify(cells.map((line) => line.length))
  if (shape !== view.shape) {
    view.table.replaceChildren()
    view.inputs = cells.map((line) => {
      const tr = make("tr", "", view.table)
      return line.map(() => make("input", "", make("td", "", tr), { inputMode: "decimal" }))
    })
  }
  view.shape = shape
  view.name.textContent = name
  view.size.textContent = `${cells.length} × ${cells[0].length}`
  for (const [r, line] of cells.entries())
    for (const [c, text] of line.entries()) {
      const input = view.inputs[r][c]
      if (input !== view.typed && input.value.trim() !== text) input.value = text
      input.ariaLabel = `${name}, row ${r}, column ${c}`
      input.ariaInvalid = String(wrong !== "" && (row ?? r) === r && (column ?? c) === c)
    }
  const longest = Math.max(...cells.flat().map((text) => text.length))
  view.table.style.setProperty("--letters", String(Math.min(9, Math.max(2, longest))))
  view.wrong.textContent = wrong
  view.tools.hidden = !resizable
  const [more, fewer, wider, narrower] = view.buttons
  more.disabled = (cells.length + 1) * cells[0].length > most
  wider.disabled = cells.length * (cells[0].length + 1) > most
  fewer.disabled = cells.length < 2
  narrower.disabled = cells[0].length < 2
}
