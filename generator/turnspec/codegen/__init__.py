"""Code generation: a spec becomes facts and rules, and these and the engine a parser module.

May import `turnspec.spec` and `turnspec.engine`; functions from a spec to text, or to a parser.
"""
