const LINK = "[data-testid=stSidebarNavLink]"
const CLOSE = "[data-testid=stSidebarCollapseButton] button"
const LISTS = "[data-testid=stSidebarNavItems], [data-testid=stSidebarNavItems] :is(ul, li)"
const SOON = [0, 300] // milliseconds, by when Streamlit has drawn the menu
let folding = false

/** On a phone the menu covers the page: it folds away once a page has been chosen in it. To be
    called at least once. */
export function foldMenu() {
  unlist()
  if (folding) return
  folding = true
  for (const change of ["resize", "click"])
    globalThis.addEventListener(change, () => {
      for (const wait of SOON) setTimeout(unlist, wait)
    })
  document.addEventListener("click", ({ target }) => {
    const chosen = target instanceof Element && target.closest(LINK)
    if (!chosen || !matchMedia("(max-width: 768px)").matches) return
    setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector(CLOSE))?.click())
  })
}

/** Where its entries are grouped, Streamlit's menu is a list with other things in it than items,
    which nobody can read out as a list: it is told as links alone. */
function unlist() {
  for (const part of document.querySelectorAll(LISTS))
    if (part.matches("ul, li")) part.setAttribute("role", "none")
}
