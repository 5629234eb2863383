"""The spec: its model, JSON Schema, YAML reading and writing. The leaf of the import graph.

May import nothing else of `generator`.
"""
