"""A real model: its answer, all its heads with a switch on each, and more behind tabs."""

from attention.subjects.model import page

page.draw_page(__file__)
