import { hundredths, make, makeShape } from "./elements.js"
import { pencil } from "./painter.js"

/** @typedef {{ left: number, top: number, within: Element, ids: number }} Sheet */

const CONTROLS =
  "input, select, textarea, style, script, .stages, .tools, .bottom, .modebar-container, .attention-tip, .readout, .said"
const MOST_RECTANGLES = 20000
const LOOKS = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "opacity",
  "display",
]
const LETTERS = ["font-family", "font-size", "font-weight", "font-style"]
const NOT_IN_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

const FINER = 2 // pixels of a PNG file for each of the screen

/** Saves what is seen of some elements as an SVG file of that name.
    @type {(name: string, elements: Element[]) => void} */
export function saveFigure(name, elements) {
  save(`${name}.svg`, drawingOf(elements))
}

/** Saves what is seen of some elements as a PNG file of that name, finer than the screen.
    @type {(name: string, elements: Element[]) => Promise<void>} */
export async function savePicture(name, elements) {
  const src = URL.createObjectURL(drawingOf(elements))
  const image = make("img", "", null, { src })
  await image.decode()
  const [width, height] = [image.naturalWidth * FINER, image.naturalHeight * FINER]
  const canvas = make("canvas", "", null, { width, height })
  pencil(canvas).drawImage(image, 0, 0, width, height)
  URL.revokeObjectURL(src)
  canvas.toBlob((blob) => blob && save(`${name}.png`, blob))
}

/** Saves a file of that name.
    @type {(download: string, blob: Blob) => void} */
export function save(download, blob) {
  const href = URL.createObjectURL(blob)
  make("a", "", null, { href, download }).click()
  setTimeout(() => URL.revokeObjectURL(href), 10000)
}

/** @type {(elements: Element[]) => Blob} */
function drawingOf(elements) {
  return new Blob([svgOf(elements)], { type: "image/svg+xml" })
}

/** What is seen of some elements, as an SVG file: boxes, words, and each cell of a canvas.
    @type {(elements: Element[]) => string} */
function svgOf(elements) {
  const boxes = elements.map((element) => element.getBoundingClientRect())
  const left = Math.min(...boxes.map((box) => box.left))
  const top = Math.min(...boxes.map((box) => box.top))
  const width = Math.ceil(Math.max(...boxes.map((box) => box.right)) - left)
  const height = Math.ceil(Math.max(...boxes.map((box) => box.bottom)) - top)
  const root = makeShape("svg", { width, height, viewBox: `0 0 ${width} ${height}` })
  const app = document.querySelector(".stApp") ?? document.body
  root.append(makeShape("rect", { width, height, fill: getComputedStyle(app).backgroundColor }))
  const sheet = { left, top, within: root, ids: 0 }
  for (const each of elements) copy(sheet, each, 1)
  return new XMLSerializer().serializeToString(root)
}

/** @type {(sheet: Sheet, node: Element, opacity: number) => void} */
function copy(sheet, node, opacity) {
  const style = getComputedStyle(node)
  const unseen = style.display === "none" || style.visibility === "hidden"
  if (unseen || node.matches(CONTROLS)) return
  const seen = opacity * Number(style.opacity)
  if (node instanceof SVGSVGElement) return copyDrawing(sheet, node)
  if (node instanceof HTMLCanvasElement) return copyCanvas(sheet, node)
  copyBox(sheet, node.getBoundingClientRect(), style, seen)
  for (const child of (node.shadowRoot ?? node).childNodes) {
    if (child instanceof Text) copyWords(sheet, child, node, style, seen)
    else if (child instanceof Element) copy(sheet, child, seen)
  }
}

/** The ground, the border and the outline of a box.
    @type {(sheet: Sheet, box: DOMRect, style: CSSStyleDeclaration, opacity: number) => void} */
function copyBox(sheet, { left, top, width, height }, style, opacity) {
  if (!width || !height) return
  const at = { x: left - sheet.left, y: top - sheet.top, width, height, opacity }
  const rx = Number.parseFloat(style.borderTopLeftRadius) || 0
  const fill = groundOf(sheet, style)
  if (fill) sheet.within.append(makeShape("rect", { ...at, rx, fill }))
  const [border, outline] = [style.borderTopWidth, style.outlineWidth].map(Number.parseFloat)
  const framed = border && style.borderLeftStyle !== "none" && style.borderTopStyle !== "none"
  if (framed && style.borderLeftWidth === style.borderTopWidth)
    frame(sheet, at, -border / 2, { rx, stroke: style.borderTopColor, "stroke-width": border })
  else if (border && style.borderTopStyle !== "none")
    sheet.within.append(makeShape("rect", { ...at, height: border, fill: style.borderTopColor }))
  if (outline && style.outlineStyle !== "none") {
    const beyond = outline / 2 + Number.parseFloat(style.outlineOffset)
    frame(sheet, at, beyond, { rx, stroke: style.outlineColor, "stroke-width": outline })
  }
}

