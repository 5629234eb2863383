"""How turns are read: the engine that modules are compiled from, as generators, in a turn's order.

Imports nothing but its own files and the standard library. `facts` holds what formats differ in.
"""

#: The engine's version: its first number changes with what its users see, its second with mends.
ENGINE_VERSION = "2.0"
