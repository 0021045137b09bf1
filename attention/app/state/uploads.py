"""The room that this process has for opened files, and what is held of each visit."""

from __future__ import annotations

import functools
from typing import Any

from streamlit.runtime import Runtime

from attention.core.limits import limits
from attention.hosting.uploads import Uploads


@functools.cache
def uploads() -> Uploads:
    """The room that this process has for opened files."""
    return Uploads(limits().uploads, held_files)


def held_files() -> dict[str, int]:
    """Number of bytes that Streamlit holds of the files of each visit."""
    stored: Any = Runtime.instance().uploaded_file_mgr
    return {
        visit: sum(len(file.data) for file in [*files.values()])
        for visit, files in [*stored.file_storage.items()]
    }
