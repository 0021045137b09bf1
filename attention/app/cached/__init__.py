"""Results that several pages show, computed once for all visitors; `kept` keeps them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Condition, Lock
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from cachetools import LRUCache, cached
from cachetools.keys import hashkey

Given = ParamSpec("Given")
Value = TypeVar("Value")


class Kept(Protocol[Given, Value]):
    """A function whose results are kept. cache: those that are, by key."""

    cache: LRUCache[Any, Value]

    def __call__(self, *args: Given.args, **more: Given.kwargs) -> Value:
        """The result, kept or worked out."""

    def cache_clear(self) -> None:
        """Keep none any longer."""


def _size(value: Any) -> int:
    return len(value) if isinstance(value, bytes) else value.nbytes


def kept(
    entries: int | None = None,
    *,
    nbytes: int | None = None,
    size: Callable[[Any], int] = _size,
    key: Callable[..., Hashable] = hashkey,
    together: bool = False,
) -> Callable[[Callable[Given, Value]], Kept[Given, Value]]:
    """Keep the results of a function for all visitors, those that were asked for last.

    entries: the most of them, or nbytes: the most bytes of all, by the size of each; key: what a
    result depends on, of the arguments; together: whether who asks for what is being worked out
    waits for it. Work that tells its progress must not be waited for: it may stand still until the
    rerun that waits has ended.
    """
    if (entries is None) == (nbytes is None):
        raise ValueError(f"expected entries or nbytes, got entries={entries}, nbytes={nbytes}")
    cache: LRUCache[Any, Any] = (
        LRUCache(entries) if entries else LRUCache(nbytes or 0, getsizeof=size)
    )
    lock, condition = (None, Condition()) if together else (Lock(), None)
    keeping: Any = cached(cache, key, lock, condition)
    return cast("Callable[[Callable[Given, Value]], Kept[Given, Value]]", keeping)
