"""A server for the public: who comes in, how much each may have, and what it tells of itself.

`addresses` says where a request comes from, `lengths` how long it may be, `backpressure` how much
waits for who does not read, `room` says who is in and who waits, `door` stands before the server,
`replica_uploads` sends on files for another replica, `uploads` has room for so many files, `work`
times reruns and shares the time between sessions, `jobs` does work of seconds beside them, `turns`
and `fair_share` have the address next that had least of the processor lately, `headers` says what a
browser may do with a page, `preview` what other sites show of a link to it, `metrics` what an
operator can read, `stopping` how it ends. It knows nothing of attention.

May import: core; cachetools, starlette, uvicorn, prometheus_client.
"""
