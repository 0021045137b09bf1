"""A server that is full, as those who come too late see it."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from tests.browser.browsing import eventually, expect
from tests.serving import serving


def test_who_comes_too_late_sees_a_place_in_the_queue_and_then_the_link(browser):
    faults: list[str] = []

    def visitor() -> Any:
        context = browser.new_context()
        context.on("weberror", lambda error: faults.append(str(error.error)))
        context.on("console", lambda m: faults.append(m.text) if "Policy" in m.text else None)
        return context.new_page()

    def waiting(address: str) -> float:
        with urllib.request.urlopen(f"{address}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("attention_wait"))

    with serving(ATTENTION_LIMITS="sessions=1") as address:
        first, second = visitor(), visitor()
        first.goto(f"{address}/cross")
        expect(first.get_by_role("heading", level=1)).to_have_text("Two sequences")
        second.goto(f"{address}/?fold=against&s=tea+or+milk")
        expect(second.get_by_role("heading")).to_have_text("All places are taken at the moment")
        expect(second.get_by_role("status")).to_have_text("1")
        eventually(second, lambda: waiting(address), 1)
        first.context.close()
        heading = second.get_by_role("heading", level=1)
        expect(heading).to_contain_text("“milk”", timeout=60_000)
        expect(second.get_by_role("textbox").first).to_have_value("tea or milk")
        eventually(second, lambda: waiting(address), 0)
        second.context.close()
    assert json.dumps(faults) == "[]"
