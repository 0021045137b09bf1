"""Metadata that depends on where the project is kept: its links, and those of the README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"^!\[[^]]*\]\((?!https?:)[^)]*\)\n+", re.MULTILINE)
LINK = re.compile(r"(!?)\[([^]]*)\]\((?!https?:|#)([^)]*)\)")


class LinksHook(MetadataHookInterface):
    """Address of the repository into the metadata; `address` in pyproject.toml is the one place."""

    def update(self, metadata: dict[str, Any]) -> None:
        address = str(self.config.get("address", "")).rstrip("/")
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, address)}
        metadata["urls"] = urls(address) if address else {}


def absolute(text: str, address: str) -> str:
    """A README as an index shows it: relative links lead to the repository; where its address is
    not known they are words, and pictures are left out."""
    if not address:
        return LINK.sub(r"\2", PICTURE.sub("", text))
    return LINK.sub(
        lambda found: (
            f"{found[1]}[{found[2]}]({address}/{'raw' if found[1] else 'blob'}/main/{found[3]})"
        ),
        text,
    )


def urls(address: str) -> dict[str, str]:
    """Links beside the package at an index."""
    return {
        "Source": address,
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }
