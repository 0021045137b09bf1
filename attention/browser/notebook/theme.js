/** The theme's variables by their names, as Streamlit would set them.
    @typedef {Record<"light" | "dark", Record<string, string>>} Themes */

/** Whether letters are light around an element: then its ground is dark. Notebooks name their themes
    in many ways, but all of them have to be read.
    @type {(element: Element) => boolean} */
function isDark(element) {
  const [red, green, blue] = getComputedStyle(element)
    .color.match(/[\d.]+/g)
    ?.map(Number) ?? [0]
  return 0.299 * red + 0.587 * green + 0.114 * blue > 128
}

/** Gives hosts of components the theme of what stands around them, or of the browser where that is
    null, now and after each change. What draws again then is a component's own doing.
    @type {(around: Element | null, hosts: HTMLElement[], themes: Themes) => () => void} */
export function follow(around, hosts, themes) {
  let last = ""
  const scheme = matchMedia("(prefers-color-scheme: dark)")
  const look = () => {
    const name = (around ? isDark(around) : scheme.matches) ? "dark" : "light"
    if (name === last) return
    last = name
    for (const { style } of hosts) {
      style.colorScheme = name
      for (const [variable, value] of Object.entries(themes[name]))
        style.setProperty(variable, value)
    }
  }
  const observer = new MutationObserver(() => requestAnimationFrame(look))
  for (const element of [document.documentElement, document.body])
    observer.observe(element, { attributes: true })
  scheme.addEventListener("change", look)
  look()
  return () => {
    observer.disconnect()
    scheme.removeEventListener("change", look)
  }
}
