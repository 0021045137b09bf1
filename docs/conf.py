"""The documentation site: `make docs`. No page of it asks another host."""

import os
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
os.environ["PYTHONPATH"] = str(HERE.parent)  # for the tutorials, each in a process of its own

import atlases  # noqa: E402
import gallery  # noqa: E402
import looked_up  # noqa: E402

import attention  # noqa: E402

project = "Attention explorer"
author = copyright = "the attention explorer's contributors"
release = version = attention.__version__
html_title = project
html_theme = "furo"
html_static_path = ["_static"]
html_css_files, html_js_files = ["site.css"], [("site.js", {"defer": "defer"})]
html_math_renderer = "mathml"
html_copy_source = html_show_sourcelink = False
html_extra_path = ["made/live"]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.extlinks"]
# Where the app is that pages lead to: at the root of the site's own host, if nothing else is said.
extlinks = {"app": (os.environ.get("ATTENTION_APP", "/") + "%s", None)}
exclude_patterns = ["_build"]
default_role = "code"
autodoc_member_order = "bysource"
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["ref.python"]  # a type of one name in two modules
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_excludepatterns = ["*.ipynb"]  # has its outputs, made by a night's test


def write_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def write_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    translator.body.append(convert(node.astext(), display="block"))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Formulas as MathML, which browsers draw themselves, tables made from the registries, and the
    files of the gallery and the atlas, which take a few minutes where they are not there yet."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    looked_up.write(HERE / "made")
    gallery.make()
    atlases.make()
