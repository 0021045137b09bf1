const INK = "#17212b"
const ramps = new Map()

/* The theme's colours of a kind: sequential, diverging or categorical. */
export function palette(element, kind) {
  const colours = getComputedStyle(element).getPropertyValue(`--st-chart-${kind}-colors`)
  return colours.split(",").map((colour) => colour.trim())
}

/* A colour scale as 512 opaque pixels, made once. */
export function ramp(colours) {
  const name = colours.join()
  if (!ramps.has(name)) ramps.set(name, makeRamp(colours))
  return ramps.get(name)
}

export function makeRamp(colours) {
  const context = Object.assign(document.createElement("canvas"), { width: 512, height: 1 }).getContext("2d", { willReadFrequently: true })
  const gradient = context.createLinearGradient(0.5, 0, 511.5, 0)
  for (const [index, colour] of colours.entries()) gradient.addColorStop(index / (colours.length - 1), colour)
  context.fillStyle = gradient
  context.fillRect(0, 0, 512, 1)
  return new Uint32Array(context.getImageData(0, 0, 512, 1).data.buffer)
}

export function channels(pixel) {
  return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]
}

export function rgb(pixel) {
  return `rgb(${channels(pixel)})`
}

/* A colour to write in over another. */
export function inkOn(pixel) {
  const [red, green, blue] = channels(pixel)
  return 0.3 * red + 0.59 * green + 0.11 * blue > 140 ? INK : "#fff"
}

/* The pixel of a number on a scale from low to high; the ends stand for what lies beyond. */
export function shadeOf(number, low, high, shades) {
  return shades[Math.round(((Math.min(high, Math.max(low, number)) - low) / (high - low)) * (shades.length - 1))]
}
