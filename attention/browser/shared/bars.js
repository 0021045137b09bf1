import { childrenOf, make } from "./elements.js"
import { finePercent, lengthOf } from "./words.js"

/** Rows of a piece, a bar and a share each; what stands there stays, and grows or falls.
    most: the share of a whole bar.
    @type {(rows: HTMLElement, texts: string[], shares: number[], most: number,
      tag?: "button" | "span") => HTMLElement[]} */
export function writeBars(rows, texts, shares, most, tag = "button") {
  while (rows.children.length > texts.length) rows.lastElementChild?.remove()
  return texts.map((text, at) => {
    const row = childrenOf(rows)[at] ?? makeRow(rows, tag)
    const [piece, bar, share] = childrenOf(row)
    piece.textContent = text
    childrenOf(bar)[0].style.width = lengthOf(shares[at] / most)
    share.textContent = finePercent(shares[at])
    return row
  })
}

/** @type {(rows: HTMLElement, tag: "button" | "span") => HTMLElement} */
function makeRow(rows, tag) {
  const row = make(tag, "row", rows, tag === "button" ? { type: "button" } : {})
  make("bdi", "piece", row)
  make("i", "", make("span", "bar", row, { ariaHidden: "true" }))
  make("span", "share", row)
  return row
}
