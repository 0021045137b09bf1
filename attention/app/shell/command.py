"""The command `attention-explorer`: serves the app with Streamlit, wherever it is installed."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path

from attention import __version__
from attention.core.limits import Limits
from attention.core.settings import settings_of

HELP = """\
Serve the attention explorer; open the address that it prints in a browser.
`attention-explorer lesson FOLDER -o lesson.html` writes a lesson as one file of
HTML with its figures and questions, which opens without a network.
Every other option goes to Streamlit: attention-explorer --server.port 8600
`streamlit run --help` lists them.
"""
LIBRARY_ALONE = """\
{error}: the library is installed without what the app needs. This adds it:
pip install "attention-explorer[app]\""""
INDENT = " " * 21
ENVIRONMENT = """\
What an owner can set in the environment:
  ATTENTION_VECTORS  a GloVe or word2vec text file: the menu of vectors then offers it, as `own`
  ATTENTION_MODELS   more trained models, with commas between: folders with config.json,
                     model.safetensors and tokenizer.json, GGUF files, or names at Hugging Face;
                     base=A,tuned=B says that B, also a folder of a PEFT adapter, was tuned from A;
                     -smollm2 leaves a packaged model out
  ATTENTION_WEIGHTS  a folder for dequantised weights of GGUF files, which processes share, in
                     place of ~/.cache/attention-explorer
  ATTENTION_LESSONS  a folder of Markdown files: Learn then offers it, as the lesson `own`
  ATTENTION_ATLAS    a folder of passports of heads, as `python -m attention.atlas MODEL --out
                     FOLDER` writes them: A real model then shows them too
  ATTENTION_LIMITS   what visitors may have, as "tokens=128 sessions=50"; docs/hosting.md says more:
{limits}
  ATTENTION_EMBEDDED_IN
                     which pages may embed the app, as "'self' https://school.example"
  ATTENTION_METRICS  networks that may read /metrics besides this machine, as "10.0.0.0/8"
"""


def app_folder() -> Path:
    """The folder of the app: within the package where it is installed, else around it."""
    library = Path(__file__).parents[2]
    within = library / "served"
    return within if within.is_dir() else library.parent


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the app until it is stopped. arguments: None = those of the command line.

    Ends with a word where Streamlit is not installed.
    Streamlit takes `.streamlit/config.toml` from beside the script, in whatever folder it is run.
    """
    names = ", ".join(f"{name}={about.default}" for name, about in settings_of(Limits).items())
    parser = argparse.ArgumentParser(
        "attention-explorer",
        "attention-explorer [--help] [--version] [lesson FOLDER] [option of Streamlit] ...",
        HELP,
        ENVIRONMENT.format(
            limits=textwrap.fill(names, 98, initial_indent=INDENT, subsequent_indent=INDENT)
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    _, options = parser.parse_known_args(arguments)
    try:
        from streamlit.web import cli
    except ModuleNotFoundError as error:
        raise SystemExit(LIBRARY_ALONE.format(error=error)) from None
    cli.main(["run", str(app_folder() / "streamlit_app.py"), *options], prog_name="streamlit")
