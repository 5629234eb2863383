"""Code generation: a spec becomes a plan, and the plan a Python parser module.

May import `turnspec.spec` and `turnspec.analysis`; pure functions from a spec to text.
"""
