"""How models deviate from their formats, as transformations of turns written from a spec.

May import spec, codegen and verification; knows nothing about any one format. Tests have every
parser read all of them, and the page of all formats offers them.
"""
