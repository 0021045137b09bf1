/* Takes apart what `_message` in Python puts together: its header, and the numbers behind it. */
function decode(data) {
  const size = new DataView(data.buffer, data.byteOffset, 4).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + size)))
  const end = 4 + size + 4 * header.floats
  return { ...header, numbers: new Float32Array(data.slice(4 + size, end).buffer), rest: data.subarray(end) }
}

/* Runs a task after the next frame is on the screen: the heatmap, which is awaited, goes first. */
function afterPaint(task) {
  requestAnimationFrame(() => setTimeout(task))
}

