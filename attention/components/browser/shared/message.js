/** What Streamlit gives a component each time it is to draw, and where.
    @typedef {HTMLElement | ShadowRoot} Place
    @typedef {(name: string, value: unknown) => void} Send
    @typedef {{ data: Uint8Array, parentElement: Place, setTriggerValue: Send }} Given */

export class OtherVersion extends Error {
  name = "OtherVersion"
  message = "This page is from another version of the app; reload it."
}

/** Takes apart what `message` in Python puts together: its header, and the numbers behind it.
    It must be of that name and version, which stand for the header that a component knows.
    @type {(data: Uint8Array, name: string, version: number) => any} */
export function decode(data, name, version) {
  const size = new DataView(data.buffer, data.byteOffset, 4).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + size)))
  if (header.message !== name || header.version !== version) throw new OtherVersion()
  const end = 4 + size + 4 * header.floats
  const numbers = new Float32Array(data.slice(4 + size, end).buffer)
  return { ...header, numbers, rest: data.subarray(end) }
}
