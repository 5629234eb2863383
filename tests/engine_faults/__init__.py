"""Faults planted in the engine, one at a time, and whether the engine's tests notice them.

`make engine-faults` tries all and prints the share; the crippled states are part of the suite.
"""
