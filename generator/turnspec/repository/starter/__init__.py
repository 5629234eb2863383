"""What `turnspec init` puts into a new repository: files, no code.

Imports nothing.
"""
