"""What exported plugins are made of: ordinary Python, copied behind the facts of a format.

Each module but `facts` begins with stand-ins for these facts, which `plugin.py` replaces.
"""
