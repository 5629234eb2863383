"""Grammars: a spec becomes GBNF, for any tools or bound to real ones by their JSON Schemas.

May import `turnspec.spec` and `turnspec.codegen`; pure functions from data to text.
"""
