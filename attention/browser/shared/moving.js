const TIME = 600 // milliseconds
/** @type {WeakMap<object, number>} */
const moving = new WeakMap()

/** Whether whoever looks has asked for no motion, or does not look.
    @type {() => boolean} */
export function isStill() {
  return document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches
}

/** Numbers on their way to others, as far as a part of the time has gone: fast at first.
    @type {(from: Float32Array, to: Float32Array, part: number) => Float32Array} */
export function between(from, to, part) {
  const gone = 1 - (1 - part) ** 3
  return part < 1 ? to.map((number, at) => from[at] + gone * (number - from[at])) : to
}

/** Paints numbers on their way to others, for a moment; at once where nothing is to move. Another
    call for the same view takes the place of what it does.
    @type {(view: object, from: Float32Array | null, to: Float32Array,
      paint: (numbers: Float32Array) => void) => void} */
export function move(view, from, to, paint) {
  cancelAnimationFrame(moving.get(view) ?? 0)
  if (!from || isStill()) return paint(to)
  const start = performance.now()
  const step = () => {
    const part = Math.min(1, (performance.now() - start) / TIME)
    paint(between(from, to, part))
    if (part < 1) moving.set(view, requestAnimationFrame(step))
  }
  step()
}
