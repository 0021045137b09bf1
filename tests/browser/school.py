"""A school's system as cmi5 has it: opens a lesson, takes statements, and judges each of them.

It holds what a session may do: cmi5, Quartz, 1st edition; numbers of sections are those of it.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

CONTEXT = "https://w3id.org/xapi/cmi5/context"
VERBS = "http://adlnet.gov/expapi/verbs/"
TOKEN = "dGVhOmdvb2Q="
ACTOR = {"objectType": "Agent", "account": {"homePage": "http://school.example", "name": "7"}}
ACTIVITY = "http://school.example/activities/11"
GROUPING = {"id": "urn:uuid:of-the-course-structure"}
OWN = {"initialized", "terminated"}


class School:
    """A system with one lesson and one learner, enrolled once.

    page: the HTML of the lesson; data: more of its launch data; refuses: whether it gives no token.
    """

    def __init__(self, page: str, data: dict[str, Any], refuses: bool) -> None:
        self.page, self.data, self.refuses = page.encode(), data, refuses
        self.registration = str(uuid.uuid4())
        self.sessions: list[list[dict[str, Any]]] = []
        self.documents: dict[str, Any] = {}
        self.faults: list[str] = []
        self.asked: list[str] = []
        self.used: set[str] = set()
        self.address = ""

    def launch(self) -> str:
        """The address of the lesson for a new session (8.1)."""
        self.sessions.append([])
        named = {
            "endpoint": f"{self.address}/xapi/",
            "fetch": f"{self.address}/token?session={len(self.sessions)}",
            "actor": json.dumps(ACTOR),
            "registration": self.registration,
            "activityId": ACTIVITY,
        }
        return f"{self.address}/lesson.html?{urlencode(named)}"

    @property
    def verbs(self) -> list[list[str]]:
        """The verbs of each session, in the order in which they came."""
        return [[each["verb"]["id"].removeprefix(VERBS) for each in some] for some in self.sessions]

    @property
    def launch_data(self) -> dict[str, Any]:
        """The document LMS.LaunchData (10.2)."""
        session = {f"{CONTEXT}/extensions/sessionid": f"session {len(self.sessions)}"}
        template = {"contextActivities": {"grouping": [GROUPING]}, "extensions": session}
        data = {"contextTemplate": template, "launchMode": "Normal", "moveOn": "Completed"}
        return {**data, "masteryScore": 0.5, **self.data}

    def take(self, told: Any) -> None:
        """Take statements, and note what is wrong with each."""
        for each in told if isinstance(told, list) else [told]:
            self.faults += faults_of(each, self)
            self.sessions[-1].append(each)


def faults_of(told: dict[str, Any], school: School) -> list[str]:
    """All that is wrong with a statement that comes next in a session."""
    verb, data = told["verb"]["id"].removeprefix(VERBS), school.launch_data
    before, result, context = school.verbs[-1], told.get("result", {}), told["context"]
    earlier = [one for session in school.verbs for one in session]
    categories = {one["id"] for one in context["contextActivities"]["category"]}
    judged = {"success", "completion"} & result.keys()
    extensions = data["contextTemplate"]["extensions"]
    scored = verb in ("passed", "failed")
    if scored and "masteryScore" in data:
        mastery = data["masteryScore"]
        extensions = extensions | {f"{CONTEXT}/extensions/masteryscore": mastery}
        if (result["score"]["scaled"] >= mastery) != (verb == "passed"):
            return [f"{verb} with {result['score']}"]
    holds = {
        "9.1": uuid.UUID(told["id"]).version == 4,
        "9.2": told["actor"] == ACTOR,
        "9.3: first, last": (not before) == (verb == "initialized") and "terminated" not in before,
        "9.3: once": verb not in before and not (scored and {"passed", "failed"} & {*before}),
        "9.3: once of a registration": not (verb in ("passed", "completed") and verb in earlier),
        "9.3.5": not (verb == "failed" and "passed" in earlier),
        "9.4": told["object"]["id"] == ACTIVITY,
        "9.5.1": ("score" in result) <= scored,
        "9.5.2": result.get("success") == {"passed": True, "failed": False}.get(verb),
        "9.5.3": result.get("completion") == (True if verb == "completed" else None),
        "9.5.4": result.get("duration", "")[:2] == ("" if verb == "initialized" else "PT"),
        "9.6.1": context["registration"] == school.registration,
        "9.6.2": context["contextActivities"]["grouping"] == [GROUPING],
        "9.6.2.1": f"{CONTEXT}/categories/cmi5" in categories,
        "9.6.2.2": (f"{CONTEXT}/categories/moveon" in categories) == bool(judged),
        "9.6.3": context["extensions"] == extensions,
        "9.7": told["timestamp"].endswith("Z"),
        "10.2.2": data["launchMode"] == "Normal" or verb in OWN,
    }
    return [f"{section}: {told}" for section, is_so in holds.items() if not is_so]


class Handler(BaseHTTPRequestHandler):
    """Answers of the system, to pages of other addresses too."""

    school: School

    def log_message(self, *told: object) -> None:
        """Keep the tests' output as it is."""

    def answer(self, status: int, content: bytes = b"", kind: str = "application/json") -> None:
        self.send_response(status)
        for name in ("Origin", "Headers", "Methods"):
            self.send_header(f"Access-Control-Allow-{name}", "*")
        self.send_header("Access-Control-Allow-Headers", "Authorization")  # which * leaves out
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_OPTIONS(self) -> None:
        self.answer(204)

    def do_GET(self) -> None:
        school, asked = self.school, urlsplit(self.path)
        named = {name: some[-1] for name, some in parse_qs(asked.query).items()}
        school.asked.append(f"{self.command} {asked.path}")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if asked.path == "/lesson.html":
            self.answer(200, school.page, "text/html; charset=utf-8")
        elif asked.path == "/token" and self.command == "POST":
            fresh = not (school.refuses or asked.query in school.used)
            school.used.add(asked.query)
            told = {"auth-token": TOKEN} if fresh else {"error-code": "1", "error-text": "used"}
            self.answer(200, json.dumps(told).encode())
        elif not asked.path.startswith("/xapi/"):
            self.answer(404)
        elif (
            self.headers["Authorization"] != f"Basic {TOKEN}"
            or self.headers["X-Experience-API-Version"] != "1.0.3"
        ):
            school.faults.append(f"8.2 {asked.path}")
            self.answer(401)
        elif asked.path == "/xapi/statements" and self.command == "POST":
            school.take(json.loads(body))
            self.answer(200, b"[]")
        else:
            self.document(named, body)

    do_POST = do_PUT = do_GET

    def document(self, named: dict[str, str], body: bytes) -> None:
        """Answer what is asked of a document: of a state, or of the learner (11)."""
        school, name = self.school, named.get("stateId", named.get("profileId", ""))
        about = {"activityId": ACTIVITY, "registration": school.registration}
        if json.loads(named["agent"]) != ACTOR or (
            "stateId" in named and {each: named.get(each) for each in about} != about
        ):
            school.faults.append(f"10.1 {named}")
        if self.command == "PUT":
            school.documents[name] = json.loads(body)
            self.answer(204)
            return
        told = school.launch_data if name == "LMS.LaunchData" else school.documents.get(name)
        self.answer(404 if told is None else 200, json.dumps(told).encode())


@contextmanager
def opened_school(page: str, refuses: bool = False, **data: object) -> Iterator[School]:
    """A system with a lesson, for as long as the context lasts."""
    school = School(page, data, refuses)
    with ThreadingHTTPServer(
        ("127.0.0.1", 0), type("Serving", (Handler,), {"school": school})
    ) as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        school.address = f"http://127.0.0.1:{served.server_port}"
        yield school
        served.shutdown()
        thread.join()
