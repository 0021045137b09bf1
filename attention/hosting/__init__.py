"""A server for the public: who comes in, how much each may have, and what it tells of itself.

In the order in which a request meets them: `deadlines` has it come in time, `request_limits` bounds
its length, `addresses` says where it comes from, `backpressure` bounds what waits for a browser
that does not read, `headers` says what a browser may do with a page, `admission` limits requests
(`token_bucket`) and sessions (`admission_queue`, `waiting_page`), `redirects` leads to links,
`preview` describes a link to other sites, `uploads` bounds opened files, `websocket_filter` lets
the app filter messages.

`reruns` times reruns and limits those of a session, `rerun_scheduler` gives them turns by
`fair_share` of the processor, `jobs` does work of seconds beside them by the same share. `metrics`
are for operators, `shutdown` lets reruns end. It knows nothing of attention.

May import: core; cachetools, starlette, uvicorn, prometheus_client.
"""
