"""Code generation: a spec becomes a plan, and the plan a Python parser module.

May import `generator.spec` and `generator.analysis`; pure functions from a spec to text.
"""
