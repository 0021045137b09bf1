"""Pages that say what there is, made from what is declared: a new entry needs no word here."""

from __future__ import annotations

import ast
import dataclasses
import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from attention.analysis.associations import METHODS
from attention.analysis.heads import MEASURES, NAMINGS
from attention.atlas import files, passport
from attention.core.variants import VARIANTS

ROOT = Path(__file__).parents[1]
# From below to above, as the rooms' docstrings have them.
ROW, BOX, GAP = 74, (112, 34), 18


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([" ".join(cell.split()).replace("|", r"\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def variants() -> str:
    """All variants, with their formula and where it is from."""
    told = ["# Variants", "Each is a class; its settings stand in [links](../links.md)."]
    for name, variant in VARIANTS.items():
        lines = [line.replace("&", "") for line in variant.formula.split(r"\\")]
        formulas = "\n\n".join(f"$$\n{line.strip()}\n$$" for line in lines)
        told += [f"## `{name}`: {variant.title}", str(variant.__doc__).split("\n\n")[0].strip()]
        told += [formulas, f"Source: {variant.source}"]
    return "\n\n".join(told)


def measures() -> str:
    """All measures and names of heads, and all methods of association."""
    kinds = [("measure", MEASURES), ("name", NAMINGS)]
    heads = [(kind, f"`{name}`", one.words) for kind, named in kinds for name, one in named.items()]
    methods = [
        (f"`{name}`", method.title, method.source, method.definition)
        for name, method in METHODS.items()
    ]
    return "\n\n".join(
        [
            "# Measures and methods",
            "## Of heads",
            table(("kind", "name", "what it is"), heads),
            "## Of association",
            table(("name", "title", "source", "definition"), methods),
        ]
    )


def passports() -> str:
    """Files of passports, and all classes of their schema with what is said of each field."""
    rows = []
    for name, path in files.packaged().items():
        atlas = files.read(path)
        links = [
            f'<a href="../atlas/{name}.{kind}">{kind.upper()}</a>' for kind in ("html", "json")
        ]
        rows.append((atlas.title, str(len(atlas.passports)), f"`{atlas.weights}`", " ".join(links)))
    told = [
        "# Passports: files and schema",
        "Made from the files and the classes; [the atlas](../atlas.md) says how numbers are made.",
        table(("model", "heads", "SHA-256 of its weights", "files"), rows),
        'The schema is a file, too: <a href="../atlas/schema.json">schema.json</a>.',
    ]
    for name in files.schema()["$defs"]:
        declared = getattr(passport, name)
        fields = dataclasses.fields(declared)
        words = " ".join(str(declared.__doc__).split())
        names = "|".join(field.name for field in fields)
        said = files.field_words(words, [field.name for field in fields])
        lines = [(f"`{each.name}`", f"`{each.type}`", said.get(each.name, "")) for each in fields]
        told += [
            f"## {name}",
            re.split(rf" (?=(?:{names})(?:, (?:{names}))*: )", words)[0],
            table(("field", "type", "what it is"), lines),
        ]
    return "\n\n".join(told)


def rooms() -> dict[str, set[str]]:
    """The rooms of the package, and which others each imports, read from its files."""
    package = ROOT / "attention"
    names = sorted(folder.name for folder in package.iterdir() if (folder / "__init__.py").exists())
    leans: dict[str, set[str]] = {name: set() for name in names}
    for name in names:
        for file in (package / name).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                paths = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                paths += [each.name for each in node.names] if isinstance(node, ast.Import) else []
                for path in paths:
                    whole, _, rest = path.partition(".")
                    room = rest.split(".")[0]
                    if whole == "attention" and room in leans and room != name:
                        leans[name].add(room)
    return leans


def floors(leans: dict[str, set[str]]) -> list[list[str]]:
    """Rooms in rows, those that lean on nothing at the end; a row leans on rows after it alone,
    but where two rooms lean on each other."""
    left, rows = dict(leans), []
    while left:
        free = [name for name in left if not leans[name] & (left.keys() - {name})]
        free = free or [min(left, key=lambda name: len(leans[name] & left.keys()))]
        rows.insert(0, free)
        for name in free:
            del left[name]
    return rows


def picture(leans: dict[str, set[str]]) -> str:
    """The rooms and their imports as SVG."""
    rows = floors(leans)
    wide = max(len(row) for row in rows) * (BOX[0] + GAP)
    at = {}
    for down, row in enumerate(rows):
        start = (wide - len(row) * (BOX[0] + GAP) + GAP) / 2
        for across, name in enumerate(row):
            at[name] = (start + across * (BOX[0] + GAP) + BOX[0] / 2, 4 + down * ROW)
    lines, boxes = [], []
    for name, others in leans.items():
        x, y = at[name]
        for other in sorted(others):
            to, below = at[other]
            bend = (y + BOX[1] + below) / 2
            path = f"M{x} {y + BOX[1]}C{x} {bend} {to} {bend} {to} {below}"
            lines.append(f'<path d="{path}"/>')
        boxes.append(f'<rect x="{x - BOX[0] / 2}" y="{y}" width="{BOX[0]}" height="{BOX[1]}"/>')
        boxes.append(f'<text x="{x}" y="{y + 22}">{html.escape(name)}</text>')
    told = "Rooms of the package from above to below; a line leads from one to each that it imports"
    size = f'viewBox="0 0 {wide} {len(rows) * ROW}"'
    inside = "".join([*lines, *boxes])
    return f'<svg class="rooms" {size} role="img" aria-label="{told}">{inside}</svg>'


def architecture() -> str:
    """The picture of the rooms, with what each is for."""
    leans = rooms()
    rows = []
    for row in floors(leans):
        for name in row:
            source = (ROOT / "attention" / name / "__init__.py").read_text("utf-8")
            words = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]
            rows.append((f"`{name}`", words, ", ".join(sorted(leans[name]))))
    return "\n\n".join(
        [
            "# Rooms of the package",
            "Made from the imports. [How it is built](../architecture.md) says more.",
            picture(leans),
            table(("room", "what it is for", "imports"), rows),
        ]
    )


PAGES = {
    "variants": variants,
    "measures": measures,
    "passports": passports,
    "rooms": architecture,
}


def write(folder: Path) -> None:
    """Write all pages, where they have changed."""
    folder.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        file, text = folder / f"{name}.md", page() + "\n"
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent / "made")
