import pytest
from attention.subjects.model import words as model_words
from attention.trained.checkpoints import load_folder
from attention.trained.models import About
from pathlib import Path
from tests.running import opened, viewed
from tests.trained.built import offer
SENTENCE="the cat sat on the mat and looked"

@pytest.mark.parametrize("tab", model_words.TABS)
def test_x(monkeypatch, tab):
    model = load_folder(Path("/tmp/tinyneox"), About("neox", "neox", "nobody"))
    offer(model, monkeypatch)
    app = opened("model", model="neox", s=SENTENCE, more=tab)
    print(tab, "NOTES", app.notes)

