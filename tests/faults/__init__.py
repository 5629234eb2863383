"""Faults planted in specs and grammars, and whether the ladder notices them: `make faults`.

The ladder is what everything else rests on, so it is tested as everything else is: by breaking
things on purpose, one at a time.
"""
