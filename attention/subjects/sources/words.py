"""A document in words: as HTML for the page, as Markdown for docs/sources.md."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from attention.subjects.sources.steps import KINDS, Source, Step, names, source

NAMES = {"claim": "of unseeded numbers: the claim alone"}
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def kind_of(step: Step) -> str:
    """The kind of a step's number, with the residual of what is recovered."""
    if step.residual is None:
        return NAMES.get(step.kind, step.kind)
    if not step.residual:
        return "recovered, without a difference"
    digits, _, exponent = f"{step.residual:.1e}".partition("e")
    return f"recovered, off by {digits}·10{str(int(exponent)).translate(RAISED)}"


def as_html(source: Source) -> str:
    """A document: its title, and each step in a line with its number and its link."""
    parts, count = [f"<h2>{escape(source.title)}</h2><p>{escape(source.about)}</p>"], 0
    for section in source.sections:
        parts.append(f"<h3>{escape(section.title)}</h3><ol start='{count + 1}'>")
        for step in section.steps:
            count += 1
            lines = [f"<div class='step'>{_line(step, f'step {count}', str(count))}</div>"]
            lines += [
                f"<div class='step mistake'>{_line(mistake, f'mistake in step {count}', '')}</div>"
                for mistake in step.mistakes
            ]
            parts.append(f"<li>{''.join(lines)}</li>")
        parts.append("</ol>")
    parts.append("<h3>Kinds of numbers</h3><dl>")
    parts += [
        f"<dt>{escape(NAMES.get(kind, kind))}</dt><dd>{escape(told)}</dd>"
        for kind, told in KINDS.items()
    ]
    return f"<article class='source'>{''.join(parts)}</dl></article>"


def _line(step: Step, name: str, count: str) -> str:
    href, number = escape(step.address), escape(step.first)
    texts = enumerate(escape(step.says).split("`"))
    says = "".join(f"<code>{text}</code>" if at % 2 else text for at, text in texts)
    mark = "" if count else "<strong>Mistake.</strong> "
    return (
        f"<b>{count}</b><p>{mark}{says}</p>"
        f"<p><data>{number}</data> <small>{escape(kind_of(step))}</small></p>"
        f"<a href='{href}' target='_blank' aria-label='Open {name}'>Open</a>"
    )


def as_markdown() -> str:
    """All documents, as docs/sources.md has them."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Sources"
    yield ""
    yield "Four documents that the app grew out of, step by step, each step with a link that opens"
    yield "it. The page *Sources* of the Laboratory shows the same. Kinds of numbers:"
    yield ""
    for kind, told in KINDS.items():
        yield f"- *{NAMES.get(kind, kind)}*: {told}"
    for one in map(source, names()):
        yield from ("", f"## {one.name}", "", f"*{one.title}*. {one.about}")
        count = 0
        for section in one.sections:
            yield from ("", f"### {section.title}", "")
            yield from ("| step | | number | kind | |", "| --- | --- | --- | --- | --- |")
            for step in section.steps:
                count += 1
                yield _row(str(count), step)
                yield from (_row("", mistake) for mistake in step.mistakes)


def _row(count: str, step: Step) -> str:
    link = f"{{app}}`Open <{step.address}>`"
    says = step.says if count else f"**Mistake.** {step.says}"
    cells = (count, says, step.first, kind_of(step), link)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
