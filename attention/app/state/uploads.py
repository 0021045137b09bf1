"""The room that this process has for opened files, what is held of each visit, their texts."""

from __future__ import annotations

import functools
from typing import Any

from streamlit.runtime import Runtime
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile

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


def text_of(file: UploadedFile | DeletedFile) -> str:
    """The text of a file that a visitor opens.

    Raises ValueError, in a sentence, where it is none in UTF-8, or the server does not hold it.
    """
    if isinstance(file, DeletedFile):
        raise ValueError(f"This file cannot be read: {uploads().why_missing(file.file_id)}.")
    try:
        return file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("A text file must be in UTF-8, this one is not.") from None
