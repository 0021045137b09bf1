/* Times one click inside the page, from the click itself to the pictures it leads to.

   arm(heatmap) before the click, then `await result()`:
     {heatmap, page, sent, first, last, drawn} in milliseconds since the click, or an error after
     `timeout` milliseconds.

   heatmap  The weights are on the screen: either an <image> that matches the selector `heatmap`
            has loaded a picture it did not show before, or a canvas that matches it has counted
            up its `data-version`; then the next animation frame, up to the first task after it:
            by then the page has been laid out and painted.
   page     Nothing on the page changes any more: the last change of content, counted up to
            600 ms of quiet after the script has ended, and the frame that paints it.
   sent, first, last  The click is sent to the server, whose first answer comes, and its last.
   drawn    The last change of content, before it is painted.

   Content is every element, attribute and text in the body, inside shadow roots too, and every
   canvas drawn on. Not content: Streamlit's header with its running indicator, and the marks of
   stale elements, which only dim them. */
;(() => {
  const QUIET = 600
  let run = null

  function afterPaint(then) {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => then(performance.now())
      port2.postMessage(null)
    })
  }

  function contentChanged() {
    if (!run?.start) return
    const current = run
    current.changed = performance.now()
    afterPaint((now) => (current.page = now))
  }

  function heatmapChanged() {
    if (!run?.start || run.seen) return
    const current = run
    current.seen = true
    contentChanged()
    afterPaint((now) => (current.heatmap = now))
  }

  function isContent({ target, attributeName }) {
    const element = target.closest ? target : (target.host ?? target.parentElement)
    if (attributeName === "data-stale" || attributeName === "data-test-script-state") return false
    if (attributeName === "class" && element.hasAttribute("data-stale")) return false
    return !element?.closest('head, [data-testid="stHeader"]')
  }

  const observer = new MutationObserver((records) => {
    if (!run?.start) return
    if (records.some(isContent)) contentChanged()
    const painted = (r) => r.attributeName === "data-version" && r.target.matches(run.selector)
    if (records.some(painted)) heatmapChanged()
  })

  function observe(root) {
    const kinds = { subtree: true, childList: true, attributes: true, characterData: true }
    observer.observe(root, kinds)
  }

  /* Calls `after` whenever the method `name` of `prototype` has been called. */
  function follow(prototype, name, after) {
    const method = prototype[name]
    prototype[name] = function (...values) {
      const value = method.apply(this, values)
      after(this, value)
      return value
    }
  }

  observe(document)
  follow(Element.prototype, "attachShadow", (_, root) => observe(root))
  for (const name of ["putImageData", "drawImage", "clearRect"]) {
    follow(CanvasRenderingContext2D.prototype, name, ({ canvas }) => {
      if (canvas.isConnected) contentChanged()
    })
  }

  /* Notes when something happens during the click that is timed, and the first time alone. */
  function note(name, once = true) {
    if (run?.start && !(once && run[name])) run[name] = performance.now()
  }

  const heard = new WeakSet()
  follow(WebSocket.prototype, "send", (socket) => {
    note("sent")
    if (heard.has(socket)) return
    heard.add(socket)
    socket.addEventListener("message", () => {
      note("first")
      note("last", false)
    })
  })

  document.addEventListener(
    "click",
    () => {
      if (run && !run.start) run.start = performance.now()
    },
    true,
  )

  document.addEventListener(
    "load",
    ({ target }) => {
      if (!run?.start || !target.matches?.(run.selector)) return
      if (!run.before.has(target.href.baseVal)) heatmapChanged()
    },
    true,
  )

  function pictures(selector) {
    return [...document.querySelectorAll(selector)].map((image) => image.href?.baseVal)
  }

  function scriptRuns() {
    return document.querySelector('[data-test-script-state="notRunning"]') === null
  }

  window.watch = {
    arm(selector) {
      run = { selector, before: new Set(pictures(selector)) }
    },

    result(timeout) {
      const current = run
      const deadline = performance.now() + timeout
      return new Promise((resolve, reject) => {
        const timer = setInterval(() => {
          const now = performance.now()
          const quiet = now - current.changed > QUIET && !scriptRuns()
          if (current.heatmap && quiet) {
            clearInterval(timer)
            const { start, heatmap, page, sent, first, last, changed: drawn } = current
            const times = { heatmap, page, sent, first, last, drawn }
            for (const name in times) times[name] -= start
            resolve(times)
          } else if (now > deadline) {
            clearInterval(timer)
            reject(new Error(current.heatmap ? "the page never rests" : "no new heatmap"))
          }
        }, 50)
      })
    },

    /* How many rows the heatmap shows, from the canvas or from Plotly's own data. */
    rows(selector) {
      const element = document.querySelector(selector)
      if (element instanceof HTMLCanvasElement)
        return Number(element.dataset.rows ?? element.height)
      const traces = element.closest(".js-plotly-plot")._fullData
      return traces.find((trace) => trace.type === "heatmap").z.length
    },
  }
})()
