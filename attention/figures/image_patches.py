"""Pictures and spectrograms as keys: which tokens are patches, and where each stands.

A vision transformer cuts a picture into a grid of patches, one token each, row by row (Dosovitskiy
et al. 2021, section 3.1); beside them stand a class token and registers (Darcet et al. 2024), or a
text. Of a sound the keys are stretches of time: a grid of one row.
"""

from __future__ import annotations

import math
import struct
import zlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy
from numpy.typing import NDArray
from torch import Tensor

from attention.figures import plotly_templates

MOST_PIXELS = 1024  # along a side
MOST_BESIDE = 16  # tokens before the patches of a picture that are not named
SQUARE = "name the grid, as patches=Patches(rows, columns, first)"
Pixels = NDArray[numpy.uint8]


@dataclass(frozen=True)
class Patches:
    """The grid of a picture's patches within a sequence of tokens.

    rows, columns: of the grid; first: the position of the first patch, the others follow row by
    row. Raises ValueError where there can be no such grid.
    """

    rows: int
    columns: int
    first: int = 1

    def __post_init__(self) -> None:
        if min(self.rows, self.columns) < 1 or self.first < 0:
            raise ValueError(
                "patches must have rows and columns from 1 on and begin at a token from 0 on, "
                f"got {self.rows}, {self.columns} and {self.first}"
            )

    @property
    def stop(self) -> int:
        """The position behind the last patch."""
        return self.first + self.rows * self.columns


def find_patches(tokens: int, patches: Any = None, texts: Sequence[str] | None = None) -> Patches:
    """The patches among so many tokens.

    patches: `Patches`; or a bool for each token that is True where it stands for the picture, as
    `input_ids[0] == model.config.image_token_id`; None = the tokens that repeat one text, as
    `<image>`, or else a square of the last ones, behind a few others. texts: of the tokens, None =
    there are none, but a picture alone. Raises ValueError, with what was expected and what came.
    """
    if patches is None and texts is not None:
        patches = _placeholders(texts)
    if isinstance(patches, Patches):
        many = f"{patches.first} + {patches.rows} × {patches.columns}"
        if patches.stop > tokens or (texts is None and patches.stop < tokens):
            least = "" if texts is None else "at least "
            raise ValueError(f"expected {least}{many} tokens, got {tokens}")
        return patches
    if patches is None:
        side, beside = _square(tokens)
        if beside > MOST_BESIDE or not side:
            raise ValueError(
                f"expected a few tokens and a square of patches, as 1 + {side} × {side} tokens, "
                f"got {tokens}: {SQUARE}"
            )
        return Patches(side, side, beside)
    marks = numpy.asarray(patches.cpu() if isinstance(patches, Tensor) else patches)
    if marks.dtype != bool or marks.shape != (tokens,):
        raise ValueError(
            f"patches must be Patches(rows, columns, first) or a bool for each of {tokens} tokens, "
            f"got {marks.dtype} {marks.shape}"
        )
    places = marks.nonzero()[0]
    if not len(places) or places[-1] - places[0] >= len(places):
        starts = places[numpy.diff(places, prepend=-2) > 1].tolist()
        where = ", ".join(map(str, starts[:5])) or "nowhere"
        raise ValueError(
            f"the tokens of one picture must follow each other, got {len(starts)} stretches, from "
            f"{where} on: {SQUARE}"
        )
    side, beside = _square(len(places))
    if beside:
        raise ValueError(f"expected a square of patches, got {len(places)}: {SQUARE}")
    return Patches(side, side, int(places[0]))


def _placeholders(texts: Sequence[str]) -> NDArray[Any] | None:
    """The tokens that have the text which is repeated most often in one stretch, if any is."""
    stretches = [(len([*same]), text) for text, same in groupby(texts)]
    longest, text = max(stretches, default=(1, ""))
    return numpy.asarray([one == text for one in texts]) if longest > 1 else None


def _square(count: int) -> tuple[int, int]:
    """The side of the largest square of so many, and how many are left over."""
    side = math.isqrt(count)
    return side, count - side * side


@dataclass(frozen=True, eq=False)
class Sight:
    """A picture, or a spectrogram, whose patches are keys. pixels: uint8 (height, width, 3)."""

    pixels: Pixels
    patches: Patches
    is_sound: bool

    def name(self, token: int) -> str:
        """Name a key: a patch by its row and column, counted from 1."""
        grid = self.patches
        if self.is_sound:
            return f"stretch {token + 1}"
        if grid.first <= token < grid.stop:
            row, column = divmod(token - grid.first, grid.columns)
            return f"row {row + 1}, column {column + 1}"
        return "class" if token == 0 else f"register {token}"

    @property
    def source(self) -> str:
        """The picture as an address that holds it: a PNG."""
        return f"data:image/png;base64,{b64encode(png(self.pixels)).decode()}"


