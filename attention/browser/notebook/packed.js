/** @type {(text: string) => Uint8Array<ArrayBuffer>} */
export function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
}

/** Reads what is packed by gzip, and that as base64.
    @type {(packed: string) => Response} */
export function unpacked(packed) {
  return new Response(
    new Blob([bytes(packed)]).stream().pipeThrough(new DecompressionStream("gzip")),
  )
}
