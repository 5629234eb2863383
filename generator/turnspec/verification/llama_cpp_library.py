"""llama.cpp as a library: loaded once, kept quiet, and with a vocabulary instead of a model."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from turnspec.spec.problems import Problem
from turnspec.verification.vocabulary import token_ids, write_vocabulary

_MISSING = "llama.cpp is not installed; to have it: pip install 'turnspec[live]'"
_ERROR = 4  # the log level, from ggml.h
_LONGEST_MESSAGE = 200
# The standard error gets to know more than the log, but with all of the grammar behind it.
_PARSE_ERROR = re.compile(r"error parsing grammar: (.+)")


@dataclass(frozen=True, slots=True)
class LlamaLibrary:
    """The functions of llama.cpp, and the errors that it logged last."""

    functions: ModuleType
    errors: list[str]
    callback: Any = field(repr=False)  # llama.cpp keeps only its address

    def call(self, function: Callable[[], Any]) -> tuple[Any, str]:
        """Call llama.cpp, and return the result with what it complained of."""
        self.errors.clear()
        with tempfile.TemporaryFile() as file, _standard_error_in(file.fileno()):
            result = function()
            file.seek(0)
            written = file.read().decode(errors="replace")
        parse_error = _PARSE_ERROR.search(written)
        message = parse_error[1] if parse_error else " ".join("; ".join(self.errors).split())
        return result, message[:_LONGEST_MESSAGE]

    def load(self, path: Path, **parameters: object) -> tuple[Any, str]:
        """Load a model, and return it with what llama.cpp complained of."""
        given = self.functions.llama_model_default_params()
        for name, value in parameters.items():
            setattr(given, name, value)
        file = os.fsencode(path)
        return self.call(lambda: self.functions.llama_model_load_from_file(file, given))


@dataclass(frozen=True, slots=True)
class LlamaVocabulary:
    """A vocabulary that llama.cpp has loaded: a token per byte, and some special tokens."""

    library: LlamaLibrary
    pointer: Any
    specials: Mapping[str, int]

    def ends_turn(self, token: int) -> bool:
        """Say whether llama.cpp stops at this token; it knows many by their text."""
        return bool(self.library.functions.llama_vocab_is_eog(self.pointer, token))


@cache
def llama_library() -> LlamaLibrary | Problem:
    """Load llama.cpp if it is installed, and keep it from writing its log to the terminal."""
    if find_spec("llama_cpp") is None:
        return Problem(_MISSING)
    from llama_cpp import llama_cpp as functions

    errors: list[str] = []

    def keep(level: int, text: bytes, _: object) -> None:
        if level == _ERROR:
            errors.append(text.decode(errors="replace"))

    callback = functions.llama_log_callback(keep)
    functions.llama_log_set(callback, ctypes.c_void_p(None))
    functions.llama_backend_init()
    return LlamaLibrary(functions, errors, callback)


@cache
def load_vocabulary(special_tokens: Sequence[str] = ()) -> LlamaVocabulary | Problem:
    """Write a vocabulary and have llama.cpp load it; it stays loaded, for it is small."""
    library = llama_library()
    if isinstance(library, Problem):
        return library
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vocabulary.gguf"
        write_vocabulary(path, special_tokens=special_tokens)
        # The file is gone afterwards, so nothing of it may stay mapped.
        model, message = library.load(path, vocab_only=True, use_mmap=False)
    if not model:
        return Problem(f"llama.cpp cannot load the vocabulary: {message}")
    pointer = library.functions.llama_model_get_vocab(model)
    return LlamaVocabulary(library, pointer, token_ids(special_tokens))


@contextmanager
def _standard_error_in(descriptor: int) -> Iterator[None]:
    """Lead what C code writes to the standard error into another file."""
    sys.stderr.flush()
    saved = os.dup(2)
    os.dup2(descriptor, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