/** @type {(sheet: Sheet, at: Record<string, number>, beyond: number,
      looks: Record<string, string | number>) => void} */
function frame(sheet, { x, y, width, height, opacity }, beyond, looks) {
  const sides = { width: width + 2 * beyond, height: height + 2 * beyond }
  if (sides.width <= 0 || sides.height <= 0 || isClear(String(looks.stroke))) return
  const at = { x: x - beyond, y: y - beyond, ...sides, opacity }
  sheet.within.append(makeShape("rect", { ...at, ...looks, fill: "none" }))
}

/** @type {(colour: string) => boolean} */
function isClear(colour) {
  return colour === "transparent" || /[,/]\s*0\)$/.test(colour)
}

/** The fill of a box: a colour, hatching, or a scale of colours; nothing where it is clear.
    @type {(sheet: Sheet, style: CSSStyleDeclaration) => string} */
function groundOf(sheet, style) {
  const image = style.backgroundImage
  /** @type {string[]} */
  const colours = image.match(/(rgba?|oklab|oklch|color)\([^()]*\)/g) ?? []
  sheet.ids += 1
  const id = `ground-${sheet.ids}`
  if (image.startsWith("repeating-linear-gradient") && colours.length) {
    const size = { width: 7, height: 7, patternUnits: "userSpaceOnUse" }
    const pattern = makeShape("pattern", { id, ...size, patternTransform: "rotate(45)" })
    pattern.append(makeShape("rect", { width: 1.5, height: 7, fill: colours[0] }))
    sheet.within.append(pattern)
    return `url(#${id})`
  }
  if (image.startsWith("linear-gradient") && colours.length > 2 && !image.includes("px")) {
    const along = image.includes("to top") || image.includes("(0deg")
    const scale = makeShape("linearGradient", {
      id,
      x1: 0,
      y1: along ? 1 : 0,
      x2: along ? 0 : 1,
      y2: 0,
    })
    for (const [index, colour] of colours.entries())
      scale.append(
        makeShape("stop", { offset: index / (colours.length - 1), "stop-color": colour }),
      )
    sheet.within.append(scale)
    return `url(#${id})`
  }
  return isClear(style.backgroundColor) ? "" : style.backgroundColor
}

/** Words line by line as they stand, cut off where no more of them is seen.
    @type {(sheet: Sheet, text: Text, parent: Element, style: CSSStyleDeclaration,
      opacity: number) => void} */
function copyWords(sheet, text, parent, style, opacity) {
  if (!text.data.trim()) return
  const looks = Object.fromEntries(LETTERS.map((name) => [name, style.getPropertyValue(name)]))
  const more = { ...looks, fill: style.color, opacity, "dominant-baseline": "central" }
  const upright = style.writingMode === "horizontal-tb"
  for (const { words, box } of linesOf(text, upright)) {
    const [x, y] = [box.left - sheet.left, box.top - sheet.top]
    /** @type {Record<string, string | number>} */
    const position = upright
      ? { x, y: y + box.height / 2 }
      : {
          transform: `translate(${hundredths(x + box.width / 2)} ${hundredths(y + box.height)}) rotate(-90)`,
        }
    const written = makeShape("text", { ...position, ...more, "xml:space": "preserve" })
    const shown = shortened(words, parent, upright)
    written.textContent = shown.replace(NOT_IN_XML, "\uFFFD")
    // Where the font is missing, another one has to stand in for it in the same room.
    if (shown === words && upright)
      for (const [name, value] of Object.entries({
        textLength: hundredths(box.width),
        lengthAdjust: "spacingAndGlyphs",
      }))
        written.setAttribute(name, String(value))
    sheet.within.append(written)
  }
}

/** @type {(text: Text, upright: boolean) => { words: string, box: DOMRect }[]} */
function linesOf(text, upright) {
  const range = document.createRange()
  range.selectNodeContents(text)
  const whole = [...range.getClientRects()].filter((box) => box.width && box.height)
  const start = text.previousSibling ? text.data : text.data.trimStart()
  const words = text.nextSibling ? start : start.trimEnd()
  if (whole.length < 2 || !upright) return whole.slice(0, 1).map((box) => ({ words, box }))
  /** @type {{ words: string, box: DOMRect }[]} */
  const lines = []
  for (const { 0: words, index } of text.data.matchAll(/\S+/g)) {
    range.setStart(text, index)
    range.setEnd(text, index + words.length)
    const box = range.getBoundingClientRect()
    const last = lines.at(-1)
    if (!last || Math.abs(last.box.top - box.top) > 2) lines.push({ words, box })
    else {
      last.words += ` ${words}`
      last.box = new DOMRect(last.box.left, box.top, box.right - last.box.left, box.height)
    }
  }
  return lines
}

