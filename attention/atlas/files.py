"""Passports in files: JSON by a published schema, packed by gzip, read with every type checked.

Packaged ones lie in `FOLDER`, an owner's in the folder that ATTENTION_ATLAS names.
"""

from __future__ import annotations

import gzip
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import msgspec

from attention.analysis.names import WORDS
from attention.atlas import passport
from attention.atlas.passport import HALVES, Atlas, OnHalves, Passport, Row
from attention.core.printing import listed

SCHEMA = 4
FOLDER = Path(__file__).parent / "packaged"
ENDING = ".json.gz"
OWN_ATLAS_VARIABLE = "ATTENTION_ATLAS"
DIGITS = 6  # significant ones of each number in a file
MAX_PACKED, MAX_BYTES = 1 << 25, 1 << 28  # of a file, and of the JSON in it
LARGEST = 1_000_000  # of a number: shares, bits, words apart, nats a piece are far below
MAGIC = b"\x1f\x8b"

Part = TypeVar("Part")


def written(atlas: Atlas) -> bytes:
    """An atlas as JSON packed by gzip: the same bytes for the same atlas.

    Numbers are rounded to `DIGITS` significant digits. Raises ValueError where one is no number, or
    a part points at another that is not there.
    """
    check(atlas)
    plain = _rounded(msgspec.to_builtins(atlas), "$")
    return gzip.compress(msgspec.json.encode(plain), 9, mtime=0)


def write(atlas: Atlas, path: Path) -> None:
    """Write an atlas as `written` has it; the file is whole as soon as it is there."""
    made = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        made.write_bytes(written(atlas))
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)


def read(path: Path) -> Atlas:
    """The atlas in a file, packed or not.

    Raises ValueError, saying what was expected and what came: where it cannot be read, is larger
    than `MAX_PACKED` or, unpacked, `MAX_BYTES`, or is not what the schema says.
    """
    try:
        return check(decoded(packed_in(path), Atlas))
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path.name} must be an atlas of heads: {error}") from error


def packed_in(path: Path) -> bytes:
    """The bytes of a file, of one that is larger than may be a byte too many. Raises OSError."""
    with path.open("rb") as opened:
        return opened.read(MAX_PACKED + 1)


def decoded(packed: bytes, kind: type[Part]) -> Part:
    """The bytes of a file as an `Atlas`, or as a class with some of its fields, all others passed
    over; its types are checked. Raises ValueError as `read` does."""
    if len(packed) > MAX_PACKED:
        raise ValueError(f"it may have up to {MAX_PACKED:,} bytes, it has more")
    plain = _unpacked(packed) if packed.startswith(MAGIC) else packed
    try:
        return msgspec.json.decode(plain, type=kind)
    except msgspec.MsgspecError as error:
        raise ValueError(str(error)) from error
    except RecursionError:
        raise ValueError("its parts lie too deep in each other") from None


def _unpacked(packed: bytes) -> bytes:
    """Bytes that gzip packed, no more than `MAX_BYTES` of them. Raises ValueError."""
    unpacking = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        plain = unpacking.decompress(packed, MAX_BYTES + 1)
    except zlib.error as error:
        raise ValueError(f"it is packed, but not by gzip: {error}") from error
    if len(plain) > MAX_BYTES:
        raise ValueError(f"unpacked it may have up to {MAX_BYTES:,} bytes, it has more")
    if not unpacking.eof:
        raise ValueError("it must be whole, it ends too early")
    return plain


def _rounded(part: Any, where: str) -> Any:
    """Plain data with its numbers rounded. Raises ValueError where one is none."""
    if isinstance(part, float):
        if not math.isfinite(part):
            raise ValueError(f"each number must be finite, got {part} at {where}")
        return float(f"{part:.{DIGITS}g}") + 0.0  # no zero has a sign
    if isinstance(part, dict):
        return {name: _rounded(each, f"{where}.{name}") for name, each in part.items()}
    if isinstance(part, list | tuple):
        return [_rounded(each, f"{where}[{at}]") for at, each in enumerate(part)]
    return part


