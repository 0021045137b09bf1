"""Gallery: heads one can break, as cards."""

from attention.app.components.scene import draw
from attention.app.shell import frame
from attention.app.state.view import View
from attention.subjects.gallery import scene


def gallery(view: View) -> None:
    """A card for each head."""
    draw(scene.gallery(), key="gallery")


def draw_page(file: str) -> None:
    """Draw the page in its frame. file: that in `pages/`."""
    frame.show(file, gallery)
