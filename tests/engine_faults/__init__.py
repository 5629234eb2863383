"""Faults planted in the engine, one at a time, and whether the engine's tests notice them.

`make engine-faults` tries all of them and prints the share; a sample is part of the suite.
"""
