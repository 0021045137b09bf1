const PARTS = ["lines", "heatmap", "sum"] // of pictures: each is a figure of its own

/** The elements of a figure that stand on the page: the part of that name, where it has parts.
    @type {(name: string, key: string) => Element[]} */
export function partsOf(name, key) {
  const main = document.querySelector(".stMainBlockContainer") ?? document.body
  return [...main.querySelectorAll(`[class*="st-key-${key}"]`)].flatMap((element) => {
    const parts = element.querySelectorAll(".attention-picture > .part")
    const named = [...parts].filter((part) => part.classList.contains(name))
    return parts.length && PARTS.includes(name) ? named : [element]
  })
}
