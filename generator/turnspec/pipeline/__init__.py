"""The way from templates to files: one template's build, and the regeneration of all of them.

May import everything but `turnspec.cli`.
"""
