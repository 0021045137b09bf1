"""What the wheel needs: requirements.txt, but for pytest, which only the tests need."""

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    """Fills `dependencies`; pyproject.toml names it."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the lines of requirements.txt into the metadata."""
        lines = (Path(self.root) / "requirements.txt").read_text("utf-8").splitlines()
        needed = [line.partition("#")[0].strip() for line in lines]
        metadata["dependencies"] = [
            line for line in needed if line and not line.startswith("pytest")
        ]
