import { component, isAnswered } from "../shared/component.js"
import { make, whenClicked } from "../shared/elements.js"
import { keepFocus } from "../shared/focus.js"
import * as heads from "../shared/head_map.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

export default component(build, draw)

/** All heads of a model, coloured by a number of their passports, and a list of the first by it.
    @param {Mount<"head_atlas">} mount */
function build({ root, content, send }) {
  const frame = make("div", "frame", root)
  const bar = make("div", "bar", frame)
  const menuLabel = make("label", "", bar, { textContent: "Tiles show" })
  const menu = make("select", "", menuLabel)
  const scale = make("i", "scale", bar, { ariaHidden: "true" })
  const legend = make("p", "legend", bar)
  const left = make("div", "left", frame)
  const map = heads.makeMap(left, "All heads; arrow keys move", {
    point: (head) => point(view, head),
    choose: (head) => choose(view, head),
  })
  const below = make("div", "below", left)
  const told = make("p", "told", below, { ariaLive: "polite" })
  const side = make("div", "side", frame)
  const count = make("p", "count", side, { role: "status" })
  const list = make("ol", "", side)
  const view = {
    ...{ content, frame, menu, scale, legend, map, told },
    ...{ count, list, send, width: 0, pointed: -1 },
  }
  menu.addEventListener("change", () => {
    Object.assign(view.content, { shade: menu.value, said: [], listed: [], listedWords: "" })
    paint(view)
    tell(view)
    drawList(view)
    send("shade", menu.value)
  })
  menuLabel.hidden = !isAnswered(content, "shade")
  whenClicked(list, "button", ({ dataset }) => choose(view, Number(dataset.head)))
  return view
}

/** @type {(view: View) => void} */
function draw(view) {
  const { groups, shade } = view.content
  view.width = view.frame.clientWidth
  if (!view.width) return
  heads.layBeside(view)
  heads.writeMenu(view.menu, groups, shade)
  lay(view)
  paint(view)
  tell(view)
  drawList(view)
}

/** @type {(view: View) => void} */
function lay({ map, content }) {
  const { told, said } = content
  heads.layMap(map, content, (head) => `${told[head]} ${said[head] ?? ""}`)
}

/** @type {(view: View) => void} */
function paint(view) {
  const { map, frame, content } = view
  const { shade, legends, blue, layers } = content
  const count = layers.length * content.heads
  const first = Object.keys(legends).indexOf(shade) * count
  const numbers = content.numbers.subarray(first, first + count)
  heads.tellColours(view, content, shade)
  const fills = heads.fillsOf(frame, content, shade, numbers)
  heads.paintTiles(map, frame, content, blue.includes(shade), fills)
}

/** Tells of the head that is pointed at, else of the chosen one.
    @type {(view: View) => void} */
function tell({ told, content, pointed }) {
  const head = pointed < 0 ? content.chosen : pointed
  told.replaceChildren()
  make("b", "", told, { textContent: `${heads.nameOf(content, head)} ` })
  told.append(content.told[head] ?? "")
  const said = content.said[head]
  if (said) make("span", "", told, { textContent: ` · ${content.shade}: ${said}` })
}

/** @type {(view: View) => void} */
function drawList({ count, list, content }) {
  count.textContent = content.listedWords
  list.replaceChildren(...content.listed.map((head) => itemOf(head, content)))
}

/** @type {(head: number, content: View["content"]) => HTMLElement} */
function itemOf(head, content) {
  const item = make("li", "")
  const button = make("button", "", item, { type: "button" })
  button.dataset.head = String(head)
  if (head === content.chosen) button.ariaCurrent = "true"
  make("b", "", button, { textContent: heads.nameOf(content, head) })
  make("span", "", button, { textContent: `${content.said[head]} · ${content.told[head]}` })
  return item
}

/** @type {(view: View, head: number) => void} */
function point(view, head) {
  if (head === view.pointed) return
  view.pointed = head
  tell(view)
}

/** @type {(view: View, head: number) => void} */
function choose(view, head) {
  if (!isAnswered(view.content, "head")) return
  view.pointed = -1
  const { content } = view
  if (head !== content.chosen) {
    content.chosen = head
    view.send("head", head, 40)
  }
  lay(view)
  paint(view)
  tell(view)
  keepFocus(view.list, () => drawList(view))
}
