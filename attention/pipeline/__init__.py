"""The way of a sentence: settings -> tokens -> vectors -> layer -> everything a page shows.

May import: core, inputs, trained; torch, torchtext.
"""

from attention.pipeline.computing import compute
from attention.pipeline.result import Result
from attention.pipeline.settings import Selection, Settings
from attention.trained.models import NoWords

__all__ = ["NoWords", "Result", "Selection", "Settings", "compute"]
