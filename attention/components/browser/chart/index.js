import { afterPaint, follow, make, viewIn } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { fontOf, load } from "../shared/plotly.js"

/** @import { Given, Place } from "../shared/message.js"
    @typedef {{ label: string, figure: { data: object[], layout: any } }} Content
    @typedef {{ frame: HTMLElement, width: number, content: Content }} View */

/** A figure of plotly.js, which is large: what stands around it is painted first.
    @type {(given: Given) => void} */
export default function ({ data, parentElement }) {
  const view = viewIn(parentElement, build)
  view.content = decode(data, "chart", 1)
  draw(view)
}

/** @type {(parent: Place, view: View) => void} */
function build(parent, view) {
  view.frame = make("div", "attention-chart", parent, { role: "img" })
  follow(view, parent, draw)
}

/** @type {(view: View) => void} */
function draw(view) {
  const { content, frame } = view
  const { label, figure } = content
  view.width = frame.clientWidth
  frame.ariaLabel = label
  frame.style.minHeight = `${figure.layout.height}px`
  afterPaint(async () => {
    const Plotly = await load()
    if (view.content !== content || !view.width) return
    const { width } = view
    const layout = { ...figure.layout, width, font: fontOf(frame) }
    await Plotly.react(frame, figure.data, layout, { displayModeBar: false })
  })
}
