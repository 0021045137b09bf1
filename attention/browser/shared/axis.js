/* A sentence in large words says where they stand, and rows of numbers stand in the same columns;
   the rows say which of them are marked, and the sentence has arcs for these. */

/** What figures say of a sentence to others on the page, for as long as they are there.
    @template Said
    @returns {{ tell: (element: Element, tokens: string[], said: Said | null) => void,
      of: (tokens: string[]) => Said | null, follow: (element: Element, task: () => void) => void }} */
function channel() {
  /** @type {Map<Element, { tokens: string, said: Said | null }>} */
  const told = new Map()
  /** @type {Map<Element, () => void>} */
  const followers = new Map()
  const name = (/** @type {string[]} */ tokens) => JSON.stringify(tokens)
  const clean = (/** @type {Map<Element, unknown>} */ elements) => {
    for (const element of elements.keys()) if (!element.isConnected) elements.delete(element)
  }
  return {
    tell(element, tokens, said) {
      told.set(element, { tokens: name(tokens), said })
      clean(followers)
      for (const task of followers.values()) task()
    },
    of(tokens) {
      clean(told)
      const wanted = name(tokens)
      const fitting = [...told.values()].filter(({ tokens }) => tokens === wanted)
      return fitting.at(-1)?.said ?? null
    },
    follow: (element, task) => followers.set(element, task),
  }
}

/** How the words are laid out; of each its left edge in the window and its width, in pixels.
    @typedef {{ kind: "row" | "stack" | "wrap", words: { left: number, width: number }[] }} Axis
    @type {ReturnType<typeof channel<Axis>>} */
export const axis = channel()

/** The weights of each marked row, and its colour.
    @typedef {{ colour: string, weights: ArrayLike<number> }} Strand
    @type {ReturnType<typeof channel<Strand[]>>} */
export const strands = channel()
