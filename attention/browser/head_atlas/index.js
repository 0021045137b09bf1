import { palette, ramp, rgb, shadeOf } from "../shared/colours.js"
import { component } from "../shared/component.js"
import { make, under } from "../shared/elements.js"
import { keepFocus } from "../shared/focus.js"
import * as heads from "../shared/head_map.js"
import { countDrawing } from "../shared/painter.js"

/** @import { Mount } from "../shared/component.js"
    @import { ShadeSaid } from "../messages.js"
    @typedef {ReturnType<typeof build>} View */

const SIDE = 19 * 16
const BETWEEN = 36
const NARROW = 884
const ORANGE = "#d97706"

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
  list.addEventListener("click", (event) => {
    const button = under(event, "button")
    if (button) choose(view, Number(button.dataset.head))
  })
  return view
}

/** @type {(view: View) => void} */
function draw(view) {
  view.width = view.frame.clientWidth
  if (!view.width) return
  const narrow = view.width < NARROW
  view.frame.classList.toggle("narrow", narrow)
  view.map.layout = heads.layoutOf(view.content, view.width - (narrow ? 0 : SIDE + BETWEEN))
  drawMenu(view)
  lay(view)
  paint(view)
  tell(view)
  drawList(view)
  countDrawing(view.map.canvas)
}

/** @type {(view: View) => void} */
function drawMenu({ menu, content }) {
  const groups = [...new Set(content.shades.map(({ group }) => group))]
  menu.replaceChildren(
    ...groups.map((name) => {
      const group = make("optgroup", "", null, { label: name })
      for (const shade of content.shades.filter((each) => each.group === name))
        make("option", "", group, { value: shade.name, textContent: shade.name })
      return group
    }),
  )
  menu.value = content.shade
}

/** The shade of the tiles, and its numbers.
    @type {(content: View["content"]) => { shade: ShadeSaid, numbers: Float32Array }} */
function shown(content) {
  const at = content.shades.findIndex(({ name }) => name === content.shade)
  const count = content.layers.length * content.heads
  return {
    shade: content.shades[at],
    numbers: content.numbers.subarray(at * count, (at + 1) * count),
  }
}

/** @type {(view: View) => void} */
function lay({ map, content }) {
  const count = content.layers.length * content.heads
  const tiles = heads.layMap(map, map.layout, count, content.chosen)
  for (const [head, tile] of tiles.entries()) {
    const layer = content.layers[Math.floor(head / content.heads)]
    tile.ariaLabel = `${layer}, head ${head % content.heads}`
    tile.ariaDescription = `${content.told[head]} ${content.said[head] ?? ""}`
    tile.hidden = content.absent.includes(head)
  }
  heads.nameTiles(map, content)
}

/** @type {(view: View) => void} */
function paint({ map, frame, content, scale, legend }) {
  const { shade, numbers } = shown(content)
  const colours = palette(frame, shade.around0 ? "diverging" : "sequential")
  legend.textContent = shade.legend
  scale.style.background = `linear-gradient(to right, ${colours})`
  const shades = ramp(colours)
  const ground = palette(frame, "sequential")[0] || "#fff"
  const ink = getComputedStyle(frame).color
  const low = shade.around0 ? -shade.darkest : 0
  const sign = shade.around0 ? -shade.sign : 1 // blue says more, orange less
  const fills = Array.from(numbers, (number, head) => {
    if (content.absent.includes(head)) return null
    return Number.isNaN(number) ? ground : rgb(shadeOf(sign * number, low, shade.darkest, shades))
  })
  const context = heads.paintTiles(map, fills)
  const mark = shade.around0 ? ink : ORANGE
  heads.outlineTile(context, map, content.chosen, 3, mark)
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
