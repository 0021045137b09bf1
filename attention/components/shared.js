/* What the components have in common; it stands before the script of each. */
const INK = "#17212b"
const KEYS_OF_ROWS = { ArrowUp: (at) => at - 1, ArrowDown: (at) => at + 1, Home: () => 0, End: (at, last) => last, Enter: (at) => at }
const views = new WeakMap()
const ramps = new Map()

/* What stands in a place already, or what is built there now. */
function viewIn(parent, build) {
  if (!views.has(parent)) views.set(parent, build(parent))
  return views.get(parent)
}

/* Takes apart what `message` in Python puts together: its header, and the numbers behind it. */
function decode(data) {
  const size = new DataView(data.buffer, data.byteOffset, 4).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + size)))
  const end = 4 + size + 4 * header.floats
  return { ...header, numbers: new Float32Array(data.slice(4 + size, end).buffer), rest: data.subarray(end) }
}

function make(tag, name, parent) {
  const element = document.createElement(tag)
  element.className = name
  parent?.appendChild(element)
  return element
}

/* A token as text: nothing in it is read as HTML. */
function makeName(tag, name, parent, token) {
  const element = make(tag, name, parent)
  element.title = token
  make("bdi", "", element).textContent = token
  return element
}

/* A token to choose or to read a weight beside. */
function makeChip(role, known, token, index) {
  const chip = makeName("div", known ? "token" : "token unknown", null, token)
  chip.setAttribute("role", role)
  chip.id = `${role}-${index}`
  if (role === "option") chip.setAttribute("aria-selected", "false")
  if (!known) chip.title = `${token}: no vector, zeros`
  return chip
}

/* Runs a task after the next frame is on the screen: the heatmap, which is awaited, goes first. */
function afterPaint(task) {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = task
    port2.postMessage(null)
  })
}

/* Runs the last of a view's tasks once none has come for a while. */
function settle(view, milliseconds, task) {
  clearTimeout(view.pending)
  view.pending = setTimeout(task, milliseconds)
}

function whenThemed(parent, task) {
  const themed = (parent.host ?? parent).closest("[style*='--st-']") ?? document.body
  new MutationObserver(() => requestAnimationFrame(task)).observe(themed, { attributes: true, attributeFilter: ["style"] })
}

/* Arrow keys, Home, End and Enter choose a row; `standing` gives the chosen one and how many there are. */
function chooseByKeys(element, standing, choose) {
  element.addEventListener("keydown", (event) => {
    const [at, count] = standing()
    const next = KEYS_OF_ROWS[event.key]?.(at, count - 1)
    if (next === undefined) return
    event.preventDefault()
    choose(Math.min(count - 1, Math.max(0, next)))
  })
}

/* A list of query tokens: pointing at one shows its row for the moment, a click or a key chooses it. */
function listenToQueries(view, show, reveal) {
  const { queries } = view
  queries.tabIndex = 0
  queries.setAttribute("role", "listbox")
  queries.setAttribute("aria-label", "Choose a query token; arrow keys move")
  const position = (event) => view.options.indexOf(event.target.closest(".token"))
  const choose = (query) => {
    const changed = query !== view.query
    view.query = query
    show(view, query)
    reveal(view)
    if (changed) settle(view, 60, () => view.select(query))
  }
  queries.addEventListener("pointerover", (event) => position(event) >= 0 && show(view, position(event)))
  queries.addEventListener("pointerleave", () => show(view, view.query))
  queries.addEventListener("click", (event) => position(event) >= 0 && choose(position(event)))
  chooseByKeys(queries, () => [view.query, view.options.length], choose)
}

/* Marks the chosen query, and the one whose row is shown for the moment. */
function markQueries(view, query) {
  for (const option of view.queries.querySelectorAll("[aria-selected=true], .previewed")) {
    option.setAttribute("aria-selected", "false")
    option.classList.remove("previewed")
  }
  view.options[view.query]?.setAttribute("aria-selected", "true")
  if (query !== view.query) view.options[query]?.classList.add("previewed")
  view.queries.setAttribute("aria-activedescendant", `option-${view.query}`)
}

/* The theme's colours of a kind: sequential, diverging or categorical. */
function palette(element, kind) {
  const colours = getComputedStyle(element).getPropertyValue(`--st-chart-${kind}-colors`)
  return colours.split(",").map((colour) => colour.trim())
}

/* A colour scale as 512 opaque pixels, made once. */
function ramp(colours) {
  const name = colours.join()
  if (!ramps.has(name)) ramps.set(name, makeRamp(colours))
  return ramps.get(name)
}

function makeRamp(colours) {
  const context = Object.assign(document.createElement("canvas"), { width: 512, height: 1 }).getContext("2d", { willReadFrequently: true })
  const gradient = context.createLinearGradient(0.5, 0, 511.5, 0)
  for (const [index, colour] of colours.entries()) gradient.addColorStop(index / (colours.length - 1), colour)
  context.fillStyle = gradient
  context.fillRect(0, 0, 512, 1)
  return new Uint32Array(context.getImageData(0, 0, 512, 1).data.buffer)
}

function channels(pixel) {
  return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]
}

function rgb(pixel) {
  return `rgb(${channels(pixel)})`
}

/* A colour to write in over another. */
function inkOn(pixel) {
  const [red, green, blue] = channels(pixel)
  return 0.3 * red + 0.59 * green + 0.11 * blue > 140 ? INK : "#fff"
}

/* The pixel of a number on a scale from low to high; the ends stand for what lies beyond. */
function shadeOf(number, low, high, shades) {
  return shades[Math.round(((Math.min(high, Math.max(low, number)) - low) / (high - low)) * (shades.length - 1))]
}

/* Paints numbers, one pixel each, and gives the pixels; what is no number stays clear. */
function paintNumbers(canvas, columns, numbers, [low, high], shades) {
  const picture = new ImageData(columns, numbers.length / columns)
  const pixels = new Uint32Array(picture.data.buffer)
  for (let cell = 0; cell < numbers.length; cell++) if (!Number.isNaN(numbers[cell])) pixels[cell] = shadeOf(numbers[cell], low, high, shades)
  Object.assign(canvas, { width: picture.width, height: picture.height })
  canvas.getContext("2d").putImageData(picture, 0, 0)
  return pixels
}

/* A canvas of that size with a dot for each of the screen's, to draw on. */
function sharp(canvas, width, height) {
  const dots = window.devicePixelRatio || 1
  canvas.width = Math.round(width * dots)
  canvas.height = Math.round(height * dots)
  const context = canvas.getContext("2d")
  context.scale(dots, dots)
  return context
}

/* Counts what has been drawn, for those who wait for it. */
function countDrawing(element) {
  element.dataset.version = Number(element.dataset.version ?? 0) + 1
}
