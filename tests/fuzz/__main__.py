"""Fuzz one of the targets: ``python -m tests.fuzz TARGET [libFuzzer's options] [CORPUS]``."""

from __future__ import annotations

import importlib
import sys

#: What is fuzzed, beside the parsers, which take names of specs too.
TARGETS = ("gguf", "grammar", "markers", "specs", "tokens", "tools")


def main() -> None:
    """Run a target; the fuzzer ends the process itself."""
    target, *arguments = sys.argv[1:] or [""]
    if target == "parser":
        importlib.import_module("tests.fuzz.fuzz_parser").main(arguments)
    elif target in TARGETS:
        module = importlib.import_module(f"tests.fuzz.fuzz_{target}")
        importlib.import_module("tests.fuzz.fuzzing").fuzz(module.TARGET, arguments)
    else:
        sys.exit(f"error: there is no target {target!r}; there are: parser, {', '.join(TARGETS)}")


if __name__ == "__main__":
    main()
