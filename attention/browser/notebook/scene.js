import draw from "../scene/index.js"
import { make } from "../shared/elements.js"
import { keepQuery } from "../shared/selection.js"
import { unpacked } from "./packed.js"
import { follow } from "./theme.js"
import { answering } from "./worked_out.js"

/** @import { Given as Drawn, Module } from "../shared/component.js"
    @import { Themes } from "./theme.js"

    A scene as a file holds it: its message packed, the styles of its figures by their paths, what
    it answers, see `answering`; "": nothing; the names of the events that it answers; whether the
    chosen word stays; and events by names that may stand behind a # in its
    address.
    @typedef {{ scene: string, styles: Record<string, string>, themes: Themes, answers: string,
      answered: string[], stays: boolean, opens: Record<string, [string, unknown]> }} Given */

const ABSENT = "This file does not hold that; the app works it out."

const LOOK = `body { font-family: var(--st-font); color: var(--st-text-color);
  background: var(--st-background-color); max-width: 75rem; margin: 1rem auto; padding: 0 1rem; }
body > p { background: inherit; position: sticky; bottom: 0; margin: 0; padding: 0.5rem 0; }`

/** Draws the scene that a file holds, and what that answers.
    @param {Record<string, Module>} modules
    @returns {Promise<void>} */
export default async function showScene(modules) {
  const [data, place] = ["given", "place"].map((id) => document.getElementById(id))
  if (!data || !place) return
  const given = /** @type {Given} */ (JSON.parse(data.textContent ?? ""))
  const { styles, themes, answers, answered, opens } = given
  if (given.stays) keepQuery()
  make("style", "", document.head, { textContent: LOOK + styles["scene/style.css"] })
  follow(null, [document.documentElement], themes)
  const first = new Uint8Array(await unpacked(given.scene).arrayBuffer())
  const absent = make("p", "", document.body, { role: "status", hidden: true })
  /** @type {Drawn} */
  const drawn = {
    data: first,
    parentElement: place,
    answered,
    setTriggerValue: () => {},
    load: async (path) => modules[path],
    loadStyle: async (path) => styles[path],
  }
  if (answers) {
    const answer = answering(answers, first, (data, there) => {
      draw({ ...drawn, data })
      absent.textContent = there ? "" : ABSENT
      absent.hidden = there
    })
    drawn.setTriggerValue = (name, value) => {
      tell(opens, name, value)
      answer(name, value)
    }
    const open = () => {
      const done = Object.entries(opens).find(([name]) => location.hash === hashOf(name))?.[1]
      if (done) answer(done[0], [null, done[1]])
    }
    addEventListener("hashchange", open)
    await draw(drawn)
    open()
  } else await draw(drawn)
  fit(window.frameElement)
}

/** Writes the name of what was done into the address, so that it opens there.
    @type {(opens: Given["opens"], name: string, answer: unknown) => void} */
function tell(opens, name, answer) {
  const [, value] = /** @type {[number, unknown]} */ (answer)
  const wanted = JSON.stringify([name, value])
  const known = Object.keys(opens).find((each) => JSON.stringify(opens[each]) === wanted)
  if (known) history.replaceState(null, "", hashOf(known))
}

/** @type {(name: string) => string} */
function hashOf(name) {
  return `#${encodeURIComponent(name)}`
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
