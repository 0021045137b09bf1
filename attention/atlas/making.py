"""Passports made: what stages measured of a model, put together.

Texts may be measured by other processes before, on a Dask cluster: see `measure_on`. All of them
work on one thread, and what is put together is then the same to the last bit.
"""

from __future__ import annotations

import functools
import hashlib
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import torch
from torch import Tensor

from attention import __version__
from attention.analysis.cluster import cluster
from attention.atlas import effects, files, patterns, random_rotation, stages
from attention.atlas.corpus import LANGUAGES, Corpus, CorpusItem, corpus_of, of_lines
from attention.atlas.passport import SEED, Atlas, Passport
from attention.atlas.stages import Stage, Subject
from attention.trained import sources
from attention.trained.models import Model, goes_on
from attention.trained.sources import CARRIED, NONE, PACKAGED, Carried, Own, Packaged

STAGES: tuple[Stage, ...] = (
    effects.OnAnswers(),
    effects.Elsewhere(),
    random_rotation.OnRandomRotation(),
    patterns.Patterns(),
)
RETRIES = 3  # of a text that failed

Raw = Mapping[str, Sequence[dict[str, Tensor]]]  # by stage, of each of its texts
Told = Callable[[str, int, int], None]  # of a part of the work, how many of how many are done


@dataclass(frozen=True)
class Wanted:
    """A model that passports are made of.

    entry: the name of a packaged model, a folder, a GGUF file or a name at Hugging Face; lines:
    texts of one's own, () for the packaged ones.
    """

    entry: str
    lines: tuple[str, ...] = ()

    @functools.cached_property
    def source(self) -> Packaged | Carried | Own:
        """The origin of the model. Raises ValueError or OSError where it cannot be had."""
        known: dict[str, Packaged | Carried] = {**CARRIED, **PACKAGED}
        return known.get(self.entry) or sources.find_own(self.entry, {NONE, *known})

    @property
    def name(self) -> str:
        """The model's name."""
        return self.source.about.name

    def subject(self) -> Subject:
        """The model, read, with its texts. Raises ValueError where there are none for it."""
        model = self.source.read()
        return Subject(model, self.corpus(model))

    def corpus(self, model: Model) -> Corpus:
        """Texts for the model. Raises ValueError where there are none."""
        return of_lines(self.lines, goes_on(model)) if self.lines else corpus_of(model)

    def within(self, folder: Path) -> Path:
        """The folder of what stages measure, in that of all models."""
        return folder / quote(self.name, safe=" ")


def usual() -> tuple[str, ...]:
    """The models that passports are packaged of: all that are installed and that texts are here
    for."""
    return tuple(
        name
        for name, source in (CARRIED | PACKAGED).items()
        if source.about.language in LANGUAGES
        if isinstance(source, Carried) or source.path is not None
    )


def weights_of(wanted: Wanted, subject: Subject) -> str:
    """SHA-256 of the model's file; of several that of what `sha256sum` prints of them, by name; of
    a model without a file that of its numbers."""
    found = {}
    for file in wanted.source.files:
        with file.open("rb") as opened:
            found[file.name] = hashlib.file_digest(opened, "sha256").hexdigest()
    if len(found) < 2:
        return next(iter(found.values()), subject.weights)
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(found.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def versions() -> dict[str, str]:
    """Versions of what passports are made by."""
    return {
        "attention-explorer": __version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
    }


@dataclass(frozen=True, eq=False)
class Found:
    """Measurements of a model by all stages: raw, by stage, of each of its texts in `corpus`."""

    corpus: Corpus
    raw: Raw

    @property
    def turned(self) -> dict[CorpusItem, Tensor]:
        """Changes of answers where the step to a head's mean is turned, by prompt, (heads,)."""
        stage = random_rotation.OnRandomRotation()
        each = (one[random_rotation.RANDOM_ROTATION] for one in self.raw[stage.name])
        return dict(zip(stage.texts(self.corpus), each, strict=True))


def measure(wanted: Wanted, folder: Path, told: Told) -> Found:
    """Measure a model by all stages, but what the folder has already."""
    subject = wanted.subject()
    raw = {
        stage.name: stages.run(
            stage,
            subject,
            wanted.within(folder),
            functools.partial(told, f"{wanted.name}, {stage.name}"),
        )
        for stage in STAGES
    }
    return Found(subject.corpus, raw)


def atlas_of(wanted: Wanted, found: Found, command: str) -> Atlas:
    """The passports of all heads of a model, of what stages measured of it.

    command: what makes them again.
    """
    subject = wanted.subject()
    about = subject.model.about
    return Atlas(
        files.SCHEMA,
        about.name,
        about.title,
        about.checkpoint,
        weights_of(wanted, subject),
        versions(),
        command,
        SEED,
        tuple(map(subject.text, subject.corpus.sentences)),
        effects.prompts_of(subject, found.raw[effects.OnAnswers().name]),
        passports_of(subject, found),
    )


def passports_of(subject: Subject, found: Found) -> tuple[Passport, ...]:
    """Passports of all heads, of what stages measured."""
    raw = found.raw
    does = effects.summarised(subject, raw["effects"], raw["elsewhere"], found.turned)
    looks = patterns.summarised(subject, raw["patterns"])
    return tuple(
        Passport(
            *head,
            looks[head].measures,
            looks[head].names,
            # rows of a decoder are of pieces that were written, which no text has
            () if subject.model.layers[head[0]].crosses else looks[head].rows,
            looks[head].unexplained,
            looks[head].sink,
            does[head],
        )
        for head in subject.heads
    )


def measure_on(
    wanted: Wanted, folder: Path, told: Told, workers: int, scheduler: str | None = None
) -> None:
    """Have all stages measure a model on a Dask cluster: that of a scheduler, or so many workers
    here. What they measure lies in the folder, which they must see as it is here.

    Raises ValueError without Dask, and RuntimeError or OSError where a text cannot be measured.
    """
    folder, corpus = folder.resolve(), wanted.subject().corpus
    with cluster(workers, scheduler) as client:
        from distributed import as_completed

        for at, stage in enumerate(STAGES):
            places = range(len(stage.texts(corpus)))
            futures = [
                client.submit(
                    work, wanted.entry, wanted.lines, folder, at, place, pure=False, retries=RETRIES
                )
                for place in places
            ]
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                told(f"{wanted.name}, {stage.name}", done, len(places))


@functools.lru_cache(maxsize=1)
def _subject_of(wanted: Wanted) -> Subject:
    return wanted.subject()


def work(entry: str, lines: tuple[str, ...], folder: Path, stage: int, place: int) -> None:
    """Measure one text of one stage into the folder: all that runs in another process."""
    torch.set_num_threads(1)
    wanted = Wanted(entry, lines)
    subject = _subject_of(wanted)
    asked = STAGES[stage].texts(subject.corpus)[place]
    stages.measured(STAGES[stage], subject, wanted.within(folder), asked)
