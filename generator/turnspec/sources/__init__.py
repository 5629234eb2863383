"""Where templates come from: the index, fetching what it pins, adding a template of one's own.

May import only `turnspec.spec`.
"""
