/** What pictures can show before the server has said it: the other side of a switch.
    @typedef {(content: Uint8Array) => void} Take
    @type {Set<{ element: Element, take: Take }>} */
const pictures = new Set()

/** Has a picture take other content for as long as it is there.
    @type {(element: Element, take: Take) => void} */
export function whenInstead(element, take) {
  for (const each of pictures) if (!each.element.isConnected) pictures.delete(each)
  pictures.add({ element, take })
}

/** Shows content in all pictures of the page; the server's next message holds again.
    @type {Take} */
export function showInstead(content) {
  for (const { element, take } of pictures) if (element.isConnected) take(content)
}
