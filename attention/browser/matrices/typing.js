import { cellAfter } from "../shared/cells.js"
import { make } from "../shared/elements.js"

/** @import { MatrixHeader as Part, TypedCell } from "../messages.js"

    An edit that can be taken back: where, and the text there before and after; null: not known yet.
    @typedef {{ matrix: number, row: number, column: number, before: string,
      after: string | null }} Edit

    What is typed into: matrices with the fields of their cells by row, the edits so far, the
    button that takes the last one back, and the field in which something is typed right now.
    @typedef {HTMLInputElement | null} Field
    @typedef {{ shown: { part: Part, fields?: Field[][] }[], edits: Edit[],
      undo: HTMLButtonElement, typing: EventTarget | null,
      send: (event: "typed", cell: TypedCell) => void }} Typed */

/** The field of a cell, above its number and unseen until it is typed into; none where nothing can
    be typed.
    @type {(part: Part, cell: HTMLElement, row: number, column: number) => Field} */
export function makeField(part, cell, row, column) {
  if (textAt(part, row, column) === null) return null
  cell.classList.add("typed")
  make("span", "", cell, { ariaHidden: "true" })
  const ariaLabel = `${part.name}, row ${row}, column ${column}`
  return make("input", "", cell, { type: "text", autocomplete: "off", ariaLabel })
}

/** The text of a cell; null: it cannot be typed.
    @type {(part: Part, row: number, column: number) => string | null} */
function textAt({ texts, columns }, row, column) {
  return texts[row * columns + column] ?? null
}

/** A number is taken as its field is left, by Enter, an arrow, Tab or a click elsewhere; Escape takes
    back what was typed, Ctrl+Z the number that was taken last.
    @type {(view: Typed, row: HTMLElement) => void} */
export function listenToTyping(view, row) {
  row.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLInputElement) target.select()
  })
  row.addEventListener("input", ({ target }) => {
    view.typing = target
  })
  row.addEventListener("focusout", ({ target }) => take(view, target))
  row.addEventListener("keydown", (event) => {
    const cell = cellOf(view, event.target)
    if (!cell) return
    const { field, part, at, fields } = cell
    const undoes = event.key === "z" && (event.ctrlKey || event.metaKey) && view.typing !== field
    const key = event.key !== "Enter" ? event.key : event.shiftKey ? "ArrowUp" : "ArrowDown"
    const next = leads(key, field) && cellAfter(key, at, part.rows, part.columns)
    if (event.key === "Escape") show(view, cell)
    else if (undoes) takeBack(view)
    else if (next) {
      const to = fields[next[0]][next[1]]
      if (to && to !== field) to.focus()
      else take(view, field)
    } else return
    event.preventDefault()
  })
  view.undo.addEventListener("click", () => takeBack(view))
}

/** True if a key leads to another cell: arrows to the side move within a text that is being changed.
    @type {(key: string, field: HTMLInputElement) => boolean} */
function leads(key, { value, selectionStart, selectionEnd }) {
  const all = selectionStart === 0 && selectionEnd === value.length
  if (key === "ArrowLeft") return all || selectionEnd === 0
  if (key === "ArrowRight") return all || selectionStart === value.length
  return key === "ArrowUp" || key === "ArrowDown"
}

/** @typedef {NonNullable<ReturnType<typeof cellOf>>} Cell
    @param {Typed} view
    @param {EventTarget | null} target */
function cellOf({ shown }, target) {
  for (const [matrix, { part, fields = [] }] of shown.entries())
    for (const [row, line] of fields.entries())
      for (const [column, field] of line.entries())
        if (field && field === target) {
          const at = /** @type {[number, number]} */ ([row, column])
          return { matrix, part, fields, field, at }
        }
  return null
}

/** Shows the number that stands in a cell, and chooses its text.
    @type {(view: Typed, cell: Cell) => void} */
function show(view, { field, part, at }) {
  view.typing = null
  field.value = textAt(part, ...at) ?? ""
  field.select()
}

/** @type {(view: Typed, target: EventTarget | null) => void} */
function take(view, target) {
  const cell = cellOf(view, target)
  if (!cell) return
  view.typing = null
  const { matrix, part, at, field } = cell
  const before = textAt(part, ...at) ?? ""
  if (field.value.trim() === before) return
  view.edits.push({ matrix, row: at[0], column: at[1], before, after: null })
  write(view, cell, field.value.trim())
}

/** @type {(view: Typed, cell: Cell, text: string) => void} */
function write(view, { matrix, part, at: [row, column], field }, text) {
  part.texts[row * part.columns + column] = text // until the server says what has become of it
  if (field.previousSibling) field.previousSibling.textContent = text
  view.send("typed", { matrix, row, column, text })
}

/** @type {(view: Typed) => void} */
function takeBack(view) {
  const edit = view.edits.pop()
  const field = edit && view.shown[edit.matrix]?.fields?.[edit.row]?.[edit.column]
  const cell = cellOf(view, field ?? null)
  view.undo.hidden = !view.edits.length
  if (!edit || !cell) return
  cell.field.value = edit.before
  write(view, cell, edit.before)
  cell.field.focus()
  cell.field.select()
}

/** Puts texts into the fields, but for the one that is typed into, and forgets edits of which
    something else has become meanwhile.
    @type {(view: Typed) => void} */
export function showTexts({ shown, edits, undo, typing }) {
  for (const { part, fields = [] } of shown)
    for (const [row, line] of fields.entries())
      for (const [column, field] of line.entries())
        if (field && field !== typing) {
          const text = textAt(part, row, column) ?? ""
          if (field.value !== text) field.value = text
        }
  const textOf = (/** @type {Edit} */ { matrix, row, column }) =>
    shown[matrix] ? textAt(shown[matrix].part, row, column) : null
  for (const edit of edits) edit.after ??= textOf(edit)
  while (edits.length && isOver(edits[edits.length - 1], textOf(edits[edits.length - 1])))
    edits.pop()
  undo.hidden = !edits.length
}

/** True if nothing is left to be taken back: the number was not taken, or has changed since.
    @type {(edit: Edit, now: string | null) => boolean} */
export function isOver({ before, after }, now) {
  return after === before || after !== now
}
