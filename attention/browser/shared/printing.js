const PAPER = 700 // what an A4 page has room for between its margins, in pixels
const HIGH = 900 // so much of its height besides lines to write on
const TITLE = 110 // of the page, above the first chapter
const LESSON = ".st-key-lesson_on_paper" // is narrower than its page
const CHAPTERS = '[class*="st-key-chapter_on_paper"]'

/** Tells the style for paper how wide the page is on the screen, where its figures were drawn, and
    how much smaller it has to be, and each chapter of a lesson to stand on one page: on paper
    nothing can be measured and drawn anew.
    @type {() => void} */
export function fitPaper() {
  const main = document.querySelector(".stMainBlockContainer")
  if (!main || main.matches("[data-paper]")) return
  main.setAttribute("data-paper", "")
  const measure = () => {
    if (matchMedia("print").matches) return
    const { paddingLeft, paddingRight } = getComputedStyle(main)
    const width =
      main.querySelector(LESSON)?.clientWidth ??
      main.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)
    const { style, dataset } = document.documentElement
    const zoom = Math.min(1, PAPER / width)
    style.setProperty("--print-width", `${width}px`)
    style.setProperty("--print-zoom", String(zoom))
    /** @type {NodeListOf<HTMLElement>} */
    const chapters = main.querySelectorAll(CHAPTERS)
    for (const [at, chapter] of chapters.entries()) {
      const height = zoom * chapter.clientHeight
      const fits = Math.min(1, (HIGH - (at ? 0 : TITLE)) / height)
      chapter.style.setProperty("--page-zoom", String(fits))
    }
    dataset.wide = String(innerWidth >= 1000)
  }
  new ResizeObserver(measure).observe(main)
}
