import { afterPaint, make, viewIn } from "../shared/elements.js"
import { decode } from "../shared/message.js"
import { adopt, whenMoved, where } from "../shared/place.js"
import { buildHeatmap } from "./heatmap.js"
import { buildLines } from "./lines.js"
import { buildSum } from "./sum.js"

const BUILDERS = { lines: buildLines, heatmap: buildHeatmap, sum: buildSum }

/* One picture of several parts, which all show the same query: the chosen one, or the one that is
   pointed at in any of them. The heatmap goes first: it is what one waits for. */
export default function ({ data, parentElement }) {
  const picture = viewIn(parentElement, build)
  const { numbers, rest, place, ...content } = decode(data, "picture", 1)
  const sizes = { values: content.columns * content.width, output: content.rows * content.width }
  let from = 0
  content.numbers = {}
  for (const name of content.sent) {
    const until = from + (sizes[name] ?? content.rows * content.columns)
    content.numbers[name] = numbers.subarray(from, until)
    from = until
  }
  content.hidden = rest
  picture.content = null
  adopt(place)
  picture.content = content
  if (picture.names !== content.parts.join()) compose(picture)
  const { heatmap, ...others } = picture.parts
  draw(picture, [heatmap])
  afterPaint(() => picture.content === content && draw(picture, Object.values(others)))
}

function build(parent, picture) {
  const frame = make("div", "attention-picture", parent)
  Object.assign(picture, { frame, content: null, parts: {}, names: "" })
  whenMoved(frame, () => picture.content && show(picture, Object.values(picture.parts)))
}

function compose(picture) {
  const { parts } = picture.content
  picture.frame.replaceChildren()
  picture.names = parts.join()
  picture.parts = Object.fromEntries(parts.map((name) => [name, BUILDERS[name](make("section", `part ${name}`, picture.frame))]))
}

function draw(picture, parts) {
  for (const part of parts) part.draw(picture.content)
  show(picture, parts)
}

function show({ content }, parts) {
  const { stage, ...at } = where(content.rows)
  for (const part of parts) part.show({ ...at, stage: content.stages[stage] ? stage : "weights" })
}
