"""Answers of a class: pasted result codes, counted question by question once they are revealed."""

from attention.subjects.teach import answers_page

answers_page.draw_page(__file__)
