import { begin, launchOf } from "./cmi5.js"
import showLesson from "./lesson.js"

/** @import { Module } from "../shared/component.js" */

/** Leads through a lesson; where a school's system has opened it, that system is told the answers.
    @param {Record<string, Module>} modules
    @returns {Promise<void>} */
export default async function showCourse(modules) {
  let heard = () => {}
  const { given, guesses, right, answer } = await showLesson(modules, () => heard())
  const launch = launchOf(location.search)
  const line = document.querySelector(".school")
  const leave = document.querySelector(".leave")
  if (!launch || !line || !(leave instanceof HTMLElement)) return
  const { listens, sent, unsent } = given.words
  const tell = (/** @type {string} */ words) => {
    line.textContent = words
  }
  try {
    const session = await begin(launch, given.asked, given.mastery)
    for (const [chapter, guess] of session.guesses.entries())
      if (guess !== null && guesses[chapter] === null) answer(chapter, guess)
    heard = () =>
      session.tell(guesses, right()).then(
        () => tell(guesses.includes(null) ? listens : sent),
        () => tell(unsent),
      )
    heard()
    leave.hidden = !session.returns
    leave.addEventListener("click", async () => {
      await session.leave().catch(() => {})
      location.assign(session.returns)
    })
    addEventListener("pageshow", ({ persisted }) => persisted && tell(unsent)) // its session is over
  } catch {
    tell(unsent)
  }
}
