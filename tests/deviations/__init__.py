"""How models deviate from their formats, as transformations of turns written from a spec.

May import the generator's spec, writer and messages; knows nothing about any one format.
"""
