"""Live runs: real llama.cpp inference under a format's grammar, streamed into its parser.

May import all but the command line.
"""
