"""Puts facts into a source and leaves out what they make needless; it knows nothing of formats.

Imports nothing but its own files and the standard library.
"""
