/** A session of a lesson that a school's system has opened, by cmi5: what is told to that system,
    and to nothing else. Numbers of sections are those of cmi5, Quartz, 1st edition.

    launch: of 8.1; guesses: the first choices of an earlier session, none where that was ended;
    returns: the address to go to in the end, "" for none.
    @typedef {{ endpoint: string, fetch: string, actor: string, registration: string,
      activityId: string }} Launch
    @typedef {(number | null)[]} Guesses
    @typedef {{ guesses: Guesses, passed: boolean, completed: boolean, asked: string }} Kept
    @typedef {{ guesses: Guesses, returns: string, leave: () => Promise<void>,
      tell: (guesses: Guesses, right: number) => Promise<void> }} Session
    @typedef {{ success?: boolean, completion?: boolean, duration?: string, score?: object }} Result */

const CONTEXT = "https://w3id.org/xapi/cmi5/context"
const VERBS = "http://adlnet.gov/expapi/verbs"
const VERSION = { "X-Experience-API-Version": "1.0.3" }

/** The launch in the query of an address (8.1); null where no system has opened the page.
    @type {(query: string) => Launch | null} */
export function launchOf(query) {
  const [endpoint, fetch, actor, registration, activityId] = [
    ...["endpoint", "fetch", "actor", "registration", "activityId"],
  ].map((name) => new URLSearchParams(query).get(name) ?? "")
  if (!(endpoint && fetch && actor && registration && activityId)) return null
  return { endpoint: endpoint.replace(/\/+$/, ""), fetch, actor, registration, activityId }
}

/** Begins a session: gets the token (8.2), what the system says of it (10) and the learner's
    preferences (11), and says `initialized`.

    asked: letters that other questions do not have; mastery: the share of right answers that
    passes, where the system says none. Throws where the system does not answer as it must.
    @type {(launch: Launch, asked: string, mastery: number) => Promise<Session>} */
export async function begin(launch, asked, mastery) {
  const { endpoint, activityId, registration, actor } = launch
  const about = { activityId, agent: actor, registration }
  const { "auth-token": token } = await (await fetch(launch.fetch, { method: "POST" })).json()
  if (!token) throw new Error("the system must give a token")
  const headers = { ...VERSION, Authorization: `Basic ${token}` }

  /** @type {(path: string, named: Record<string, string>, sent?: [string, object]) =>
      Promise<Response>} */
  async function ask(path, named, sent) {
    const address = `${endpoint}/${path}?${new URLSearchParams(named)}`
    const body = sent && {
      method: sent[0],
      body: JSON.stringify(sent[1]),
      keepalive: true, // it arrives though the page is left meanwhile
    }
    const type = sent && { "Content-Type": "application/json" }
    const answer = await fetch(address, { ...body, headers: { ...headers, ...type } })
    if (!answer.ok) throw new Error(`${path} must be answered, got ${answer.status}`)
    return answer
  }

  const data = await (await ask("activities/state", { ...about, stateId: "LMS.LaunchData" })).json()
  await ask("agents/profile", { agent: actor, profileId: "cmi5LearnerPreferences" }).catch(() => {})
  const counts = data.launchMode === "Normal"
  const state = { ...about, stateId: "lesson" }
  /** @type {Kept} */
  const none = { guesses: [], passed: false, completed: false, asked }
  const earlier = await ask("activities/state", state).then(
    (answer) => answer.json(),
    () => none, // there is none yet
  )
  let kept = /** @type {Kept} */ ({ ...none, ...earlier })
  if (kept.asked !== asked) kept = { ...kept, guesses: [], asked }
  const begun = performance.now()
  let over = false
  let before = Promise.resolve()

  /** @type {(verb: string, result?: Result) => object} */
  function statement(verb, result) {
    const context = structuredClone(data.contextTemplate ?? {})
    const categories = result && ("success" in result || "completion" in result)
    context.registration = registration
    context.contextActivities ??= {}
    context.contextActivities.category = [
      ...(context.contextActivities.category ?? []),
      ...(categories ? ["cmi5", "moveon"] : ["cmi5"]).map((name) => ({
        id: `${CONTEXT}/categories/${name}`,
      })),
    ]
    if (result && "success" in result && data.masteryScore !== undefined)
      context.extensions = {
        ...context.extensions,
        [`${CONTEXT}/extensions/masteryscore`]: data.masteryScore,
      }
    return {
      id: uuid(),
      timestamp: new Date().toISOString(),
      actor: JSON.parse(actor),
      verb: { id: `${VERBS}/${verb}`, display: { en: verb } },
      object: { objectType: "Activity", id: activityId },
      context,
      ...(result && { result }),
    }
  }

  const duration = () => `PT${((performance.now() - begun) / 1000).toFixed(2)}S`
  const say = (/** @type {object[]} */ ...all) => ask("statements", {}, ["POST", all])
  const keep = () => ask("activities/state", state, ["PUT", kept]).catch(() => {}) // it may refuse

  /** Says `passed` or `failed` and `completed` once all is answered, each as often as 9.3 admits.
      @type {(guesses: Guesses, right: number) => Promise<void>} */
  async function take(guesses, right) {
    if (over || !counts) return
    kept = { ...kept, guesses: [...guesses] }
    if (guesses.includes(null)) return void (await keep())
    const scaled = right / guesses.length
    const success = scaled >= Number(data.masteryScore ?? mastery)
    const score = { scaled, raw: right, min: 0, max: guesses.length }
    const told = []
    if (!kept.passed)
      told.push(statement(success ? "passed" : "failed", { success, score, duration: duration() }))
    if (!kept.completed)
      told.push(statement("completed", { completion: true, duration: duration() }))
    over = true // but for the end: a session has one result
    if (told.length) await say(...told)
    kept = { ...kept, guesses: [], passed: kept.passed || success, completed: true }
    await keep()
  }

  let left = false
  async function leave() {
    if (left) return
    left = over = true
    await say(statement("terminated", { duration: duration() }))
  }

  await say(statement("initialized"))
  addEventListener("pagehide", () => leave().catch(() => {}))
  return {
    guesses: counts ? kept.guesses : [],
    returns: /^https?:/i.test(data.returnURL ?? "") ? data.returnURL : "",
    leave,
    tell: (guesses, right) => {
      before = before.catch(() => {}).then(() => take(guesses, right))
      return before
    },
  }
}

/** A random UUID; the browser's own is not there where a school's pages have no certificate.
    @type {() => string} */
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6] & 15) | 64 // version 4
  bytes[8] = (bytes[8] & 63) | 128
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5")
}
