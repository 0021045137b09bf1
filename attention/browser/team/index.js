import { writeBars } from "../shared/bars.js"
import { saveCardOf } from "../shared/card.js"
import { component, isAnswered } from "../shared/component.js"
import { copied } from "../shared/copying.js"
import { childrenOf, make, whenClicked } from "../shared/elements.js"
import { keepFocus } from "../shared/focus.js"
import { isStill } from "../shared/moving.js"
import { leadKeys, reachByTab } from "../shared/radios.js"
import { finePercent } from "../shared/words.js"

/** @import { Mount } from "../shared/component.js"
    @import { Stage, TeamHeader } from "../messages.js"
    @typedef {ReturnType<typeof build>} View */

const PACE = 1500 // milliseconds that each stage is shown
const COPIED = 2000
const TURNED = "#d97706"
const LINK = "Copy this break as a link"

export default component(build, draw)

/** @param {Mount<"team">} mount */
function build({ root, content, send }) {
  const frame = make("section", "frame", root)
  const heading = make("h2", "", frame)
  const sentence = make("bdi", "sentence", frame)
  const label = "Heads that are off, one after the other; arrow keys go back and on"
  const film = make("div", "film", frame, { role: "radiogroup", ariaLabel: label })
  const told = make("p", "told", frame, { ariaLive: "polite" })
  const doubts = make("div", "doubts", frame)
  const acts = make("div", "acts", frame)
  const said = make("p", "said", frame, { ariaLive: "polite" })
  const trail = /** @type {Stage[]} */ ([])
  const view = {
    ...{ content, frame, heading, sentence, film, told, doubts, acts, said, trail, send },
    ...{ at: -1, drawn: "", timer: 0 },
  }
  const reached = (/** @type {HTMLElement} */ stage) => go(view, childrenOf(film).indexOf(stage))
  whenClicked(film, ".stage", reached)
  leadKeys(film, ".stage", reached)
  whenClicked(frame, "[data-act]", ({ dataset }) => act(view, dataset.act ?? ""))
  return view
}

/** @type {(view: View) => void} */
function draw(view) {
  const { content, frame, heading, sentence } = view
  const [before, stages] = [view.trail, content.stages]
  const drawn = JSON.stringify(content)
  if (view.drawn === drawn) return
  const known = view.drawn ? /** @type {TeamHeader} */ (JSON.parse(view.drawn)) : null
  view.drawn = drawn
  const same = known?.of === content.of
  view.trail = same ? trailOf(stages, before) : stages
  heading.textContent = content.question
  sentence.textContent = content.text
  clearTimeout(view.timer)
  view.timer = 0
  const begins = same && stages.length > known.stages.length
  show(view, stages.length - 1, begins || stages.length === 2)
  drawDoubts(view)
  const inView = frame.getBoundingClientRect().top < innerHeight // else the map is looked at
  if (begins && inView)
    frame.scrollIntoView({ block: "nearest", behavior: isStill() ? "auto" : "smooth" })
}

/** Stages that are shown: those of now, and behind them those that one has gone back from.
    @template {{ head: number }} Kind
    @param {Kind[]} stages
    @param {Kind[]} before
    @returns {Kind[]} */
export function trailOf(stages, before) {
  const goesOn = stages.every(({ head }, at) => before[at]?.head === head)
  return goesOn ? [...stages, ...before.slice(stages.length)] : stages
}

/** Shows a stage; as it `begins`, its bars grow and fall from those of the one before.
    @type {(view: View, at: number, begins: boolean) => void} */
function show(view, at, begins) {
  const { film, trail, told } = view
  view.at = at
  while (film.children.length > trail.length) film.lastElementChild?.remove()
  for (const [index, stage] of trail.entries()) {
    const box = childrenOf(film)[index] ?? emptyStage(film)
    box.ariaChecked = String(index === at)
    box.classList.toggle("ahead", index > at)
    box.classList.toggle("turned", stage.turned)
    fill(box, stage, begins && index === at ? trail[index - 1] : undefined)
  }
  reachByTab(childrenOf(film), at)
  told.textContent = trail[at].told
  told.hidden = trail.length < 3 // of one head the map says the same
  keepFocus(view.acts, () => drawActs(view))
}

/** @type {(film: HTMLElement) => HTMLElement} */
function emptyStage(film) {
  const box = make("button", "stage", film, { type: "button", role: "radio" })
  for (const name of ["title", "looked", "rows"]) make("span", name, box)
  return box
}

