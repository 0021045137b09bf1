import { shadeOf } from "./colours.js"

/* Paints numbers, one pixel each, and gives the pixels; what is no number stays clear. */
export function paintNumbers(canvas, columns, numbers, [low, high], shades) {
  const picture = new ImageData(columns, numbers.length / columns)
  const pixels = new Uint32Array(picture.data.buffer)
  for (let cell = 0; cell < numbers.length; cell++) if (!Number.isNaN(numbers[cell])) pixels[cell] = shadeOf(numbers[cell], low, high, shades)
  Object.assign(canvas, { width: picture.width, height: picture.height })
  canvas.getContext("2d").putImageData(picture, 0, 0)
  return pixels
}

/* Counts what has been drawn, for those who wait for it. */
export function countDrawing(element) {
  element.dataset.version = Number(element.dataset.version ?? 0) + 1
}
