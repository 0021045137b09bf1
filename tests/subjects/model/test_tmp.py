import pytest
from attention.trained.checkpoints import load_folder
from attention.trained.models import About
from pathlib import Path
from tests.running import opened, viewed
from tests.trained.built import offer
SENTENCE="the cat sat on the mat and looked"
@pytest.mark.parametrize("more", [{}, {"numbers":"shown"}])
@pytest.mark.parametrize("page", ["explore","heads","steps","compare"])
def test_y(monkeypatch, page, more):
    model = load_folder(Path("/tmp/tinyneox"), About("neox", "neox", "nobody"))
    offer(model, monkeypatch)
    app = opened(page, model="neox", s=SENTENCE, **more)
    print(page, "NOTES", app.notes)
