"""Ends with 0 where the app on this machine says that it is healthy, in the body of its answer."""

import http.client
import sys

server = http.client.HTTPConnection("127.0.0.1", int((sys.argv[1:] or ["8501"])[0]), timeout=4)
try:
    server.request("GET", "/_stcore/health")
    healthy = server.getresponse().read() == b"ok"
except OSError:
    healthy = False
sys.exit(not healthy)