def check(atlas: Atlas) -> Atlas:
    """The atlas itself, where all that its parts point at is there. Raises ValueError."""
    if atlas.schema != SCHEMA:
        raise ValueError(f"its schema must be {SCHEMA}, got {atlas.schema}")
    for text in (*atlas.sentences, *atlas.prompts):
        if text.half not in HALVES:
            raise ValueError(f"each half must be one of {', '.join(HALVES)}, got {text.half!r}")
    heads = [one.place for one in atlas.passports]
    every = [(layer, head) for layer, many in enumerate(atlas.shape) for head in range(many)]
    if not heads or heads != every:
        raise ValueError(
            "its passports must be of heads by layer and head, each once, from 0 on, none left out"
        )
    asked = sum(text.by_zero for text in atlas.prompts)
    for one in atlas.passports:
        name = f"head {one.name}"
        for row in rows_of(one):
            _check_row(atlas, row, name)
        _check_said(one, name)
        effects = one.effects
        for said, expected, got in (
            ("effects by mean", len(atlas.prompts), len(effects.by_mean)),
            ("effects by zero", asked, len(effects.by_zero)),
        ):
            if got != expected:
                raise ValueError(f"{name} must have {expected} {said}, got {got}")
        for place in (*effects.hangs, *effects.controls):
            if not 0 <= place < len(atlas.prompts):
                raise ValueError(
                    f"{name} must hang on prompts 0 to {len(atlas.prompts) - 1}, got {place}"
                )
    return atlas


def _check_said(one: Passport, name: str) -> None:
    """Raise ValueError where a passport names what is not known, or has numbers without sense."""
    unknown = {each.name for each in one.names} - {*WORDS}
    if unknown:
        got = listed(f"{each[:40]!r}" for each in sorted(unknown))
        raise ValueError(f"{name} must have names of {listed(WORDS)}, got {got}")
    largest = max(map(abs, numbers_of(one)))
    if largest > LARGEST:
        raise ValueError(f"{name} must have numbers up to {LARGEST:,}, got {largest:g}")


def numbers_of(one: Passport) -> Iterator[float]:
    """All numbers of a passport that are means or effects on prompts."""
    effects = one.effects
    halves: tuple[OnHalves, ...] = (*one.measures, *one.names, *effects.kinds)
    halves += (effects.elsewhere, effects.elsewhere_by_zero)
    for mean in (one.unexplained, one.sink, *(mean for each in halves for mean in each.halves)):
        yield from (mean.mean, mean.low, mean.high)
    yield from effects.by_mean


def rows_of(one: Passport) -> Iterable[Row]:
    """All rows of a passport: its sample, and examples and counter-examples of its names."""
    for name in one.names:
        yield name.example
        if name.counter is not None:
            yield name.counter
    yield from one.rows


def _check_row(atlas: Atlas, row: Row, name: str) -> None:
    if not 0 <= row.sentence < len(atlas.sentences):
        raise ValueError(
            f"{name} must have rows of sentences 0 to {len(atlas.sentences) - 1}, "
            f"got {row.sentence}"
        )
    pieces = len(atlas.sentences[row.sentence].pieces)
    if not 0 <= row.query < pieces or len(row.weights) > pieces:
        raise ValueError(
            f"{name} must have rows within the {pieces} pieces of sentence {row.sentence}, got "
            f"query {row.query} and {len(row.weights)} weights"
        )


def packaged() -> dict[str, Path]:
    """The packaged files, by the names of their models."""
    return within(FOLDER)


def available() -> dict[str, Path]:
    """The packaged files, and those in the folder that ATTENTION_ATLAS names, which take the place
    of packaged ones of their name. By the names of their models, which files are called by."""
    own = os.environ.get(OWN_ATLAS_VARIABLE)
    return packaged() | (within(Path(own).expanduser()) if own else {})


def within(folder: Path) -> dict[str, Path]:
    """The files in a folder, by the names of their models."""
    files = sorted(folder.glob(f"[!.]*{ENDING}"))
    return {unquote(path.name.removesuffix(ENDING)): path for path in files}


def path_of(folder: Path, model: str) -> Path:
    """The file of a model in a folder, its name as in an address: a slash is %2F."""
    name = re.sub(r"^\.", "%2E", quote(model, safe=" "))  # files that begin with a dot are hidden
    return folder / f"{name}{ENDING}"


def schema() -> dict[str, Any]:
    """The JSON Schema of the files (draft 2020-12), with the words of the classes' docstrings."""
    made = msgspec.json.schema(Atlas)
    for name, each in made["$defs"].items():
        declared = getattr(passport, name)
        words = " ".join((declared.__doc__ or "").split())
        names = [field.name for field in fields(declared)]
        said = field_words(words, names)
        each["description"] = words
        for field, about in each["properties"].items():
            if field in said:
                about["description"] = said[field]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def field_words(words: str, names: Iterable[str]) -> dict[str, str]:
    """Words of a docstring on each field: behind "name:" or "name, other:", up to the next one."""
    known = "|".join(names)
    heads = [*re.finditer(rf"(?:^|[.;:] )((?:{known})(?:, (?:{known}))*): ", words)]
    ends = [*(head.start() for head in heads), len(words)][1:]
    return {
        name: words[head.end() : end].rstrip(".;")
        for head, end in zip(heads, ends, strict=False)
        for name in head[1].split(", ")
    }
