"""Identities: claims about attention, both sides computed and compared."""

from attention.subjects.identities import page

page.draw_page(__file__)
