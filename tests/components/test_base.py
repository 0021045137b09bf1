"""How components are sent what they show, and their modules served."""

from __future__ import annotations

import json
import re
from pathlib import Path

import torch

from attention.components.base import ADDRESS, BROWSER, LOADER, _contents, message


def test_a_message_says_what_it_is_before_numbers_to_the_last_bit_and_bytes() -> None:
    sent = message("heatmap", 3, {"rows": 1}, torch.tensor([0.1, torch.nan]), rest=b"\x07")
    size = int.from_bytes(sent[:4], "little")
    header = json.loads(sent[4 : 4 + size])
    assert header == {"message": "heatmap", "version": 3, "floats": 2, "rows": 1}
    numbers = torch.frombuffer(bytearray(sent[4 + size : -1]), dtype=torch.float32)
    assert torch.equal(numbers[:1], torch.tensor([0.1]))
    assert numbers[1].isnan()
    assert sent[-1:] == b"\x07"


def test_any_change_of_the_modules_gives_them_another_address(tmp_path: Path) -> None:
    file = tmp_path / "shared" / "one.js"
    file.parent.mkdir()
    file.write_text("1")
    first = _contents(tmp_path)
    assert first == _contents(tmp_path)
    file.write_text("2")
    second = _contents(tmp_path)
    file.rename(tmp_path / "shared" / "two.js")
    assert len({first, second, _contents(tmp_path)}) == 3


def test_the_loader_knows_where_the_modules_are_and_all_that_are_shared() -> None:
    assert _contents(BROWSER) in ADDRESS
    assert ADDRESS in LOADER
    for file in BROWSER.glob("shared/*.js"):
        assert f"shared/{file.name}" in LOADER
    assert not re.search(r"\{(folder|shared)\}", LOADER)


def test_both_sides_name_the_same_messages_in_the_same_versions() -> None:
    sources = [file.read_text("utf-8") for file in BROWSER.parent.glob("*.py")]
    modules = [file.read_text("utf-8") for file in BROWSER.glob("*/index.js")]
    sent = re.findall(r'message\(\s*"(\w+)", (\d+)', "\n".join(sources))
    known = re.findall(r'decode\(\w+, "(\w+)", (\d+)\)', "\n".join(modules))
    assert sorted(sent) == sorted(known)
    assert len(known) == 14
