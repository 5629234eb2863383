"""Benchmarks of the generated parsers: how long each format's parser takes per piece of text.

They may import what is below the command line (``turnspec.spec`` to ``turnspec.pipeline``).
"""
