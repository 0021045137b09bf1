"""A Dask cluster for work that is cut into pieces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

CONNECT = "10s"  # until there must be a cluster


@contextmanager
def cluster(workers: int, address: str | None = None) -> Iterator[Any]:
    """The client of a Dask cluster while it lasts: that at an address, or so many workers here, of
    one thread each.

    Raises ValueError without Dask, and OSError where there is none at the address.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError("it needs Dask: pip install distributed") from None
    with ExitStack() as stack:
        where: Any = address
        if address is None:
            where = LocalCluster(
                n_workers=workers, threads_per_worker=1, memory_limit=None, dashboard_address=None
            )
            stack.enter_context(where)
        yield stack.enter_context(Client(where, timeout=CONNECT))
