const LINK = "[data-testid=stSidebarNavLink]"
const CLOSE = "[data-testid=stSidebarCollapseButton] button"
let folding = false

/** On a phone the menu covers the page: it folds away once a page has been chosen in it. To be
    called at least once. */
export function foldMenu() {
  if (folding) return
  folding = true
  document.addEventListener("click", ({ target }) => {
    const chosen = target instanceof Element && target.closest(LINK)
    if (!chosen || !matchMedia("(max-width: 768px)").matches) return
    setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector(CLOSE))?.click())
  })
}
