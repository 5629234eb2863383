"""The verification ladder: prediction, round trip, chunking, and the grammar in an engine.

May import everything but `turnspec.cli` and `turnspec.pipeline`.
"""
