"""Tests of turnspec: golden, executed, rejected and property tests.

May import `generator`, and loads generated modules from their files.
"""
