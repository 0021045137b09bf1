import { shadeOf } from "./colours.js"
import { make } from "./elements.js"

/** Numbers row by row, and the lowest and the highest number of a colour scale.
    @typedef {Float32Array | Float64Array | Uint8Array} Numbers
    @typedef {[number, number]} Scale
    @typedef {{ size: number, ground: string, width: number, height: number }} Gaps */

/** The pixels of numbers; what is no number stays clear.
    @type {(numbers: Numbers, scale: Scale, shades: Uint32Array) => Uint32Array<ArrayBuffer>} */
export function pixelsOf(numbers, [low, high], shades) {
  const pixels = new Uint32Array(numbers.length)
  for (let cell = 0; cell < numbers.length; cell++)
    if (!Number.isNaN(numbers[cell])) pixels[cell] = shadeOf(numbers[cell], low, high, shades)
  return pixels
}

/** Paints a matrix, one pixel each number or with gaps between the cells, and gives the pixels.
    @type {(canvas: HTMLCanvasElement, columns: number, numbers: Numbers, scale: Scale,
      shades: Uint32Array, gaps?: Gaps) => Uint32Array} */
export function paintNumbers(canvas, columns, numbers, scale, shades, gaps) {
  const pixels = pixelsOf(numbers, scale, shades)
  const picture = new ImageData(new Uint8ClampedArray(pixels.buffer), columns)
  const whole = gaps?.size ? make("canvas", "") : canvas
  Object.assign(whole, { width: columns, height: picture.height })
  pencil(whole).putImageData(picture, 0, 0)
  if (gaps?.size) moveApart(canvas, whole, gaps)
  return pixels
}

/** Gaps beside cells are closed below: else the hatching of masked ones would show through.
    @type {(canvas: HTMLCanvasElement, cells: HTMLCanvasElement, gaps: Gaps) => void} */
function moveApart(canvas, cells, { size, ground, ...whole }) {
  const [width, height] = [Math.round(whole.width), Math.round(whole.height)]
  Object.assign(canvas, { width, height })
  const context = pencil(canvas)
  context.imageSmoothingEnabled = false
  context.drawImage(cells, 0, 0, width, height)
  for (let column = 1; column < cells.width; column++)
    context.clearRect(Math.round((column * width) / cells.width) - size, 0, size, height)
  for (let row = 1; row < cells.height; row++)
    context.clearRect(0, Math.round((row * height) / cells.height) - size, width, size)
  const below = Object.assign(pencil(cells), { fillStyle: ground })
  below.globalCompositeOperation = "source-in"
  below.fillRect(0, 0, cells.width, cells.height)
  context.globalCompositeOperation = "destination-over"
  context.drawImage(cells, 0, 0, width, height)
}

/** @type {(canvas: HTMLCanvasElement) => CanvasRenderingContext2D} */
export function pencil(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"))
}

/** A canvas of that size with a dot for each of the screen's, to draw on.
    @type {(canvas: HTMLCanvasElement, width: number, height: number) => CanvasRenderingContext2D} */
export function sharp(canvas, width, height) {
  const dots = window.devicePixelRatio || 1
  canvas.width = Math.round(width * dots)
  canvas.height = Math.round(height * dots)
  const context = pencil(canvas)
  context.scale(dots, dots)
  return context
}

/** Counts what has been drawn, for those who wait for it.
    @type {(element: HTMLElement) => void} */
export function countDrawing(element) {
  element.dataset.version = String(Number(element.dataset.version ?? 0) + 1)
}
