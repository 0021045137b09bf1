"""All heads of a layer at a glance: measures, edges worth drawing, additions.

Doors to other pages: none.
"""
