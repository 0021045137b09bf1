import { component } from "../shared/component.js"
import { adopt, tellBy } from "../shared/selection.js"

/** @import { Mount } from "../shared/component.js" */

export default component(build, ({ content }) => adopt(content), null)

/** @param {Mount<"selection">} mount */
function build({ root, content, send }) {
  const frame = root instanceof ShadowRoot ? root.host : root
  tellBy((values) => send("selection", values), content.turn)
  return { content, frame: /** @type {HTMLElement} */ (frame) }
}
