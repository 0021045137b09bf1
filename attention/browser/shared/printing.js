const PAPER = 700 // what an A4 page has room for between its margins, in pixels

/** Tells the style for paper how wide the page is on the screen, where its figures were drawn, and
    how much smaller it has to be: on paper nothing can be measured and drawn anew.
    @type {() => void} */
export function fitPaper() {
  const main = document.querySelector(".stMainBlockContainer")
  if (!main || main.matches("[data-paper]")) return
  main.setAttribute("data-paper", "")
  const measure = () => {
    if (matchMedia("print").matches) return
    const { paddingLeft, paddingRight } = getComputedStyle(main)
    const width =
      main.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)
    const { style, dataset } = document.documentElement
    style.setProperty("--print-width", `${width}px`)
    style.setProperty("--print-zoom", String(Math.min(1, PAPER / width)))
    dataset.wide = String(innerWidth >= 1000)
  }
  new ResizeObserver(measure).observe(main)
}
