import { component } from "../shared/component.js"
import { adopt, tellBy } from "../shared/place.js"

/** @import { Mount } from "../shared/component.js" */

export default component(build, ({ content }) => adopt(content), null)

/** @param {Mount<"place">} mount */
function build({ root, content, send }) {
  const frame = root instanceof ShadowRoot ? root.host : root
  tellBy((answer) => send("place", answer), content.turn)
  return { content, frame: /** @type {HTMLElement} */ (frame) }
}
