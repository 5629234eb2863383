"""The turnspec tool: finds a chat template's output format, writes it as a spec, compiles it.

Imports point one way: spec <- sources, rendering <- analysis <- codegen <- verification <- cli.
"""

__version__ = "0.1.0"
