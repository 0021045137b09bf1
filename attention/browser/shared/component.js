import { keepFocus } from "./focus.js"
import { decode } from "./message.js"
import { isLate, nextTurn } from "./turns.js"

/** @import { Answers } from "../messages.js"
    @import { Content } from "./message.js"

    What Streamlit gives a component each time it is to draw, and where.
    @typedef {HTMLElement | ShadowRoot} Root
    @typedef {{ data: Uint8Array, parentElement: Root,
      setTriggerValue: (event: string, value: unknown) => void,
      within?: { key: string, turn: number, answered?: string[] }, answered?: string[], load?: (path: string) => Promise<Module>,
      loadStyle?: (path: string) => Promise<string> }} Given
    within: of a figure in a scene its key and the turn of its last answer; answered: in a file, the
    events that it answers; load, loadStyle: get a module and the text of a style.
    @typedef {(given: Given) => void | Promise<void>} Draw
    @typedef {{ default: Draw, style?: string }} Module */

/** What a view is built from: where it stands, what it shows first, and how it answers; wait:
    milliseconds in which a newer answer of the same event may take its place.
    @template {keyof Answers} Name
    @typedef {{ root: Root, content: Content<Name>,
      send: <Event extends string & keyof Answers[Name]>(event: Event,
        value: Answers[Name][Event], wait?: number) => void }} Mount */

/** @typedef {{ inside: Element, observer: MutationObserver, task: () => void }} Watch
    @type {Set<Watch>} */
const watching = new Set()

/** A component: its view is built once in each place and drawn for each message that is not late,
    and again in another theme, in another width where it has one, and on paper.
    @template {keyof Answers} Name
    @template {{ content: Content<Name>, frame: HTMLElement, width?: number }} View
    @param {(mount: Mount<Name>) => View} build
    @param {(view: View) => void} draw
    @param {((view: View) => void) | null} again what draws again; null: nothing depends on these
    @returns {(given: Given) => void} */
export function component(build, draw, again = draw) {
  /** @type {WeakMap<Root, { view: View, given: Given }>} */
  const mounted = new WeakMap()
  return (given) => {
    const root = given.parentElement
    const content = /** @type {Content<Name>} */ ({ ...decode(given.data), ...given.within })
    const known = mounted.get(root)
    const late = isLate(content.key, content.turn)
    if (known) {
      known.given = given
      if (late) return
      known.view.content = content
      return keepFocus(root, () => draw(known.view))
    }
    const { key } = content
    let timer = 0
    let waiting = { event: "", give: () => {} }
    const mount = { given, view: build({ root, content, send }) }
    mounted.set(root, mount)
    if (again) follow(root, mount.view, () => keepFocus(root, () => again(mount.view)))
    draw(mount.view)

    /** @type {Mount<Name>["send"]} */
    function send(event, value, wait = 0) {
      const give = () => mount.given.setTriggerValue(event, [nextTurn(key), value])
      clearTimeout(timer)
      if (waiting.event !== event) waiting.give()
      waiting = { event, give: wait ? give : () => {} }
      if (!wait) return give()
      nextTurn(key, Infinity) // what comes until it is given has not heard of it
      timer = setTimeout(() => send(event, value), wait)
    }
  }
}

/** True if an event of a figure is answered: in the app each one, in a file those that it holds. A
    control that nobody answers is not shown.
    @type {(content: { key: string, answered?: string[] }, event: string) => boolean} */
export function isAnswered({ key, answered }, event) {
  return answered?.includes(`${key}.${event}`) ?? true
}

/** @type {(root: Root, view: { frame: HTMLElement, width?: number }, again: () => void) => void} */
function follow(root, view, again) {
  for (const each of watching) if (!each.inside.isConnected) letGo(each)
  const inside = root instanceof ShadowRoot ? root.host : root
  // Streamlit sets the theme by a style, or by a class where the page's own reaches the component.
  const themed = inside.closest("[style*='--st-'], .stBidiComponent > *") ?? document.body
  const observer = new MutationObserver(() => requestAnimationFrame(again))
  observer.observe(themed, { attributes: true, attributeFilter: ["style", "class"] })
  watching.add({ inside, observer, task: again })
  const resized = () => view.width !== view.frame.clientWidth && again()
  if (view.width !== undefined) new ResizeObserver(resized).observe(view.frame)
}

/** @type {(watch: Watch) => void} */
function letGo(watch) {
  watch.observer.disconnect()
  watching.delete(watch)
}

/* On paper all is in the light theme's colours, and painted before anything is measured again. */
globalThis.matchMedia?.("print").addEventListener("change", () => {
  for (const { inside, task } of watching) if (inside.isConnected) task()
})
