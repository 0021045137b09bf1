import { make } from "./elements.js"

const ramps = new Map()

/** The theme's colours of a kind: sequential, diverging or categorical.
    @type {(element: Element, kind: string) => string[]} */
export function palette(element, kind) {
  const colours = getComputedStyle(element).getPropertyValue(`--st-chart-${kind}-colors`)
  return colours.split(",").map((colour) => colour.trim())
}

/** A colour scale as 512 opaque pixels, made once. An element that has just left the page has no
    colours; what is painted then is not seen.
    @type {(colours: string[]) => Uint32Array} */
export function ramp(colours) {
  const name = colours.join()
  if (!name) return new Uint32Array(512)
  if (!ramps.has(name)) ramps.set(name, makeRamp(colours))
  return ramps.get(name)
}

/** @type {(colours: string[]) => Uint32Array} */
function makeRamp(colours) {
  const canvas = new OffscreenCanvas(512, 1)
  const options = { willReadFrequently: true }
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (
    canvas.getContext("2d", options)
  )
  const gradient = context.createLinearGradient(0.5, 0, 511.5, 0)
  for (const [index, colour] of colours.entries())
    gradient.addColorStop(index / (colours.length - 1), colour)
  context.fillStyle = gradient
  context.fillRect(0, 0, 512, 1)
  return new Uint32Array(context.getImageData(0, 0, 512, 1).data.buffer)
}

/** Shows a scale of colours between its ends.
    @type {(element: HTMLElement, colours: string[], low: string, high: string) => void} */
export function writeScale(element, colours, low, high) {
  const scale = make("i", "")
  scale.style.background = `linear-gradient(to right, ${colours})`
  element.replaceChildren(low, scale, high)
}

/** @type {(pixel: number) => number[]} */
function channels(pixel) {
  return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]
}

/** @type {(pixel: number) => string} */
export function rgb(pixel) {
  return `rgb(${channels(pixel)})`
}

/** Black or white to write in over a colour, whichever stands out more: at least 4.5 to 1.
    Relative luminance is that of WCAG 2.2.
    @type {(pixel: number) => string} */
export function inkOn(pixel) {
  const [red, green, blue] = channels(pixel).map((byte) => {
    const share = byte / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff"
}

/** The pixel of a number on a scale from low to high; the ends stand for what lies beyond.
    @type {(number: number, low: number, high: number, shades: Uint32Array) => number} */
export function shadeOf(number, low, high, shades) {
  const share = (Math.min(high, Math.max(low, number)) - low) / (high - low)
  return shades[Math.round(share * (shades.length - 1))]
}
