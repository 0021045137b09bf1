import { make } from "./elements.js"

const SOURCE = "component/attention.app.components.base.plotly_js/plotly.min.js"
/** As much of plotly.js as is used here, and of an element that it draws in.
    @import { HeatmapLayout } from "../messages.js"
    @typedef {{ react: (chart: HTMLElement, data: unknown[], layout: object, config: object | null)
      => Promise<void>, Plots: { resize: (chart: HTMLElement) => Promise<void> },
      Icons: { camera: object } }} Plotly
    @typedef {HTMLElement & { layout?: HeatmapLayout,
      on: (event: string, task: (told?: { points: { customdata?: unknown }[] }) => void) => void
    }} Chart */

/** @type {Promise<Plotly> | null} */
let plotly = null

/** plotly.js as its package ships it, loaded when it is first needed, unless a file holds it.
    @type {() => Promise<Plotly>} */
export function load() {
  plotly ??= new Promise((resolve, reject) => {
    const held = /** @type {{ Plotly?: Plotly } & typeof globalThis} */ (globalThis)
    if (held.Plotly) return resolve(held.Plotly)
    const src = new URL(SOURCE, document.baseURI).href
    const script = make("script", "", document.head, { src })
    script.onload = () => resolve(/** @type {Plotly} */ (held.Plotly))
    script.onerror = () => reject(new Error("plotly.js could not be loaded"))
  })
  return plotly
}

/** The font of a figure, in the theme's looks.
    @type {(element: Element) => { family: string, color: string }} */
export function fontOf(element) {
  const style = getComputedStyle(element)
  const [family, color] = ["font", "text-color"].map((name) =>
    style.getPropertyValue(`--st-${name}`),
  )
  return { family, color }
}
