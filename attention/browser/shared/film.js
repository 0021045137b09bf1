import { make } from "./elements.js"
import { isStill } from "./moving.js"

/** @typedef {ReturnType<typeof makeSlider>} Slider
    @typedef {ReturnType<typeof makeFilm>} Film */

/** A slider with its name, and what it is set to.
    @param {HTMLElement} parent
    @param {string} name
    @param {string} kind */
export function makeSlider(parent, name, kind = "") {
  const label = make("label", kind, parent)
  const words = make("span", "", label)
  make("b", "", words, { textContent: name })
  const output = make("output", "", words)
  const slider = make("input", "", label, { type: "range", min: "0", step: "1", ariaLabel: name })
  return { label, slider, output }
}

/** @type {(slider: Slider, at: number, words: string) => void} */
export function tellSlider({ slider, output }, at, words) {
  slider.value = String(at)
  output.textContent = words
  slider.setAttribute("aria-valuetext", words)
}

/** Moments that a button shows one after the other, and a slider each.
    @param {HTMLElement} parent
    @param {number} pace milliseconds from one to the next
    @param {() => void} show draws the moment `at` */
export function makeFilm(parent, pace, show) {
  const button = make("button", "", parent, { type: "button", textContent: "Play" })
  const step = makeSlider(parent, "Step", "far")
  const film = { button, step, pace, show, at: -1, count: 0, timer: 0, seen: false }
  step.slider.addEventListener("input", () => {
    stop(film)
    goTo(film, Number(step.slider.value))
  })
  button.addEventListener("click", () => (film.timer ? stop(film) : play(film)))
  return film
}

/** Takes over how many moments there are, and shows the last one where these are others; the first
    ones that are to play do so.
    @type {(film: Film, moments: { steps: number[], live: boolean, plays: boolean },
      anew?: boolean) => void} */
export function takeFilm(film, { steps, live, plays }, anew = false) {
  const { button, step, count } = film
  button.hidden = step.label.hidden = live || steps.length < 2
  step.slider.max = String(steps.length - 1)
  film.count = steps.length
  const others = live || anew || count !== steps.length
  if (others) stop(film)
  goTo(film, others ? steps.length - 1 : Math.min(film.at, steps.length - 1))
  if (plays && !film.seen && !isStill()) play(film)
  film.seen = true
}

/** @type {(film: Film, at: number) => void} */
function goTo(film, at) {
  film.at = at
  film.show()
}

/** @type {(film: Film) => void} */
function play(film) {
  goTo(film, film.at >= film.count - 1 ? 0 : film.at)
  film.button.textContent = "Pause"
  film.timer = setInterval(() => {
    if (!film.button.isConnected || film.at >= film.count - 1) return stop(film)
    goTo(film, film.at + 1)
  }, film.pace)
}

/** @type {(film: Film) => void} */
function stop(film) {
  clearInterval(film.timer)
  film.timer = 0
  film.button.textContent = "Play"
}
