import { component } from "../shared/component.js"
import { make } from "../shared/elements.js"

/** @import { Changes } from "../messages.js"
    @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

export default component(build, draw, null)

/** @param {Mount<"sizes">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  return { content, frame, buttons: /** @type {HTMLButtonElement[][]} */ ([]), outline: "", send }
}

/** Buttons are made anew only where other stacks or changes are there.
    @type {(view: View) => void} */
function draw(view) {
  const { stacks } = view.content
  const outline = JSON.stringify(stacks.map(({ stack, changes }) => [stack, Object.keys(changes)]))
  if (outline !== view.outline) view.buttons = lay(view)
  view.outline = outline
  for (const [line, { changes }] of stacks.entries())
    for (const [at, possible] of Object.values(changes).entries())
      view.buttons[line][at].disabled = !possible
}

/** Of each stack a line: "A  − + row  − + column".
    @type {(view: View) => HTMLButtonElement[][]} */
function lay({ frame, content: { stacks }, send }) {
  frame.replaceChildren()
  return stacks.map(({ stack, label, changes }) => {
    const line = make("div", "line", frame, { role: "group", ariaLabel: `Size of ${label}` })
    make("b", "", line, { textContent: label })
    const pairs = new Map()
    return Object.keys(changes).map((change) => {
      const [sign, what] = [change[0], change.slice(2)]
      const pair = pairs.get(what) ?? make("span", "pair", line, { textContent: what })
      pairs.set(what, pair)
      const words = { textContent: sign, ariaLabel: `${change} of ${label}`, title: change }
      const button = make("button", "", pair, { type: "button", ...words })
      button.addEventListener("click", () => send("resized", { stack, change }))
      return button
    })
  })
}
