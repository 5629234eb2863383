"""Why a format is what it is: the comparisons behind a spec, a turn in its parts, a parser's steps.

May import spec, rendering, analysis, codegen, verification, pipeline and review; the report and the
command line use it.
"""
