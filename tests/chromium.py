"""Finds a Chromium to drive; run as a script it says which, or fails."""

import shutil
import sys
from pathlib import Path

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def find() -> str | None:
    """The path of an installed Chromium or Chrome, or of the one Playwright brought, or None.

    First the headless shell: without the windows of a whole browser it takes half the CPU.
    """
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


if __name__ == "__main__":
    sys.exit(0 if find() else "no Chromium found: install Debian's chromium, or playwright's")
