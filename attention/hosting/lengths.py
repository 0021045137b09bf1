"""Headers of a request, bounded before anybody reads them: all that is read costs its length."""

from __future__ import annotations

from starlette.types import Scope

MAX_HEADERS = 100
MAX_HEADER = 1 << 13  # bytes of one; what other servers take at most, too
MAX_PATH = 1 << 11  # letters; a page's is short, the name of a file of a visit takes a hundred
TOO_LONG = (
    f"The request is too long. Its path may have {MAX_PATH:,} letters, and it may have "
    f"{MAX_HEADERS} headers of {MAX_HEADER:,} bytes: cookies of other pages at this address may "
    "take these, please delete them."
)


def too_long(scope: Scope) -> bool:
    """True if a request has a longer path, or more or longer headers, than anybody needs."""
    headers = scope["headers"]
    return (
        len(scope["path"]) > MAX_PATH
        or len(headers) > MAX_HEADERS
        or any(len(value) > MAX_HEADER for _, value in headers)
    )


def without_escapes(scope: Scope) -> Scope:
    """The same request without those of its cookies that hold a backslash; none of ours does.

    Python before 3.11.10 reads a quoted one in quadratic time: 60 kB took 3.6 s (CVE-2024-7592).
    """
    if not any(name == b"cookie" and b"\\" in value for name, value in scope["headers"]):
        return scope
    kept = [
        (name, b";".join(each for each in value.split(b";") if b"\\" not in each))
        if name == b"cookie"
        else (name, value)
        for name, value in scope["headers"]
    ]
    return {**scope, "headers": kept}
