"""A repository of one's own: made, added to, taken from.

May import everything but `turnspec.cli`.
"""
