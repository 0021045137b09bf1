"""A quota for opened files: how much all of them take together, and those from one address."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from weakref import WeakSet

from cachetools import LRUCache
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attention.hosting import metrics
from attention.hosting.addresses import address_of, networks

PATH = "/_stcore/upload_file/"  # then the visit and the file
NO_ROOM = (
    "there is no room for it at the moment. Opened files may take {} MB together, and those from "
    "one address no more than they leave free: please try again later"
)
NOT_HELD = "the server does not hold it any more, please open it again"
REMEMBERED = 1000  # files that there was no room for
PATIENCE = 10.0  # seconds for a file to come, and
SLOWEST = 1 << 15  # bytes a second


class NoRoom(ValueError):
    """There is no room for what a visitor opens."""


class Reservation:
    """Bytes of the quota that a visit has for as long as somebody keeps this."""

    def __init__(self, visit: str, nbytes: int) -> None:
        self.visit, self.nbytes = visit, nbytes


class Uploads:
    """Shares of the room for opened files, by who has them.

    megabytes: all the room there is; files: gives the bytes of the files that the server holds, by
    visit. What is on its way, and what is read out of files, is taken here. An address may have as
    much as it leaves free, and a network by its share, so that none ever has all, and neither have
    a few together.
    """

    def __init__(self, megabytes: int, files: Callable[[], Mapping[str, int]]) -> None:
        self.megabytes, self.files = megabytes, files
        self._addresses: dict[str, str] = {}  # of visits
        self._taken: WeakSet[Reservation] = WeakSet()
        self._refused: LRUCache[str, bool] = LRUCache(REMEMBERED)
        self._lock = threading.Lock()

    def take(self, visit: str, nbytes: int, address: str | None = None) -> Reservation:
        """Room for so many bytes more. address: of the visit, None = as said before.

        Raises NoRoom where there is none.
        """
        with self._lock:
            held = self._held()
            addresses = {each: self._addresses.get(each, "") for each in (visit, *held)}
            if address is not None:
                addresses[visit] = address
            self._addresses = addresses
            free = (self.megabytes << 20) - held.total() - nbytes
            for network in networks(addresses[visit]):
                own = sum(held[each] for each in held if network in networks(addresses[each]))
                if own + nbytes > free * network.of_free:
                    raise NoRoom(NO_ROOM.format(self.megabytes))
            taken = Reservation(visit, nbytes)
            self._taken.add(taken)
            return taken

    def _held(self) -> Counter[str]:
        held = Counter(self.files())
        for taken in self._taken:
            held[taken.visit] += taken.nbytes
        return held

    def refuse(self, file: str) -> None:
        """Remember that there was no room for a file, for its page to say so."""
        with self._lock:
            self._refused[file] = True

    def why_missing(self, file: str) -> str:
        """Why the server does not hold a file."""
        with self._lock:
            return NO_ROOM.format(self.megabytes) if file in self._refused else NOT_HELD


class UploadLimit:
    """Middleware: takes no file that there is no room for, and none for a session that is not here.

    is_here: True for a session of this server. A visitor who is led to a full replica has a place
    on the next one, and so sends files here first: at a 404 nginx asks the next one. Where
    there is no room Streamlit's page would show the status of a refusal instead of a sentence. So
    such a file is read to its end, thrown away, and answered as if it were held; the app says why
    it is not.
    """

    def __init__(self, app: ASGIApp, uploads: Uploads, is_here: Callable[[str], bool]) -> None:
        self.app, self.uploads, self.is_here = app, uploads, is_here

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        _, _, named = (scope["path"] if scope["type"] == "http" else "").partition(PATH)
        visit, slash, file = named.partition("/")
        if slash and not self.is_here(visit):
            await Response("No such session", 404)(scope, receive, send)
            return
        if not named or scope["method"] != "PUT":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive := _in_time(receive))
        length = request.headers.get("content-length", "")
        if not (length.isascii() and length.isdecimal() and len(length) < 16):
            await Response("Length required", 411)(scope, receive, send)
            return
        if not request.headers.get("content-type", "").startswith("multipart/form-data"):
            await Response("A file comes as multipart/form-data", 415)(scope, receive, send)
            return
        try:
            await self._pass_on(request, visit, file, int(length), send)
        except TimeoutError:
            metrics.REFUSED.labels("uploads").inc()
            answer = Response("The file came too slowly", 408, {"Connection": "close"})
            await answer(scope, receive, send)

    async def _pass_on(
        self, request: Request, visit: str, file: str, nbytes: int, send: Send
    ) -> None:
        try:
            coming = self.uploads.take(visit, nbytes, address_of(request))
        except NoRoom:
            metrics.REFUSED.labels("uploads").inc()
            self.uploads.refuse(file)
            with contextlib.suppress(ClientDisconnect):
                async for _ in request.stream():
                    pass
            await Response(status_code=204)(request.scope, request.receive, send)
            return
        try:
            await self.app(request.scope, request.receive, send)
        finally:
            coming.nbytes = 0


def _in_time(receive: Receive) -> Receive:
    """Receives a request whose body has to come in time. Raises TimeoutError."""
    loop = asyncio.get_running_loop()
    until: float | None = loop.time() + PATIENCE

    async def receive_in_time() -> Message:
        nonlocal until
        async with asyncio.timeout_at(until):
            message = await receive()
        if not message.get("more_body"):
            until = None
        elif until is not None:
            until += len(message["body"]) / SLOWEST
        return message

    return receive_in_time
