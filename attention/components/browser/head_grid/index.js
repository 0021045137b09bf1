import { palette, ramp } from "../shared/colours.js"
import { make, settle, viewIn, whenThemed } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { countDrawing } from "../shared/painter.js"

const GAP = 8
const LABEL = 20
const MOST_HEIGHT = 470
const LARGEST = 230

export default function ({ data, parentElement, setTriggerValue }) {
  const view = viewIn(parentElement, build)
  view.content = decode(data)
  view.choose = (head) => setTriggerValue("head", head)
  draw(view)
}

function build(parent) {
  const frame = make("div", "frame", parent)
  const box = make("div", "box", frame)
  const canvas = make("canvas", "grid", box)
  canvas.setAttribute("aria-hidden", "true")
  const tiles = make("div", "tiles", box)
  tiles.setAttribute("role", "radiogroup")
  tiles.setAttribute("aria-label", "Heads; arrow keys move")
  const caption = make("p", "caption", frame)
  const view = { frame, box, canvas, tiles, caption, content: null, width: 0 }
  tiles.addEventListener("click", (event) => {
    const tile = event.target.closest("button")
    if (tile) choose(view, [...tiles.children].indexOf(tile))
  })
  tiles.addEventListener("keydown", (event) => step(view, event))
  new ResizeObserver(() => view.content && view.width !== frame.clientWidth && draw(view)).observe(frame)
  whenThemed(parent, () => view.content && draw(view))
  return view
}

/* As large as fits a screen, in as many columns as that takes; no dot ever shares a pixel. */
function places({ heads, rows, columns }, width) {
  const least = Math.max(rows, columns, 40)
  let best = null
  for (let across = 1; across <= heads; across++) {
    const side = Math.min(LARGEST, Math.floor((width - GAP * (across - 1)) / across))
    const down = Math.ceil(heads / across)
    const height = down * (side + LABEL + GAP) - GAP
    if (best && side < least) break
    if (!best || best.height > MOST_HEIGHT) best = { across, side, height }
  }
  return best
}

function draw(view) {
  const { heads, rows, columns, chosen, rest } = view.content
  view.width = view.frame.clientWidth
  if (!view.width) return
  const layout = (view.layout = places(view.content, view.width))
  const dpr = window.devicePixelRatio || 1
  const { canvas } = view
  const width = layout.across * (layout.side + GAP) - GAP
  view.box.style.width = `${width}px`
  view.box.style.height = canvas.style.height = `${layout.height}px`
  canvas.style.width = `${width}px`
  canvas.width = Math.round(width * dpr)
  canvas.height = Math.round(layout.height * dpr)
  const context = canvas.getContext("2d")
  context.imageSmoothingEnabled = false
  const shades = ramp(palette(view.frame, "sequential"))
  const small = Object.assign(make("canvas", ""), { width: columns, height: rows })
  const pencil = small.getContext("2d")
  const picture = pencil.createImageData(columns, rows)
  const pixels = new Uint32Array(picture.data.buffer)
  for (let head = 0; head < heads; head++) {
    for (let dot = 0; dot < pixels.length; dot++) pixels[dot] = shades[rest[head * pixels.length + dot] * 2]
    pencil.putImageData(picture, 0, 0)
    const [left, top] = corner(layout, head)
    context.drawImage(small, Math.round(left * dpr), Math.round((top + LABEL) * dpr), Math.round(layout.side * dpr), Math.round(layout.side * dpr))
  }
  countDrawing(canvas)
  lay(view, layout)
  mark(view, chosen)
  view.caption.textContent = words(view.content)
}

function corner({ across, side }, head) {
  return [(head % across) * (side + GAP), Math.floor(head / across) * (side + LABEL + GAP)]
}

function lay(view, layout) {
  const { heads } = view.content
  const hues = palette(view.frame, "categorical")
  if (view.tiles.children.length !== heads)
    view.tiles.replaceChildren(
      ...Array.from({ length: heads }, (_, head) => {
        const tile = make("button", "")
        tile.type = "button"
        tile.setAttribute("role", "radio")
        tile.setAttribute("aria-label", `Head ${head}`)
        const name = make("span", "", tile)
        make("i", "", name)
        name.append(`${head}`)
        make("b", "", tile)
        return tile
      }),
    )
  for (const [head, tile] of [...view.tiles.children].entries()) {
    const [left, top] = corner(layout, head)
    Object.assign(tile.style, { left: `${left}px`, top: `${top}px`, width: `${layout.side}px`, height: `${layout.side + LABEL}px` })
    tile.style.setProperty("--hue", hues[head % hues.length])
  }
}

function mark(view, chosen) {
  view.content.chosen = chosen
  for (const [head, tile] of [...view.tiles.children].entries()) {
    tile.setAttribute("aria-checked", head === chosen)
    tile.tabIndex = head === chosen ? 0 : -1
  }
}

function words({ block, tokens, saturated }) {
  const dot = block === 1 ? "one weight" : `the greatest of ${block} × ${block} weights, so that no strong one is lost`
  const darkest = saturated ? "the few greatest of a head share the last colour" : "the last colour is a head's greatest weight"
  return `Queries down, keys across, ${tokens} tokens. One dot is ${dot}; ${darkest}.`
}

function step(view, event) {
  const { heads, chosen } = view.content
  const { across } = view.layout
  const next = { ArrowLeft: chosen - 1, ArrowRight: chosen + 1, ArrowUp: chosen - across, ArrowDown: chosen + across, Home: 0, End: heads - 1 }[event.key]
  if (next === undefined) return
  event.preventDefault()
  if (next < 0 || next >= heads) return
  view.tiles.children[next].focus()
  choose(view, next)
}

function choose(view, head) {
  if (head === view.content.chosen) return
  mark(view, head)
  settle(view, 40, () => view.choose(head))
}
