/** @import { Headers } from "../messages.js"

    What a message holds: its header, with the key of its component the turn of the last answer
    from there, and in a file the events that it answers; the numbers behind it, the bytes behind these.
    @template {keyof Headers} Name
    @typedef {Headers[Name] & { key: string, turn: number, answered?: string[],
      numbers: Float32Array, rest: Uint8Array }} Content */

/** Takes apart what `message` in Python puts together.
    @template {keyof Headers} Name
    @param {Uint8Array} data
    @returns {Content<Name>} */
export function decode(data) {
  const size = new DataView(data.buffer, data.byteOffset, 4).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(data.subarray(4, 4 + size)))
  const end = 4 + size + 4 * header.floats
  const numbers = new Float32Array(data.slice(4 + size, end).buffer)
  return { ...header, numbers, rest: data.subarray(end) }
}

/** Puts together what `decode` takes apart.
    @type {(header: object, numbers: Float32Array, rest: Uint8Array) => Uint8Array<ArrayBuffer>} */
export function encode(header, numbers, rest) {
  const text = new TextEncoder().encode(JSON.stringify({ ...header, floats: numbers.length }))
  const data = new Uint8Array(4 + text.length + numbers.byteLength + rest.length)
  new DataView(data.buffer).setUint32(0, text.length, true)
  data.set(text, 4)
  data.set(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength), 4 + text.length)
  data.set(rest, data.length - rest.length)
  return data
}
