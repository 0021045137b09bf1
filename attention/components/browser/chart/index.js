import { component } from "../shared/component.js"
import { afterPaint, make } from "../shared/elements.js"
import { fontOf, load } from "../shared/plotly.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

/** A figure of plotly.js, which is large: what stands around it is painted first. */
export default component(build, draw)

/** @param {Mount<"chart">} mount */
function build({ root, content }) {
  return { content, frame: make("div", "attention-chart", root, { role: "img" }), width: 0 }
}

/** @type {(view: View) => void} */
function draw(view) {
  const { content, frame } = view
  view.width = frame.clientWidth
  frame.ariaLabel = content.label
  frame.style.minHeight = `${content.height}px`
  afterPaint(async () => {
    const Plotly = await load()
    if (view.content !== content || !view.width) return
    const layout = { ...content.layout, width: view.width, font: fontOf(frame) }
    await Plotly.react(frame, content.data, layout, { displayModeBar: false })
  })
}
