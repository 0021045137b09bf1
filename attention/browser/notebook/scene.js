import draw from "../scene/index.js"
import { make } from "../shared/elements.js"
import { follow } from "./theme.js"

/** @import { Module } from "../shared/component.js"
    @import { Themes } from "./theme.js"

    A scene as a file holds it: its message as base64, the styles of its figures by their paths.
    @typedef {{ scene: string, styles: Record<string, string>, themes: Themes }} Given */

const LOOK = `body { font-family: var(--st-font); color: var(--st-text-color);
  background: var(--st-background-color); max-width: 75rem; margin: 1rem auto; padding: 0 1rem; }`

/** Draws the scene that a file holds; nothing hears of what is chosen in it.
    @param {Record<string, Module>} modules
    @returns {Promise<void>} */
export default async function showScene(modules) {
  const [data, place] = ["given", "place"].map((id) => document.getElementById(id))
  if (!data || !place) return
  const { scene, styles, themes } = /** @type {Given} */ (JSON.parse(data.textContent ?? ""))
  make("style", "", document.head, { textContent: LOOK + styles["scene/style.css"] })
  follow(document.body, [document.documentElement], themes)
  await draw({
    data: Uint8Array.from(atob(scene), (letter) => letter.charCodeAt(0)),
    parentElement: place,
    setTriggerValue: () => {},
    load: async (path) => modules[path],
    loadStyle: async (path) => styles[path],
  })
  fit(window.frameElement)
}

/** Makes the frame that a file stands in as high as what it shows; null: it stands in none.
    @type {(frame: Element | null) => void} */
function fit(frame) {
  if (!frame) return
  const { body } = document
  const follows = () => {
    const margins = 2 * Number.parseFloat(getComputedStyle(body).marginTop)
    frame.setAttribute("style", `border: 0; width: 100%; height: ${body.offsetHeight + margins}px`)
  }
  new ResizeObserver(follows).observe(body)
}
