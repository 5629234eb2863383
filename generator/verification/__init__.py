"""The verification ladder: prediction, round trip, chunking, and the grammar in an engine.

May import everything but `generator.cli` and `generator.regeneration`.
"""
