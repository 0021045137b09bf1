"""Messages to components, and their modules as they are served."""

import json
import re

import pytest
import torch

import attention.app.components.answers  # noqa: F401, all components are declared then
from attention.app.components.base import ADDRESS, COMPONENTS, LOADER, _contents
from attention.figures.messages import declare, message
from attention.figures.modules import BROWSER
from attention.figures.scene import KINDS
from tests.app.declarations import declarations


def test_a_message_is_a_header_then_numbers_to_the_last_bit_then_bytes():
    sent = message({"rows": 1}, torch.tensor([0.1, torch.nan]), rest=b"\x07")
    size = int.from_bytes(sent[:4], "little")
    header = json.loads(sent[4 : 4 + size])
    assert header == {"floats": 2, "rows": 1}
    numbers = torch.frombuffer(bytearray(sent[4 + size : -1]), dtype=torch.float32)
    assert torch.equal(numbers[:1], torch.tensor([0.1]))
    assert numbers[1].isnan()
    assert sent[-1:] == b"\x07"


def test_any_change_of_the_modules_gives_them_another_address(tmp_path):
    file = tmp_path / "shared" / "one.js"
    file.parent.mkdir()
    file.write_text("1")
    first = _contents(tmp_path)
    assert first == _contents(tmp_path)
    file.write_text("2")
    second = _contents(tmp_path)
    file.rename(tmp_path / "shared" / "two.js")
    assert len({first, second, _contents(tmp_path)}) == 3


def test_the_loader_knows_where_the_modules_are_and_all_that_are_shared():
    assert _contents(BROWSER) in ADDRESS
    assert ADDRESS in LOADER
    for file in BROWSER.glob("shared/*.js"):
        assert f"shared/{file.name}" in LOADER
    assert not re.search(r"\{(folder|shared)\}", LOADER)


def test_each_module_is_built_from_the_message_of_its_own_component():
    folders = {file.parent.name: file.read_text("utf-8") for file in BROWSER.glob("*/index.js")}
    assert folders.pop("scene")  # draws the others
    declarations()  # loads all of them
    assert folders.keys() == COMPONENTS.keys() | KINDS.keys()
    for name, module in folders.items():
        assert re.findall(r"Mount<\"(\w+)\">", module) == [name]
        assert re.findall(r"export default (\w+)", module) == ["component"]


def test_an_event_of_a_name_carries_the_same_in_every_component():
    declare("head", int)
    with pytest.raises(ValueError, match=r"'head' already carries .*int.*, got .*str"):
        declare("head", str)
