"""The reader of GGUF metadata: what the `gguf` package writes, and files that lie about sizes."""

from __future__ import annotations

import struct
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from gguf import GGUFEndian, GGUFValueType, GGUFWriter
from hypothesis import given
from hypothesis import strategies as st

from turnspec.sources.gguf_file import read_gguf
from turnspec.sources.gguf_metadata import DamagedFileError, Metadata, open_metadata

MANY = 150_000
HUGE = 2**63


def written(path: Path, fill: Callable[[GGUFWriter], None], **options: Any) -> Path:
    """Write a file with no tensors."""
    writer = GGUFWriter(path, "llama", **options)
    fill(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def all_types(writer: GGUFWriter) -> None:
    writer.add_uint8("u8", 7)
    writer.add_int8("i8", -7)
    writer.add_uint16("u16", 700)
    writer.add_int16("i16", -700)
    writer.add_uint32("u32", 70_000)
    writer.add_int32("i32", -70_000)
    writer.add_float32("f32", 0.5)
    writer.add_bool("flag", True)
    writer.add_string("text", "émoji 🎉")
    writer.add_uint64("u64", 2**40)
    writer.add_int64("i64", -(2**40))
    writer.add_float64("f64", 0.1)
    writer.add_array("numbers", [1, 2, 3])
    writer.add_array("texts", ["a", "", "c"])
    writer.add_key_value("nested", [[1, 2], [3]], GGUFValueType.ARRAY, GGUFValueType.ARRAY)
    writer.add_string("last", "read")


@pytest.mark.parametrize("order", GGUFEndian)
def test_every_type(tmp_path: Path, order: GGUFEndian) -> None:
    path = written(tmp_path / "all.gguf", all_types, endianess=order)
    with open_metadata(path) as metadata:
        found = {key: metadata.scalar(key) for key in metadata.keys}
        assert list(metadata.texts("texts")) == ["a", "", "c"]
        assert list(metadata.texts("numbers")) == list(metadata.texts("absent")) == []
        assert metadata.text("u8") is None
    assert found == {
        "general.architecture": "llama",
        **{"u8": 7, "i8": -7, "u16": 700, "i16": -700, "u32": 70_000, "i32": -70_000},
        **{"f32": 0.5, "flag": True, "text": "émoji 🎉", "u64": 2**40, "i64": -(2**40)},
        **{"f64": 0.1, "numbers": None, "texts": None, "nested": None, "last": "read"},
    }


def test_a_large_vocabulary_is_passed_over_quickly(tmp_path: Path) -> None:
    def fill(writer: GGUFWriter) -> None:
        writer.add_token_list([f"token {number}" for number in range(MANY)])
        writer.add_token_scores([0.0] * MANY)
        writer.add_eos_token_id(MANY - 1)
        writer.add_chat_template("{{ eos_token }}")

    path = written(tmp_path / "large.gguf", fill)
    started = time.perf_counter()
    found, problems = read_gguf(path)
    assert problems == []
    assert found.eos_token == f"token {MANY - 1}"
    assert time.perf_counter() - started < 5


def header(pairs: int, *parts: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, pairs) + b"".join(parts)


def text(value: bytes, length: int | None = None) -> bytes:
    return struct.pack("<Q", len(value) if length is None else length) + value


def pair(key: bytes, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def array(kind: int, count: int, elements: bytes = b"") -> bytes:
    return struct.pack("<IQ", kind, count) + elements


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it is empty"),
        (b"GG", "the file ends at 2, in the middle of its metadata"),
        (b"GGML" + bytes(20), "it doesn't begin with GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1 of the format can't be read"),
        (header(HUGE), "the file ends at 24, in the middle of its metadata"),
        (header(1, text(b"", HUGE)), "the file ends at 32, in the middle of its metadata"),
        (header(1, pair(b"k", 99, b"")), "there is no type 99 of values"),
        (header(1, pair(b"k", 8, text(b"x", HUGE))), "the file ends at 46, in the middle"),
        (header(1, pair(b"k", 9, array(0, HUGE))), "the file ends at 49, in the middle"),
        (header(1, pair(b"k", 9, array(8, HUGE))), "the file ends at 49, in the middle"),
        (header(1, pair(b"k", 9, array(9, HUGE))), "the file ends at 49, in the middle"),
        (header(1, pair(b"\xff", 0, b"\0")), "a text isn't UTF-8: invalid start byte"),
        (
            header(
                1, pair(b"k", 9, array(9, 1, array(9, 1, array(9, 1, array(9, 1, array(9, 1))))))
            ),
            "arrays are nested too deep",
        ),
    ],
)
def test_a_file_that_lies(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(data)
    tracemalloc.start()
    try:
        found, (problem,) = read_gguf(path)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()
    assert found.texts == {}
    assert str(problem).startswith(f"{path}: not a GGUF file, or a truncated one: {message}")


@given(st.binary(max_size=200), st.integers(0, 3))
def test_anything_at_all(data: bytes, pairs: int) -> None:
    with suppress(DamagedFileError):
        metadata = Metadata(header(pairs, data))
        for key in metadata.keys:
            metadata.scalar(key)
            list(metadata.texts(key))


def test_the_models_name(tmp_path: Path) -> None:
    def parts(writer: GGUFWriter) -> None:
        writer.add_string("general.name", " ")
        writer.add_string("general.basename", "Tiny")
        writer.add_string("general.size_label", "8B")
        writer.add_string("general.finetune", "Chat")

    named = written(
        tmp_path / "a.gguf", lambda writer: writer.add_string("general.name", "My One ")
    )
    assert read_gguf(named)[0].model == "My One"
    assert read_gguf(written(tmp_path / "b.gguf", parts))[0].model == "Tiny-8B-Chat"
    assert read_gguf(written(tmp_path / "c.gguf", lambda _: None))[0].model == ""


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_DATA, (2**30, 2**30))
from turnspec.cli.main import main
main()
"""


@pytest.mark.parametrize("verb", [("identify",), ("analyze",), ("explain",), ("live", "--model")])
def test_no_verb_takes_memory_for_what_the_file_has_no_room_for(
    tmp_path: Path, verb: tuple[str, ...]
) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(header(1, pair(b"tokenizer.ggml.tokens", 9, array(4, 2**31, bytes(1000)))))
    command = [sys.executable, "-c", LIMITED, *verb, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "not a GGUF file, or a truncated one: the file ends at 1069" in done.stderr
    assert len(done.stderr.splitlines()) == 1
