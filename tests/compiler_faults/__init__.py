"""Faults planted in what compilation does, and whether comparing with the engine notices them.

`make compiler-faults` plants a few hundred and prints the share; some are part of the suite.
"""
