"""Four documents that the app grew out of, step by step, each step with a link that opens it.

A document is a file of YAML here: sections of steps, each with its number, the kind of that number,
the page and settings that give it, and mistakes with a step that shows each.

Doors to other pages: none.
"""
