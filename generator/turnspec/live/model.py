"""A model that llama.cpp has loaded, with a context: it reads tokens and says what may follow."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turnspec.spec.problems import Problem
from turnspec.verification.llama_cpp_library import LlamaLibrary, LlamaVocabulary, llama_library
from turnspec.verification.vocabulary import END_TOKEN

_BATCH = 512  # tokens that are read at once
_LONGEST_PIECE = 256  # bytes that a token usually has at most


@dataclass(slots=True)
class LiveModel:
    """A loaded model and its context, which holds the tokens in ``known``.

    Use it as a context manager, or `close` it.
    """

    library: LlamaLibrary
    vocabulary: LlamaVocabulary
    model: Any
    context: Any = None
    known: list[int] = field(default_factory=list)

    def __enter__(self) -> LiveModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the memory back."""
        if self.context is not None:
            self.library.functions.llama_free(self.context)
            self.context = None
        if self.model is not None:
            self.library.functions.llama_model_free(self.model)
            self.model = None

    @property
    def longest_context(self) -> int:
        """How many tokens the model was made to read."""
        return int(self.library.functions.llama_model_n_ctx_train(self.model))

    @property
    def token_count(self) -> int:
        """How many tokens there are in the vocabulary."""
        return int(self.library.functions.llama_vocab_n_tokens(self.vocabulary.pointer))

    def tokens(self, text: str, *, whole_prompt: bool = False) -> list[int]:
        """Return a text's tokens, special ones among them.

        A whole prompt gets the tokens that the model wants at the beginning, if its template
        hasn't written them.
        """
        functions, vocabulary = self.library.functions, self.vocabulary.pointer
        data = text.encode()
        begin = functions.llama_vocab_bos(vocabulary)
        add = whole_prompt and not (begin >= 0 and data.startswith(self.piece(begin) or b"\0"))
        room = len(data) + 8
        found = (functions.llama_token * room)()
        count = functions.llama_tokenize(vocabulary, data, len(data), found, room, add, True)
        return list(found[:count])

    def piece(self, token: int) -> bytes:
        """Return a token's text, also of special ones."""
        functions, vocabulary = self.library.functions, self.vocabulary.pointer
        room = _LONGEST_PIECE
        while True:
            buffer = ctypes.create_string_buffer(room)
            length = functions.llama_token_to_piece(vocabulary, token, buffer, room, 0, True)
            if length >= 0:
                return buffer.raw[:length]
            room = -length

    def open(self, size: int, *, threads: int = 0) -> Problem | None:
        """Make room for ``size`` tokens; a problem if there isn't any."""
        functions = self.library.functions
        parameters = functions.llama_context_default_params()
        parameters.n_ctx = size
        parameters.n_batch = parameters.n_ubatch = _BATCH
        parameters.n_threads = parameters.n_threads_batch = threads or os.cpu_count() or 1
        self.context, message = self.library.call(
            lambda: functions.llama_init_from_model(self.model, parameters)
        )
        if self.context:
            return None
        self.context = None
        return Problem(f"llama.cpp has no room for {size} tokens: {message or 'out of memory'}")

    def read(self, tokens: Sequence[int]) -> Problem | None:
        """Read tokens behind those read before."""
        functions = self.library.functions
        for start in range(0, len(tokens), _BATCH):
            part = tokens[start : start + _BATCH]
            array = (functions.llama_token * len(part))(*part)  # a batch keeps only its address
            batch = functions.llama_batch_get_one(array, len(part))
            failure = functions.llama_decode(self.context, batch)
            if failure:
                return Problem(f"llama.cpp cannot go on after {len(self.known)} tokens ({failure})")
            self.known += part
        return None

    def start_from(self, tokens: Sequence[int]) -> Problem | None:
        """Have read these tokens and no others; what was read of them before stays."""
        pairs = zip(self.known, tokens, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        self._forget_from(min(shared, len(tokens) - 1))  # the last one says what may follow
        return self.read(tokens[len(self.known) :])

    def _forget_from(self, position: int) -> None:
        functions = self.library.functions
        memory = functions.llama_get_memory(self.context)
        if not functions.llama_memory_seq_rm(memory, 0, position, -1):
            functions.llama_memory_clear(memory, True)  # not all models can go back a bit
            position = 0
        del self.known[position:]

    def logits(self) -> NDArray[np.float32]:
        """Return how likely each token is to follow."""
        pointer = self.library.functions.llama_get_logits_ith(self.context, -1)
        return np.ctypeslib.as_array(pointer, shape=(self.token_count,)).copy()


def load_model(path: Path) -> LiveModel | Problem:
    """Have llama.cpp load a GGUF file; a problem if it isn't installed or can't."""
    library = llama_library()
    if isinstance(library, Problem):
        return library
    model, message = library.load(path)
    if not model:
        return Problem(f"llama.cpp cannot load it: {message or 'no reason given'}", str(path))
    pointer = library.functions.llama_model_get_vocab(model)
    specials = {END_TOKEN: int(library.functions.llama_vocab_eos(pointer))}
    return LiveModel(library, LlamaVocabulary(library, pointer, specials), model)
