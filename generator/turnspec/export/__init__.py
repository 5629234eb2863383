"""Spec -> what other programs read: a file or two for each target, and what of the format is lost.

`exporting.export_format` is the function; `targets.TARGETS` has the targets by name, each a small
module. An exporter takes a spec and options, and returns files with what is loosened, or a refusal.
"""
