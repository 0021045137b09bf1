import { make } from "./elements.js"

const SOURCE = "component/attention.components.base.plotly_js/plotly.min.js"
/** @type {Promise<any> | null} */
let plotly = null

/** plotly.js as its package ships it, loaded when it is first needed.
    @type {() => Promise<any>} */
export function load() {
  plotly ??= new Promise((resolve, reject) => {
    const src = new URL(SOURCE, document.baseURI).href
    const script = make("script", "", document.head, { src })
    script.onload = () => resolve(/** @type {any} */ (window).Plotly)
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
