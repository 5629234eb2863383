"""Code generation: a spec becomes a format table, and that and the engine a parser module.

May import `turnspec.spec` and `turnspec.engine`; functions from a spec to text, or to a parser.
"""
