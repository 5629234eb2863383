"""Cases of a format for suites that test parsers: turns, and the messages that were written there.

May import spec, codegen, verification and deviations.
"""
