"""Memory that this machine, or the container that this process runs in, has free."""

from __future__ import annotations

import contextlib
from pathlib import Path

MACHINE = Path("/proc/meminfo")
CONTAINER = Path("/sys/fs/cgroup")
AVAILABLE = "MemAvailable:"


def free_memory() -> int | None:
    """Bytes that can be had without swapping, None where nothing tells them."""
    told = []
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = MACHINE.read_text("utf-8").splitlines()
        told.append(1024 * int(next(line for line in lines if AVAILABLE in line).split()[1]))
    with contextlib.suppress(OSError, ValueError):  # "max": no limit
        most, now = (
            (CONTAINER / f"memory.{name}").read_text("utf-8") for name in ("max", "current")
        )
        told.append(int(most) - int(now))
    return min(told, default=None)
