import { childrenOf, make, setLengths, under } from "./elements.js"

/** Where tiles of heads stand: so many across, or where they are turned so many down, `side` wide,
    `label` higher than wide.
    @typedef {{ across: number, side: number, height: number, left: number, top: number,
      label: number, gap: number, turned: boolean }} Layout

    What is done as a head is pointed at (-1: none is any more), and as it is chosen, by a click or
    else by arrow keys.
    @typedef {{ point: (head: number) => void,
      choose: (head: number, clicked: boolean) => void }} Tasks */

/** Tiles above a picture of all heads, one of which is chosen by click or arrow keys.
    @type {(parent: HTMLElement, ariaLabel: string, layout: () => Layout, tasks: Tasks)
      => HTMLElement} */
export function makeTiles(parent, ariaLabel, layout, { point, choose }) {
  const tiles = make("div", "tiles", parent, { role: "radiogroup", ariaLabel })
  /** @type {(event: Event) => number} */
  const at = (event) => {
    const tile = under(event, "button")
    return tile ? childrenOf(tiles).indexOf(tile) : -1
  }
  tiles.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse" && at(event) >= 0) point(at(event))
  })
  tiles.addEventListener("pointerleave", () => point(-1))
  tiles.addEventListener("click", (event) => at(event) >= 0 && choose(at(event), true))
  tiles.addEventListener("keydown", (event) => {
    const all = childrenOf(tiles)
    const chosen = all.findIndex((tile) => tile.ariaChecked === "true")
    const next = headAfter(event.key, chosen, all.length, layout())
    if (next === undefined) return
    event.preventDefault()
    if (!all[next] || all[next].hidden) return
    all[next].focus()
    choose(next, false)
  })
  return tiles
}

/** Lays out so many tiles, each made anew only where their number changes, and marks the chosen one.
    @type {(tiles: HTMLElement, layout: Layout, count: number, chosen: number,
      fill?: (tile: HTMLElement, head: number) => void) => HTMLElement[]} */
export function layTiles(tiles, layout, count, chosen, fill) {
  if (tiles.children.length !== count)
    tiles.replaceChildren(
      ...Array.from({ length: count }, (_, head) => {
        const tile = make("button", "", null, { type: "button", role: "radio" })
        fill?.(tile, head)
        return tile
      }),
    )
  const { side, label } = layout
  for (const [head, tile] of childrenOf(tiles).entries()) {
    const [left, top] = corner(layout, head)
    setLengths(tile, { left, top, width: side, height: side + label })
  }
  markTile(tiles, chosen)
  return childrenOf(tiles)
}

/** Marks the chosen tile, -1: none is.
    @type {(tiles: HTMLElement, chosen: number) => void} */
export function markTile(tiles, chosen) {
  for (const [head, tile] of childrenOf(tiles).entries()) {
    tile.ariaChecked = String(head === chosen)
    tile.tabIndex = head === Math.max(0, chosen) ? 0 : -1
  }
}

/** The head that a key leads to; it may lie beyond the last one.
    @type {(key: string, at: number, heads: number, layout: Pick<Layout, "across" | "turned">)
      => number | undefined} */
export function headAfter(key, at, heads, { across, turned }) {
  const [beside, below] = turned ? [across, 1] : [1, across]
  const ends = { ArrowLeft: at - beside, ArrowRight: at + beside, Home: 0, End: heads - 1 }
  const next = { ...ends, ArrowUp: at - below, ArrowDown: at + below }
  return Object.hasOwn(next, key) ? next[/** @type {keyof typeof next} */ (key)] : undefined
}

/** @type {(layout: Layout, head: number) => [number, number]} */
export function corner({ across, side, left, top, label, gap, turned }, head) {
  const position = [head % across, Math.floor(head / across)]
  const [column, row] = turned ? position.reverse() : position
  return [left + column * (side + gap), top + row * (side + label + gap)]
}
