"""What a change does: two specs compared by meaning, and whether their parsers read each other.

May import spec, rendering, codegen, grammar, verification and pipeline; the command line uses it.
"""
