"""Parses a column of model outputs with Ray Data: the generated parser is a plain function.

Usage: parse_transcripts.py PARSER.py INPUT OUTPUT_FOLDER [COLUMN]

INPUT is a Parquet file or a folder of them; each row goes to the output with one more column,
``parsed``, the JSON text of its message and problems. It needs `ray[data]`, and nothing of turnspec
but the generated parser.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray.data


def parsing(parser: str, column: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function for batches; it carries the parser's source to wherever it runs."""
    source = Path(parser).read_text(encoding="utf-8")

    def parse_batch(batch: dict[str, Any]) -> dict[str, Any]:
        parse = _parse_function(source)
        batch["parsed"] = [_read(parse, text) for text in batch[column]]
        return batch

    return parse_batch


def _parse_function(source: str) -> Callable[[str], Any]:
    """Return a parser's `parse`; the module is loaded once in each process."""
    import importlib.util
    import tempfile

    name = f"parser_{abs(hash(source))}"
    if name not in sys.modules:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "parser.py"
            path.write_text(source, encoding="utf-8")
            spec = importlib.util.spec_from_file_location(name, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)
    found: Callable[[str], Any] = sys.modules[name].parse
    return found


def _read(parse: Callable[[str], Any], text: object) -> str:
    """Return what is read of a text as JSON; what is no text is told, and the row kept."""
    if not isinstance(text, str):
        return json.dumps({"error": f"no text: {type(text).__name__}"})
    message = parse(text)
    problems = [
        {"offset": p.offset, "kind": p.kind, "message": p.message} for p in message.problems
    ]
    found = json.dumps({"message": message.to_dict(), "problems": problems}, ensure_ascii=False)
    return found.encode("utf-8", "backslashreplace").decode("utf-8")


def main(parser: str, given: str, folder: str, column: str = "text") -> None:
    """Parse all rows of the input, on all machines of the cluster."""
    rows = ray.data.read_parquet(given)
    rows.map_batches(parsing(parser, column), batch_format="numpy").write_parquet(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
