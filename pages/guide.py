"""Guide: a lesson, chapter by chapter, each with a live figure and a question to answer first."""

from attention.subjects.guide import page

page.draw_page(__file__)