/** @type {(words: string, parent: Element, upright: boolean) => string} */
function shortened(words, parent, upright) {
  const clips = getComputedStyle(parent).overflowX !== "visible"
  const [room, needed] = upright
    ? [parent.clientWidth, parent.scrollWidth]
    : [parent.clientHeight, parent.scrollHeight]
  if (!clips || needed <= room) return words
  const letters = [...words]
  return `${letters.slice(0, Math.max(1, Math.floor((letters.length * room) / needed) - 1)).join("")}…`
}

/** What is SVG already, with the looks that styles of the page give it.
    @type {(sheet: Sheet, drawing: SVGSVGElement) => void} */
function copyDrawing(sheet, drawing) {
  const { left, top, width, height } = drawing.getBoundingClientRect()
  if (!width || !height) return
  const made = /** @type {SVGSVGElement} */ (drawing.cloneNode(true))
  const copies = made.querySelectorAll("*")
  for (const [index, each] of drawing.querySelectorAll("*").entries()) {
    const style = getComputedStyle(each)
    const names = each instanceof SVGTextElement ? [...LOOKS, ...LETTERS] : LOOKS
    for (const name of names) copies[index].setAttribute(name, style.getPropertyValue(name))
    copies[index].removeAttribute("style")
    if (style.visibility === "hidden") copies[index].setAttribute("data-unseen", "")
  }
  for (const each of made.querySelectorAll("[data-unseen]")) each.remove()
  const at = { x: left - sheet.left, y: top - sheet.top, width, height, overflow: "visible" }
  for (const [name, value] of Object.entries(at)) made.setAttribute(name, String(value))
  made.removeAttribute("style")
  sheet.within.append(made)
}

/** A canvas as rectangles of one colour each, or as an image where that would be too many.
    @type {(sheet: Sheet, canvas: HTMLCanvasElement) => void} */
function copyCanvas(sheet, canvas) {
  const { left, top, width, height } = canvas.getBoundingClientRect()
  if (!canvas.width || !canvas.height || !width || !height) return
  const pixels = new Uint32Array(
    pencil(canvas).getImageData(0, 0, canvas.width, canvas.height).data.buffer,
  )
  const found = rectangles(pixels, canvas.width, MOST_RECTANGLES)
  const at = { x: left - sheet.left, y: top - sheet.top }
  if (!found) {
    sheet.within.append(makeShape("image", { ...at, width, height, href: canvas.toDataURL() }))
    return
  }
  const scale = `scale(${width / canvas.width} ${height / canvas.height})`
  const transform = `translate(${hundredths(at.x)} ${hundredths(at.y)}) ${scale}`
  const group = makeShape("g", { transform, "shape-rendering": "crispEdges" })
  for (const { pixel, ...box } of found) {
    const [red, green, blue, alpha] = [0, 8, 16, 24].map((shift) => (pixel >>> shift) & 255)
    const looks = { fill: `rgb(${red},${green},${blue})`, "fill-opacity": alpha / 255 }
    group.append(makeShape("rect", { ...box, ...looks }))
  }
  sheet.within.append(group)
}

/** Pixels as rectangles of one colour: runs in a row, together with those of equal rows below.
    Nothing where there are more than `most`. What is clear is left out.
    @typedef {{ x: number, y: number, width: number, height: number, pixel: number }} Rectangle
    @type {(pixels: Uint32Array, columns: number, most: number) => Rectangle[] | null} */
export function rectangles(pixels, columns, most) {
  /** @type {Rectangle[]} */
  const found = []
  const rows = pixels.length / columns
  for (let y = 0; y < rows; ) {
    const row = pixels.subarray(y * columns, (y + 1) * columns)
    let height = 1
    while (
      y + height < rows &&
      row.every((pixel, x) => pixels[(y + height) * columns + x] === pixel)
    )
      height += 1
    for (let x = 0; x < columns; ) {
      let width = 1
      while (x + width < columns && row[x + width] === row[x]) width += 1
      if (row[x] >>> 24) found.push({ x, y, width, height, pixel: row[x] })
      x += width
    }
    if (found.length > most) return null
    y += height
  }
  return found
}
