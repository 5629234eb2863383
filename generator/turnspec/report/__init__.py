"""One page of all formats: their turns, markers, states and results; and its little server.

May import everything but the command line.
"""
