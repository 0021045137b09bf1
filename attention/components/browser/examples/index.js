import { make, viewIn } from "../shared/elements.js"

export default function ({ data, parentElement, setTriggerValue }) {
  const view = viewIn(parentElement, build)
  view.choose = (index) => setTriggerValue("example", index)
  view.words.textContent = data.words
  if (view.list.children.length !== data.texts.length) view.list.replaceChildren(...data.texts.map(() => Object.assign(make("button", ""), { type: "button" })))
  for (const [index, button] of [...view.list.children].entries()) button.textContent = data.texts[index]
}

function build(parent) {
  const frame = make("div", "frame", parent)
  const words = make("span", "", frame)
  const list = make("div", "list", frame)
  list.setAttribute("role", "group")
  list.setAttribute("aria-label", "Examples")
  const view = { words, list }
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button")
    if (button) view.choose([...list.children].indexOf(button))
  })
  return view
}
