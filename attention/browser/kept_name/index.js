import { component } from "../shared/component.js"

/** @import { Mount } from "../shared/component.js"
    @typedef {ReturnType<typeof build>} View */

const DAY = 86_400 // seconds

export default component(build, draw, null)

/** @param {Mount<"kept_name">} mount */
function build({ root, content, send }) {
  const frame = root instanceof ShadowRoot ? root.host : root
  return { content, send, frame: /** @type {HTMLElement} */ (frame) }
}

/** A page of another host that embeds this one has a name of its own, over TLS.
    @type {(view: View) => void} */
function draw({ content: { cookie, value, settings }, send }) {
  const here = new URL(location.href)
  const { pathname } = new URL(".", here)
  const sites = here.protocol === "https:" ? "SameSite=None; Secure; Partitioned" : "SameSite=Lax"
  Object.assign(document, {
    cookie: `${cookie}=${value}; Max-Age=${DAY}; Path=${pathname}; ${sites}`,
  })
  for (const [name, text] of Object.entries(settings))
    if (text) here.searchParams.set(name, text)
    else here.searchParams.delete(name)
  if (here.href === location.href) return
  // Not as `keepStepsOne` has it, which may make a step of it.
  History.prototype.replaceState.call(history, history.state, "", here)
  send("written", true)
}
