"""What every parser is made of: ordinary Python that reads turns as a format table says.

May import the standard library alone; `codegen` copies its files into generated modules, whole.
"""

#: The engine's version: its first number changes with what its users see, its second with mends.
ENGINE_VERSION = "1.1"
