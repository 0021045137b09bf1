"""A sentence and what a head sees in it, as a card to share. Nothing here displays."""

from __future__ import annotations

import html
from collections.abc import Sequence

WIDTH, MARGIN, LINE, LETTER = 560, 30, 50, 26  # pixels
MOST_LINES, MOST_TEXT = 4, 66
NARROW, WIDE = frozenset("iljtfr.,;:!|'’ I"), frozenset("mwMW@%")
INK, QUIET, CHOSEN = "#1f2937", "#4b5563", "#d97706"
SHADE = "37, 133, 191"
DOT, JOINED = "·", "##"  # before a piece: there is a space; it goes on a word
MARKS = f"{DOT}{JOINED}"


def width_of(text: str, size: float) -> float:
    """About how wide a text is drawn, whatever the font is. Pixels."""
    return size * sum(map(_letter, text))


def _letter(letter: str) -> float:
    if letter in NARROW:
        return 0.33
    if letter in WIDE:
        return 0.9
    if ord(letter) > 0x2E80:
        return 1.0
    return 0.7 if letter.isupper() else 0.58


def card_words(tokens: Sequence[str]) -> list[tuple[str, bool]]:
    """Each token without the marks of its tokenizer, and whether a space goes before it."""
    dotted = any(token.startswith(DOT) for token in tokens)
    return [
        (
            token.strip(MARKS) or token,
            token.startswith(DOT) if dotted else not token.startswith(JOINED),
        )
        for token in tokens
    ]


def card(
    words: Sequence[tuple[str, bool]],
    weights: Sequence[float],
    query: int,
    following: str,
    told: Sequence[str],
) -> str:
    """The card as SVG.

    words: each with whether a space goes before it; weights: how much each is looked at, 0 to 1;
    query: which one looks; following: the word that comes next, "" for none; told: lines below.
    """
    drawn, x, y = [], float(MARGIN), MARGIN + 14
    most = max([*map(abs, weights), 1e-9])
    for at, (word, apart) in enumerate([*words, *([(following, True)] if following else [])]):
        new = at == len(words)
        word = word if len(word) <= 24 else f"{word[:23]}…"
        wide = width_of(word, LETTER) + 12
        x += 8 if apart and x > MARGIN else 0
        if x + wide > WIDTH - MARGIN:
            x, y = MARGIN, y + LINE
        if y > MARGIN + 14 + (MOST_LINES - 1) * LINE:
            drawn.append(_text("…", MARGIN, y, LETTER, QUIET))
            break
        shade = "none" if new else f"rgba({SHADE}, {0.75 * abs(weights[at]) / most:.3f})"
        edge = f' stroke="{CHOSEN}" stroke-width="2.5"' if new or at == query else ""
        dash = ' stroke-dasharray="6 4"' if new else ""
        drawn.append(
            f'<rect x="{x:.1f}" y="{y - 28}" width="{wide:.1f}" height="40" rx="8" '
            f'fill="{shade}"{edge}{dash}/>'
        )
        drawn.append(_text(word, x + wide / 2, y, LETTER, INK, "middle", new))
        x += wide
    y += 22
    for line in _wrapped(told):
        y += 23
        drawn.append(_text(line, MARGIN, y, 15, QUIET))
    height = y + MARGIN - 10
    box = f'width="{WIDTH - 2}" height="{height - 2}" rx="16" fill="#ffffff" stroke="#cbd5e1"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="Segoe UI, Helvetica, Arial, DejaVu Sans, sans-serif">'
        f'<rect x="1" y="1" {box} stroke-width="2"/>{"".join(drawn)}</svg>'
    )


def _wrapped(told: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for text in told:
        line = ""
        for word in text.split():
            if line and len(line) + len(word) >= MOST_TEXT:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}".strip()
        lines.append(line)
    return lines


def _text(
    text: str, x: float, y: float, size: int, ink: str, anchor: str = "start", bold: bool = False
) -> str:
    weight = ' font-weight="700"' if bold else ""
    # Letters that XML does not have are left out.
    sound = "".join(letter for letter in text if letter.isprintable())
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{ink}" text-anchor="{anchor}"'
        f"{weight}>{html.escape(sound)}</text>"
    )
