/** Runs a task that may make elements anew, and gives the focus to what then stands in the place of
    the one that had it: of several with data the one with the same, else the one as far on.
    @type {(root: Element | ShadowRoot, task: () => void) => void} */
export function keepFocus(root, task) {
  const { activeElement } = /** @type {Document | ShadowRoot} */ (root.getRootNode())
  const had = /** @type {HTMLElement | null} */ (activeElement)
  if (!had || !root.contains(had)) return task()
  const path = pathTo(root, had)
  task()
  if (had.isConnected) return
  const at = path.pop() ?? 0
  let parent = /** @type {ParentNode | undefined} */ (root)
  for (const index of path) parent = parent?.children[index]
  const there = /** @type {HTMLElement[]} */ ([...(parent?.children ?? [])])
  const data = JSON.stringify(had.dataset)
  const same = there.find(({ dataset }) => JSON.stringify(dataset) === data)
  const next = data === "{}" ? there[at] : same
  next?.focus({ preventScroll: true })
}

/** Which child of which child an element is.
    @type {(root: Node, element: Element) => number[]} */
function pathTo(root, element) {
  const parent = /** @type {Element | ShadowRoot} */ (element.parentNode)
  const at = [...parent.children].indexOf(element)
  return parent === root ? [at] : [...pathTo(root, /** @type {Element} */ (parent)), at]
}
