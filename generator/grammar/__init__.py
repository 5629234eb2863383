"""Grammars: a spec becomes GBNF, for any tools or bound to real ones by their JSON Schemas.

May import `generator.spec` and `generator.codegen`; pure functions from data to text.
"""
