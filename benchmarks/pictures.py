"""Pictures of README, docs and preview, taken from the running app: `make pictures`.

Each is declared with its link in `PICTURES`. Beside them `docs/pictures.json` has the words that
each shows, so that a test of the night says where its link shows others by now.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.browsing import LOOK_EVERY, LOOKS_AT_REST, RESTS
from tests.chromium import ARGUMENTS, find
from tests.serving import ROOT, serving

WORDS = ROOT / "docs" / "pictures.json"
FRAME = 1600  # milliseconds
BUSY = "[data-testid=stProgress], [data-testid=stSpinner]"
# Texts in sight, inside the components too, from the top.
SEEN = """() => {
  const seen = []
  const look = (node) => {
    if (node.nodeType === Node.TEXT_NODE && node.data.trim()) {
      const range = document.createRange()
      range.selectNode(node)
      const { top, bottom, width } = range.getBoundingClientRect()
      const inside = width > 0 && bottom > 0 && bottom <= innerHeight
      if (inside && node.parentElement?.checkVisibility({ opacityProperty: true }))
        seen.push([Math.round(top), node.data.trim()])
    }
    if (node.nodeType === Node.ELEMENT_NODE && node.matches("style, script")) return
    for (const child of (node.shadowRoot ?? node).childNodes) look(child)
  }
  look(document.body)
  return seen.sort(([one], [other]) => one - other).map(([, text]) => text)
}"""


@dataclass(frozen=True)
class Picture:
    """A picture of the app: the links of its frames, the size of the window, how much smaller it is
    saved, and the buttons that are pressed first."""

    links: tuple[str, ...]
    size: tuple[int, int]
    scale: float = 1.0
    pressed: tuple[str, ...] = ()


SUN = "/model?model=smollm2&s=The+sun+rises+in+the+east+and+sets+in+the&layer=23&head=3"
TEAM = "/model?model=smollm2&s=The+sun+rises+in+the+east+and+sets+in+the&figure=team"
# A class of the guide with codes of 27 pupils, who voted twice; any key will do.
CLASS = (
    "/write?chapter=masks&teacher=C0ARDPH4SES12345"
    "&codes=14C4-ZYAN-J×9+14C5-2ZZF-Y×14+14C5-61M8-S×4"
    "+28R9-WTZA-7×3+28R9-ZWMD-0×22+28RA-2Y9A-3×2"
)
PICTURES = {
    "docs/explore.png": Picture(("/",), (1440, 900)),
    "attention/app/shell/preview.png": Picture(("/",), (1200, 630)),
    "docs/switch.webp": Picture((SUN, f"{SUN}&off=23.3"), (1440, 810), 0.7),
    "docs/team.webp": Picture((f"{TEAM}&off=0.7+23.3+24.4",), (1200, 700)),
    "docs/class.webp": Picture(
        (CLASS,), (1440, 900), 0.7, ("Close the vote", "Vote again", "Reveal")
    ),
    "docs/race.webp": Picture(("/learning?task=race",), (1200, 800)),
}


@contextmanager
def opened(address: str, picture: Picture) -> Iterator[Any]:
    """A function that opens a link in a window for the picture, without motion, until it rests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        width, height = picture.size
        page = browser.new_page(
            viewport={"width": width, "height": height}, reduced_motion="reduce"
        )
        page.set_default_timeout(120_000)

        def open_link(link: str) -> Any:
            page.goto(address + link)
            for name in picture.pressed:
                page.get_by_role("button", name=name).click()
            page.get_by_text("Copy link").first.wait_for()
            page.wait_for_function(f"() => !document.querySelector('{BUSY}')")
            page.wait_for_function(RESTS, arg=LOOKS_AT_REST, polling=LOOK_EVERY)
            before, now = None, page.evaluate(SEEN)
            while now != before:  # pictures are drawn after the page rests
                page.wait_for_timeout(1000)
                before, now = now, page.evaluate(SEEN)
            return page

        yield open_link
        browser.close()


def words_of(address: str, picture: Picture) -> list[list[str]]:
    """The words that each link of a picture shows in its window."""
    with opened(address, picture) as open_link:
        return [open_link(link).evaluate(SEEN) for link in picture.links]


def take(address: str, name: str, picture: Picture) -> list[list[str]]:
    """Take a picture and save it under its name; gives the words that it shows."""
    frames, words = [], []
    with opened(address, picture) as open_link:
        for link in picture.links:
            page = open_link(link)
            words.append(page.evaluate(SEEN))
            frame = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            frames.append(frame.resize([round(picture.scale * side) for side in picture.size]))
    moving = {"save_all": True, "append_images": frames[1:], "duration": FRAME, "loop": 0}
    frames[0].save(ROOT / name, **(moving if frames[1:] else {}), quality=85, optimize=True)
    return words


def main() -> int:
    """Take all pictures, or those named."""
    wanted = sys.argv[1:] or [*PICTURES]
    known = json.loads(WORDS.read_text("utf-8")) if WORDS.exists() else {}
    with serving() as address:
        for name in wanted:
            known[name] = take(address, name, PICTURES[name])
            print(f"{name}: {Path(ROOT / name).stat().st_size / 1000:.0f} kB", flush=True)
    WORDS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
