"""The fuzzer's bytes are a GGUF file: its templates are read, or one line says why not."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

from tests.fuzz.fuzzing import Target
from turnspec.sources.gguf_file import read_gguf

_STRING, _ARRAY = 8, 9
_FILE = Path(tempfile.mkdtemp(prefix="turnspec-fuzz-")) / "model.gguf"


def _text(text: str) -> bytes:
    data = text.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def _texts(*texts: str) -> bytes:
    return struct.pack("<IIQ", _ARRAY, _STRING, len(texts)) + b"".join(map(_text, texts))


def _number(kind: int, code: str, number: int) -> bytes:
    return struct.pack(f"<I{code}", kind, number)


def _file(pairs: dict[str, bytes], version: int = 3) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", version, 0, len(pairs))
    return head + b"".join(_text(key) + value for key, value in pairs.items())


def _string(text: str) -> bytes:
    return struct.pack("<I", _STRING) + _text(text)


#: A file as models have them, one with named templates, and one with arrays in an array.
SEEDS = (
    _file(
        {
            "general.name": _string("A model"),
            "tokenizer.chat_template": _string("{{ messages }}"),
            "tokenizer.ggml.tokens": _texts("<s>", "</s>", "a"),
            "tokenizer.ggml.bos_token_id": _number(4, "I", 0),
            "tokenizer.ggml.eos_token_id": _number(4, "I", 1),
            "tokenizer.ggml.add_bos_token": _number(7, "B", 1),
        }
    ),
    _file(
        {
            "tokenizer.chat_templates": _texts("tool_use"),
            "tokenizer.chat_template.tool_use": _string("{{ tools }}"),
            "general.size_label": _string("7B"),
        },
        version=2,
    ),
    _file(
        {
            "nested": struct.pack("<IIQ", _ARRAY, _ARRAY, 1)
            + struct.pack("<IQ", 4, 1)
            + b"\1\0\0\0",
            "numbers": struct.pack("<IIQ", _ARRAY, 6, 2) + b"\0" * 8,
        }
    ),
)


def check(data: bytes) -> None:
    """Read a file; only what is told in one line may be amiss."""
    _FILE.write_bytes(data)
    found, problems = read_gguf(_FILE)
    assert all(problem.message and "\n" not in str(problem) for problem in problems), problems
    assert not (problems and found.texts)
    held = sum(map(len, found.texts.values()))
    assert held <= 2 * len(data), f"{held} characters of templates in {len(data)} bytes"


TARGET = Target(bytes, check, SEEDS, longest=4096)
