"""The example of Own run: the run of a trained model over a sentence, packaged."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

FILE = Path(__file__).with_name("example.safetensors")
SENTENCE = "The animal did not cross the street because it was too tired"
WORDS = (
    f"An example: all-MiniLM-L6-v2 reads “{SENTENCE}”. In layer 3, head 1 leads “it” to the animal."
)
OPENS = {"layer": 3, "head": 1, "query": 9}  # "it", which looks at "animal"
LINK = urlencode(OPENS)
