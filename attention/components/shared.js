/* Takes apart what `_message` in Python puts together: its header, and the numbers behind it. */
function decode(data) {
  const size = new DataView(data.buffer, data.byteOffset, 4).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + size)))
  const end = 4 + size + 4 * header.floats
  return { ...header, numbers: new Float32Array(data.slice(4 + size, end).buffer), rest: data.subarray(end) }
}

/* Runs a task after the next frame is on the screen: the heatmap, which is awaited, goes first. */
function afterPaint(task) {
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = task
    port2.postMessage(null)
  })
}

const ramps = new Map()

/* A colour scale as 512 opaque pixels, made once. */
function ramp(colours) {
  const name = colours.join()
  if (!ramps.has(name)) ramps.set(name, makeRamp(colours))
  return ramps.get(name)
}

function makeRamp(colours) {
  const context = Object.assign(document.createElement("canvas"), { width: 512, height: 1 }).getContext("2d", { willReadFrequently: true })
  const gradient = context.createLinearGradient(0.5, 0, 511.5, 0)
  for (const [index, colour] of colours.entries()) gradient.addColorStop(index / (colours.length - 1), colour.trim())
  context.fillStyle = gradient
  context.fillRect(0, 0, 512, 1)
  return new Uint32Array(context.getImageData(0, 0, 512, 1).data.buffer)
}
