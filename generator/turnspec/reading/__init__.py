"""The engine that modules are compiled from: reading as generators, in the order of a turn.

Imports nothing but its own files and the standard library. `facts` holds what formats differ in.
"""
