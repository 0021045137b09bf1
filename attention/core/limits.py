"""Limits that the owner of a server sets for its visitors: all of them in one variable.

`ATTENTION_LIMITS="tokens=128 sessions=50"`; what is not named has its default. Standard library
only.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import Any

from attention.core.settings import settings_of, validate, whole

LIMITS_VARIABLE = "ATTENTION_LIMITS"
OWN_LESSONS_VARIABLE = "ATTENTION_LESSONS"
MAX_SEEN = 512  # tokens whose weights are all seen at once; of a longer text there is a map
MAX_TOKENS = 4096


@dataclass(frozen=True)
class Limits:
    """Limits of each visitor on the server, and of all of them together."""

    tokens: int = whole(
        MAX_TOKENS,
        "Tokens",
        16,
        MAX_TOKENS,
        help="of a text that a trained model reads, and up to 512 of a sentence; the others are "
        "left out",
    )
    models: int = whole(10, "Models", 0, 99, help="trained models that are loaded at start")
    sessions: int = whole(
        300, "Sessions", 1, 100_000, help="open tabs at once; who comes later waits in a queue"
    )
    address: int = whole(
        50,
        "Address",
        1,
        100,
        help="% of the open tabs that one address may have; its other tabs wait for one of these",
    )
    share: int = whole(
        20,
        "Share",
        1,
        100,
        help="% of one core that a session may use for long; beyond it, its changes wait",
    )
    runs: int = whole(
        4, "Runs", 1, 1000, help="changes that are worked on at once; further ones wait"
    )
    messages: int = whole(
        20, "Messages", 1, 1000, help="a second from one session; further ones wait"
    )
    requests: int = whole(
        500, "Requests", 1, 100_000, help="a second from one address; further ones are refused"
    )
    uploads: int = whole(
        256,
        "Uploads",
        8,
        100_000,
        help="MB that opened files may take together, from one address no more than it leaves free",
    )

    def __post_init__(self) -> None:
        validate(self)

    @property
    def seen(self) -> int:
        """Number of tokens whose weights are all seen at once."""
        return min(MAX_SEEN, self.tokens)


@functools.cache
def limits() -> Limits:
    """Limits of this process. Raises ValueError, naming the variable, where they cannot be read."""
    return read_limits(os.environ.get(LIMITS_VARIABLE, ""))


def read_limits(text: str) -> Limits:
    """Limits written as `name=number`, with spaces or commas between.

    Raises ValueError, saying what was expected and what came.
    """
    declared = settings_of(Limits)
    given: dict[str, Any] = {}
    for word in text.replace(",", " ").split():
        name, _, number = word.partition("=")
        if name not in declared:
            raise ValueError(
                f"{LIMITS_VARIABLE} must name some of {', '.join(declared)}, as in tokens=128, "
                f"got {word[:40]!r}"
            )
        given[name] = declared[name].parse(number)
    try:
        return Limits(**given)
    except ValueError as error:
        raise ValueError(f"{LIMITS_VARIABLE}: {error}") from None
