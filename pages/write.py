"""Write a lesson: a card for each chapter with a live preview, its text, a link and a file."""

from attention.subjects.teach import write_page

write_page.draw_page(__file__)
