"""Exports on the programs that read them: `make integrations`.

Each suite (`suites.py`) installs what it needs in an environment of its own under
build/integrations, and says for each format what became of its export and of its turns.
"""
