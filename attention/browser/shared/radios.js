import { childrenOf, make, under } from "./elements.js"

/** Buttons of which one is chosen, by a click or an arrow key.
    @type {(parent: HTMLElement, name: string, ariaLabel: string, choose: (name: string) => void)
      => HTMLElement} */
export function makeRadios(parent, name, ariaLabel, choose) {
  const group = make("div", name, parent, { role: "radiogroup", ariaLabel })
  group.addEventListener("click", (event) => {
    const button = under(event, "button")
    if (button) choose(button.dataset.name ?? "")
  })
  group.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key]
    const all = childrenOf(group)
    if (!step || !all.length) return
    event.preventDefault()
    const at = all.findIndex((button) => button.ariaChecked === "true")
    const next = all[(at + step + all.length) % all.length]
    next.focus()
    choose(next.dataset.name ?? "")
  })
  return group
}

/** Writes names and titles of what one chooses from, and marks the chosen one.
    @type {(group: HTMLElement, choices: [string, string][], chosen: string) => HTMLElement[]} */
export function writeRadios(group, choices, chosen) {
  while (group.children.length > choices.length) group.lastElementChild?.remove()
  return choices.map(([name, textContent], at) => {
    const button =
      childrenOf(group)[at] ?? make("button", "", group, { type: "button", role: "radio" })
    const [ariaChecked, tabIndex] = [String(name === chosen), name === chosen ? 0 : -1]
    Object.assign(button, { textContent, ariaChecked, tabIndex })
    button.dataset.name = name
    return button
  })
}
