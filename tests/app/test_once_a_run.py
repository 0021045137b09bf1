"""A page is computed once: its result and its question are made one time in a run."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from attention.app.state.openings import opening
from tests.running import App, opened
from tests.trained.packaged import packaged

OURS = str(Path(__file__).parents[2] / "attention")
MOST_ON_PLAY, MOST_ON_A_MODEL = 3_000, 8_000  # calls of ours


def calls(act: Callable[[], App]) -> Counter[str]:
    """Calls of our functions, by name, in the run of an act: not those of a job beside it."""
    counted: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        ours = event == "call" and code.co_filename.startswith(OURS) and code.co_name[0] != "<"
        if ours and "ScriptRunner" in threading.current_thread().name:
            counted[code.co_name] += 1

    threading.setprofile(note)
    try:
        act()
    finally:
        threading.setprofile(None)
        sys.setprofile(None)
    return counted


def test_a_head_chosen_on_play_makes_its_result_once():
    packaged("minilm")
    link = {"s": opening().sentences[0], **opening().chosen, "fold": "all heads"}
    app = opened("explore", **link)
    app.run()
    counted = calls(lambda: app.choose("head", 2))
    assert counted["opening_result"] == 1
    assert counted.total() <= MOST_ON_PLAY


def test_a_sentence_typed_on_a_real_model_makes_its_question_and_its_window_once():
    packaged("minilm")
    app = opened("model", model="minilm")
    app.run()
    counted = calls(lambda: app.choose("s", "the dog ran away quickly"))
    runs = counted["_draw"]  # a second one where the work is over before the first has ended
    assert counted["window_state"] == counted["effects_of"] == runs
    assert counted["answer_query"] - runs in (0, 1), "the callback asks too"
    assert counted.total() <= runs * MOST_ON_A_MODEL
