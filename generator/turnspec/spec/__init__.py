"""The spec: its model, JSON Schema, YAML reading and writing. The leaf of the import graph.

May import nothing else of `turnspec` but the engine's classes of characters.
"""
