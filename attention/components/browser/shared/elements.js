const views = new WeakMap()

/* What stands in a place already, or what is built there now. */
export function viewIn(parent, build) {
  if (!views.has(parent)) views.set(parent, build(parent))
  return views.get(parent)
}

export function make(tag, name, parent) {
  const element = document.createElement(tag)
  element.className = name
  parent?.appendChild(element)
  return element
}

/* A token as text: nothing in it is read as HTML. */
export function makeName(tag, name, parent, token) {
  const element = make(tag, name, parent)
  element.title = token
  make("bdi", "", element).textContent = token
  return element
}

/* A token to choose or to read a weight beside. */
export function makeChip(role, known, token, index) {
  const chip = makeName("div", known ? "token" : "token unknown", null, token)
  chip.setAttribute("role", role)
  chip.id = `${role}-${index}`
  if (role === "option") chip.setAttribute("aria-selected", "false")
  if (!known) chip.title = `${token}: no vector, zeros`
  return chip
}

/* Runs a task after the next frame is on the screen: the heatmap, which is awaited, goes first. */
export function afterPaint(task) {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = task
    port2.postMessage(null)
  })
}

/* Runs the last of a view's tasks once none has come for a while. */
export function settle(view, milliseconds, task) {
  clearTimeout(view.pending)
  view.pending = setTimeout(task, milliseconds)
}

export function whenThemed(parent, task) {
  const themed = (parent.host ?? parent).closest("[style*='--st-']") ?? document.body
  new MutationObserver(() => requestAnimationFrame(task)).observe(themed, { attributes: true, attributeFilter: ["style"] })
}

/* A canvas of that size with a dot for each of the screen's, to draw on. */
export function sharp(canvas, width, height) {
  const dots = window.devicePixelRatio || 1
  canvas.width = Math.round(width * dots)
  canvas.height = Math.round(height * dots)
  const context = canvas.getContext("2d")
  context.scale(dots, dots)
  return context
}
