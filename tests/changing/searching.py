"""Search for a team as the window of a model makes it."""

from __future__ import annotations

from typing import Any

from attention.changing.effects import effects
from attention.changing.known import Known
from attention.changing.team import Found, greedily, next_head


def searched(most: int, *given: Any, to: Any, sign: int = 1) -> list[Found]:
    """The heads whose loss costs most, one after the other. given: a model, a run and a metric."""
    asked, alone = Known(*given), effects(*given, to=to).change
    return [
        *greedily(
            most,
            lambda found: next_head(
                asked, [one.head for one in found], to, effects=alone, sign=sign
            ),
        )
    ]
