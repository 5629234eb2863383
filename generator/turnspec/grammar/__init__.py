"""Grammars: a spec becomes GBNF, for any tools or bound to real ones by their JSON Schemas.

May import `turnspec.spec`, `turnspec.engine` and the tables of `turnspec.codegen`: servers bind
grammars without the rest. Pure functions from data to text.
"""
