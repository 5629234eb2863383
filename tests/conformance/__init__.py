"""The generated parsers, judged by canitoolcall's checks on its own cases: `make conformance`.

`adapter.py` and `replay.py` run where canitoolcall is installed, and import nothing of `turnspec`;
nothing of canitoolcall's cases is kept here but their ids.
"""
