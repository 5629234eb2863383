"""Tests of turnspec: golden, executed, rejected and property tests.

May import `turnspec`, and loads generated modules from their files.
"""
