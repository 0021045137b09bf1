"""A model's name at Hugging Face -> a folder of its files, fetched into the library's own cache.

HF_ENDPOINT, HF_HOME and the library's other variables hold as they do elsewhere.
"""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import constants, get_hf_file_metadata, hf_hub_download, hf_hub_url
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RemoteEntryNotFoundError,
    RepositoryNotFoundError,
)

from attention.trained.checkpoints import (
    CONFIG,
    INDEX,
    TOKENIZER,
    WEIGHTS,
    read_index,
    read_layout,
)


def fetch_folder(name: str) -> Path:
    """The folder of a model's files; what is not in the cache yet is fetched, with a bar on the
    terminal. Of weights only safetensors are.

    Where Hugging Face does not answer, what the cache has is taken. Raises ValueError, saying why,
    where the model cannot be had.
    """
    try:
        return _fetched(name, _problem(name))
    except Exception as error:  # a network, a server, a disk: the library raises many kinds
        if type(error) is ValueError:
            raise
        raise ValueError(_why(error)) from error


def _problem(name: str) -> str | None:
    """Why Hugging Face does not let this model be had, None where it does.

    Asked once: the library itself would try again and again for half a minute.
    """
    try:
        get_hf_file_metadata(hf_hub_url(name, CONFIG))
    except Exception as error:  # as above
        return _why(error)
    return None


def _fetched(name: str, problem: str | None) -> Path:
    """The folder of a model's files; from the cache alone where there is a problem."""

    def fetch(file: str, revision: str | None = None) -> Path | None:
        """One file, None where the model has none."""
        local = problem is not None
        try:
            return Path(hf_hub_download(name, file, revision=revision, local_files_only=local))
        except EntryNotFoundError as error:
            if isinstance(error, LocalEntryNotFoundError) and not local:
                raise error.__cause__ or error from None  # it went away meanwhile
            return None

    def needed(file: str, revision: str | None = None) -> Path:
        found = fetch(file, revision)
        if found is None:
            raise ValueError(problem or f"it has no {file}")
        return found

    folder = needed(CONFIG).parent
    read_layout(folder)  # before anything large is fetched
    revision = folder.name  # all files are of one revision
    needed(TOKENIZER, revision)
    if fetch(WEIGHTS, revision) is None:
        index = fetch(INDEX, revision)
        if index is None:
            raise ValueError(problem or f"it has no {WEIGHTS}")
        for part in read_index(index):
            needed(part, revision)
    return folder


def _why(error: BaseException) -> str:
    """Reason of a failure between here and Hugging Face."""
    if isinstance(error, HFValidationError):
        return "it must be a folder that is there, or a model's name at Hugging Face"
    if isinstance(error, GatedRepoError):
        return "its makers give it only to those who have agreed to their terms, see HF_TOKEN"
    if isinstance(error, RepositoryNotFoundError):
        return "Hugging Face has no model of that name, or none that is open to all"
    if isinstance(error, RemoteEntryNotFoundError):
        return f"it has no {CONFIG}"
    if isinstance(error, OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE is set, and its files are not all in the cache"
    if isinstance(error, OSError) and error.strerror and not isinstance(error, HfHubHTTPError):
        return f"its files cannot be kept in {constants.HF_HUB_CACHE}: {error.strerror}"
    said = " ".join(str(error).split()) or type(error).__name__
    return f"it could not be fetched from {constants.ENDPOINT}: {said}"
