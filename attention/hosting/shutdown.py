"""A shutdown that lets what is under way come to its end."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time

PATIENCE_SECONDS = 15.0  # deploy/ gives a process longer before it is killed


def stop_once_idle() -> None:
    """Have the signal to stop wait until no run is under way and what the last one made is sent.

    The server itself would close every websocket at once. Afterwards it does, and the browsers go
    to another replica with all that is set.
    """
    stop = signal.getsignal(signal.SIGTERM)
    if not callable(stop) or sys.platform == "win32":
        return
    loop = asyncio.get_running_loop()
    waiting: list[asyncio.Task[None]] = []  # a task that nobody holds may be collected

    async def wait() -> None:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, stop)  # once more, and it stops at once
        give_up = time.monotonic() + PATIENCE_SECONDS
        idle = 0
        while idle < 3 and time.monotonic() < give_up:
            idle = 0 if _runs() else idle + 1
            await asyncio.sleep(0.1)
        stop(signal.SIGTERM, None)

    loop.add_signal_handler(signal.SIGTERM, lambda: waiting.append(loop.create_task(wait())))


def _runs() -> bool:
    """True if a visitor's run is under way: each has a thread for as long as it lasts."""
    return any(thread.name == "ScriptRunner.scriptThread" for thread in threading.enumerate())
