"""Models that have learnt a format, trained in minutes, in llama.cpp with and without a grammar.

Not part of the tests: `make learned-formats` trains a small llama for each of a few formats on
turns that are written from its spec, and records how its own turns were read.
"""