def see(
    image: Any, sound: Any, tokens: int, patches: Any = None, texts: Sequence[str] | None = None
) -> Sight:
    """The picture or the sound whose patches are among so many tokens: see `find_patches`."""
    if sound is None:
        return Sight(pixels_of(image), find_patches(tokens, patches, texts), False)
    frames = _numbers("sound", sound)
    if frames.ndim != 2 or frames.shape[1] % tokens or not frames.size:
        raise ValueError(
            f"sound must be a spectrogram of (frequencies, frames) with a multiple of {tokens} "
            f"frames, one or more for each key, got {frames.shape}"
        )
    low, high = float(frames.min()), float(frames.max())
    shares = (frames[::-1] - low) / ((high - low) or 1.0)  # low sounds at the bottom
    return Sight(_small(_grey(shares)), Patches(1, tokens, 0), True)


def pixels_of(image: Any) -> Pixels:
    """A picture as uint8 (height, width, 3), of at most `MOST_PIXELS` along a side.

    image: of PIL; or an array (height, width, 3) or a tensor (3, height, width), of uint8 or of
    floats from 0 to 1. Raises ValueError for others.
    """
    if hasattr(image, "convert"):
        image = numpy.asarray(image.convert("RGB"))
    numbers = _numbers("image", image)
    if isinstance(image, Tensor) and numbers.ndim == 3:
        numbers = numbers.transpose(1, 2, 0)
    low, high = (float(numbers.min()), float(numbers.max())) if numbers.size else (0.0, 0.0)
    floats = numbers.dtype.kind == "f"
    if numbers.ndim != 3 or numbers.shape[2] != 3 or not numbers.size:
        raise ValueError(
            "image must be of PIL, an array (height, width, 3) or a tensor (3, height, width), got "
            f"{type(image).__name__} of {numbers.shape}"
        )
    if not (numbers.dtype == numpy.uint8 or (floats and low >= 0 and high <= 1)):
        raise ValueError(
            "image must have uint8 or numbers from 0 to 1, as before a processor makes its mean 0, "
            f"got {numbers.dtype} from {low:.3g} to {high:.3g}"
        )
    return _small(numbers if not floats else (255 * numbers).round().astype(numpy.uint8))


def _numbers(name: str, given: Any) -> NDArray[Any]:
    if isinstance(given, Tensor):
        given = given.detach().cpu()
        given = given.float().numpy() if given.is_floating_point() else given.numpy()
    found = numpy.asarray(given)
    if found.dtype.kind not in "fiu" or (
        found.dtype.kind == "f" and not numpy.isfinite(found).all()
    ):
        kind = "NaN or ∞" if found.dtype.kind == "f" else type(given).__name__
        raise ValueError(
            f"{name} must be an array, a tensor or of PIL, of finite numbers, got {kind}"
        )
    return found


def _small(pixels: Pixels) -> Pixels:
    """The mean of each block, where there are too many pixels."""
    for axis in (0, 1):
        size = -(-pixels.shape[axis] // MOST_PIXELS)
        if size > 1:
            starts = numpy.arange(0, pixels.shape[axis], size)
            sums = numpy.add.reduceat(pixels.astype(numpy.float64), starts, axis)
            counts = numpy.diff(starts, append=pixels.shape[axis])
            counts = counts.reshape([-1 if at == axis else 1 for at in range(pixels.ndim)])
            pixels = (sums / counts).round().astype(numpy.uint8)
    return pixels


def _grey(shares: NDArray[Any]) -> Pixels:
    """Shares of 1 as grey: the loudest is black."""
    return numpy.repeat((255 - 255 * shares).round().astype(numpy.uint8)[..., None], 3, 2)


def png(pixels: Pixels) -> bytes:
    """A picture as a file of PNG. pixels: uint8 (height, width, 3)."""
    height, width, _ = pixels.shape
    lines = numpy.diff(pixels, axis=1, prepend=numpy.uint8(0)).reshape(height, -1)
    filtered = numpy.insert(lines, 0, 1, axis=1)  # each less what is left of it: PNG's filter 1
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(filtered.tobytes(), 6)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def coloured(shades: Tensor) -> Pixels:
    """Shades of a map, uint8 (rows, columns), in the colours of the light theme; 0 is white."""
    steps = [[*bytes.fromhex(colour[1:])] for colour in plotly_templates.SEQUENTIAL]
    at = numpy.linspace(0, len(steps) - 1, 255)
    table = [numpy.interp(at, range(len(steps)), channel) for channel in zip(*steps, strict=True)]
    whole = numpy.concatenate([[[255] * 3], numpy.stack(table, 1).round()]).astype(numpy.uint8)
    found: Pixels = whole[shades.numpy()]
    return found
