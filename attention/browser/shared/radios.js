import { childrenOf, make, under, whenClicked } from "./elements.js"

/** Buttons of which one is chosen, by a click or an arrow key.
    @type {(parent: HTMLElement, name: string, ariaLabel: string, choose: (name: string) => void)
      => HTMLElement} */
export function makeRadios(parent, name, ariaLabel, choose) {
  const group = make("div", name, parent, { role: "radiogroup", ariaLabel })
  const chosen = (/** @type {HTMLElement} */ { dataset }) => choose(dataset.name ?? "")
  whenClicked(group, "button", chosen)
  leadKeys(group, "button", chosen)
  return group
}

/** Leads arrow keys from one button of a group to the next.
    @type {(group: HTMLElement, selector: string, reach?: (button: HTMLElement) => void) => void} */
export function leadKeys(group, selector, reach) {
  group.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key]
    const all = buttonsOf(group, selector)
    const at = all.indexOf(/** @type {HTMLElement} */ (under(event, selector)))
    if (!step || at < 0) return
    event.preventDefault()
    const next = (at + step + all.length) % all.length
    reachByTab(all, next)
    all[next].focus()
    reach?.(all[next])
  })
}

/** @type {(group: HTMLElement, selector: string) => HTMLElement[]} */
export function buttonsOf(group, selector) {
  return /** @type {HTMLElement[]} */ ([...group.querySelectorAll(selector)])
}

/** Has Tab reach one of several buttons alone.
    @type {(buttons: HTMLElement[], one: number) => void} */
export function reachByTab(buttons, one) {
  for (const [at, button] of buttons.entries()) button.tabIndex = at === one ? 0 : -1
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
