"""Fuzz one of the targets: ``python -m tests.fuzz TARGET [libFuzzer's options] [CORPUS]``."""

from __future__ import annotations

import importlib
import sys

#: What is fuzzed, and what of turnspec is measured for coverage; parsers take names of specs, too.
TARGETS = {
    "parser": ("generated",),
    "gguf": ("turnspec.sources",),
    "grammar": ("turnspec.grammar",),
    "markers": ("turnspec.analysis", "turnspec.codegen", "turnspec.grammar", "turnspec.spec"),
    "specs": ("turnspec.codegen", "turnspec.grammar", "turnspec.spec"),
    "tokens": ("generated",),
    "tools": ("generated",),
}


def main() -> None:
    """Run a target; the fuzzer ends the process itself."""
    name, *arguments = sys.argv[1:] or [""]
    if name not in TARGETS:
        sys.exit(f"error: there is no target {name!r}; there are: {', '.join(TARGETS)}")
    fuzzing = importlib.import_module("tests.fuzz.fuzzing")
    # What is loaded before, or by other tests, would not be measured.
    with fuzzing.atheris.instrument_imports(include=list(TARGETS[name])):
        module = importlib.import_module(f"tests.fuzz.fuzz_{name}")
        if name == "parser":
            module.main(arguments)
        fuzzing.fuzz(module.TARGET, arguments)


if __name__ == "__main__":
    main()
