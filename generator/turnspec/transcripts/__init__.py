"""Transcripts by the million: files of outputs, parsed on all cores in constant memory.

`files.py` reads rows in batches, `rows.py` parses a batch, `run.py` has batches parsed in several
processes, keeps what is done so that an interrupted run goes on, and writes the result.
"""
