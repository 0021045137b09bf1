import { component } from "../shared/component.js"
import { afterPaint, make } from "../shared/elements.js"
import { fontOf, load } from "../shared/plotly.js"

/** @import { Mount } from "../shared/component.js"
    @import { Chart } from "../shared/plotly.js"
    @typedef {ReturnType<typeof build>} View */

// What words of a lesson light, by the names that others know it by, as plotly.js has it.
const PARTS = {
  arrow: ".annotation-arrow-g",
  dots: ".scatterlayer .trace:nth-last-child(2) .points",
  left: ".draglayer .xy .nsewdrag",
  right: ".draglayer .x2y2 .nsewdrag",
}

/** A figure of plotly.js, which is large: what stands around it is painted first. */
export default component(build, draw)

/** @param {Mount<"chart">} mount */
function build({ root, content, send }) {
  const frame = make("div", "attention-chart", root, { role: "img" })
  return { content, frame, width: 0, listening: false, send }
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
    for (const [name, selector] of Object.entries(PARTS))
      frame.querySelector(selector)?.setAttribute("data-part", name)
    if (!view.listening) listen(view)
  })
}

/** A click on a point that has a number sends it.
    @type {(view: View) => void} */
function listen(view) {
  view.listening = true
  const chart = /** @type {Chart} */ (/** @type {HTMLElement} */ (view.frame))
  chart.on("plotly_click", (clicked) => {
    const [point] = [clicked?.points[0]?.customdata].flat()
    if (typeof point === "number") view.send("point", point)
  })
}