/** @type {(box: HTMLElement, stage: Stage, before?: Stage) => void} */
function fill(box, stage, before) {
  const [title, looked, rows] = childrenOf(box)
  title.textContent = stage.title
  looked.replaceChildren()
  for (const line of [stage.looked, stage.tried])
    if (line) make("bdi", "", looked, { textContent: line })
  box.ariaLabel = `${stage.title}. ${stage.told}`
  const begun = stage.texts.map((text, at) => {
    const from = before?.texts.indexOf(text) ?? -1
    return before ? (before.shares[from] ?? 0) : stage.shares[at]
  })
  rows.replaceChildren()
  writeBars(rows, stage.texts, begun, 1, "span")
  rows.getBoundingClientRect() // a change of a bar's length is seen from there
  for (const [at, row] of writeBars(rows, stage.texts, stage.shares, 1, "span").entries()) {
    row.classList.toggle("answer", at === stage.answer)
    row.classList.toggle("leads", stage.turned && at === 0)
  }
}

/** @type {(view: View) => void} */
function drawDoubts({ doubts, content }) {
  doubts.replaceChildren()
  for (const { title, text, act } of content.doubts) {
    const box = make("div", "doubt", doubts)
    make("h3", "", box, { textContent: title })
    make("p", "", box, { textContent: text })
    if (act && isAnswered(content, "act")) button(box, "Ask them", act)
  }
}

/** @type {(view: View) => void} */
function drawActs(view) {
  const { acts, content, trail, timer } = view
  const here = content.stages.length - 1
  acts.replaceChildren()
  button(acts, timer ? "■ Stop" : "▶ Show it again", timer ? "stop" : "play")
  const goes = isAnswered(content, "team")
  if (here > 0 && goes) button(acts, "← Back", "back").title = `${trail[here].title}: on again`
  if (trail[here + 1] && goes) button(acts, "Again →", "again").title = trail[here + 1].title
  for (const [name, title] of isAnswered(content, "act") ? content.acts : [])
    button(acts, title, name)
  if (content.answered) return // a file has no address to share
  button(acts, LINK, "link")
  button(acts, "Save card", "card")
}

/** @type {(parent: HTMLElement, textContent: string, act: string) => HTMLButtonElement} */
function button(parent, textContent, act) {
  const made = make("button", "", parent, { type: "button", textContent })
  made.dataset.act = act
  return made
}

/** @type {(view: View, name: string) => void} */
function act(view, name) {
  const here = view.content.stages.length - 1
  if (name === "play") play(view, 0)
  else if (name === "stop") stop(view)
  else if (name === "back") go(view, here - 1)
  else if (name === "again") go(view, here + 1)
  else if (name === "card") saveCardOf(cardOf(view), view.frame)
  else if (name === "link") copyLink(view)
  else view.send("act", name)
}

/** Shows one stage after the other, as they were; the model stays as it is.
    @type {(view: View, at: number) => void} */
function play(view, at) {
  const more = at + 1 < view.content.stages.length
  view.timer = more ? setTimeout(() => view.frame.isConnected && play(view, at + 1), PACE) : 0
  show(view, at, at > 0)
}

/** @type {(view: View) => void} */
function stop(view) {
  clearTimeout(view.timer)
  view.timer = 0
  show(view, view.content.stages.length - 1, false)
}

/** Switches off the heads up to a stage, and the others on.
    @type {(view: View, at: number) => void} */
function go(view, at) {
  clearTimeout(view.timer)
  view.timer = 0
  show(view, at, at > view.at)
  const team = view.trail.slice(1, at + 1).map(({ head }) => head)
  view.send("team", team, 120)
}

/** @type {(view: View) => Promise<void>} */
async function copyLink({ acts, said }) {
  const done = await copied(location.href)
  said.textContent = done ? "Copied the link." : "The link could not be copied."
  const pressed = childrenOf(acts).find(({ dataset }) => dataset.act === "link")
  if (!pressed) return
  pressed.textContent = done ? "Copied" : "Copy the address bar"
  setTimeout(() => {
    pressed.textContent = LINK
    said.textContent = ""
  }, COPIED)
}

/** What the card shows: the sentence, all stages, and what is said of them.
    @type {(view: View) => import("../shared/card.js").Card} */
function cardOf({ frame, content }) {
  const style = getComputedStyle(frame)
  const read = (/** @type {string} */ name) => style.getPropertyValue(name).trim()
  const [primary, ground] = [read("--st-primary-color"), read("--st-background-color")]
  const fill = read("--st-secondary-background-color")
  const words = content.words.map((word) => ({ word, fill, ink: style.color, edge: "" }))
  const last = content.stages[content.stages.length - 1]
  const answer = `${last.texts[last.answer]}  ${finePercent(last.shares[last.answer])}`
  return {
    pills: [[...words, { word: answer, fill: primary, ink: ground, edge: "" }]],
    map: null,
    bars: content.stages.map((stage) => ({ ...stage, colour: stage.turned ? TURNED : primary })),
    told: [content.total, ...content.doubts.filter(({ act }) => !act).map(({ text }) => text)],
  }
}
