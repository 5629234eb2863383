"""Writing text files so that nobody ever sees a half-written one, or half of several."""

from __future__ import annotations

import contextlib
import re
import secrets
import signal
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}\.turnspec-tmp")
_LEFT_BEHIND = 600.0  # seconds; no file takes so long to be written


def write_atomically(path: Path, text: str) -> bool:
    """Write ``text`` as UTF-8 to ``path`` and return whether the file changed.

    A file that already holds the text stays untouched. Missing folders are made. Raises OSError or
    UnicodeEncodeError; the old file is then as it was, and no temporary file stays behind.
    """
    return bool(write_all_atomically({path: text}))


def write_all_atomically(texts: Mapping[Path, str]) -> list[Path]:
    """Write several files, or none: where one can't be written, the others are as they were.

    All texts are on the disk before the first takes its place, so that a disk that is full changes
    nothing; and once one has, Ctrl-C waits for the last. Returns the files that changed. Raises
    OSError or UnicodeEncodeError, as `write_atomically` does.
    """
    data = {path: text.encode("utf-8") for path, text in texts.items()}
    changed = [path for path in data if not _holds(path, data[path])]
    _remove_left_behind({path.parent for path in texts})
    ready: dict[Path, Path] = {}
    old: dict[Path, Path] = {}
    try:
        for path in changed:
            with _naming(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                ready[path] = _beside(path)
                ready[path].write_bytes(data[path])
        for path in filter(Path.is_file, changed if len(changed) > 1 else ()):
            with _naming(path):
                old[path] = _beside(path)
                old[path].write_bytes(path.read_bytes())
    except BaseException:
        with uninterrupted():
            _remove([*ready.values(), *old.values()])
        raise
    with uninterrupted():
        _take_places(ready, old)
    return changed


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield where to write what takes a file's place once it is whole. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_behind({path.parent})
    temporary = _beside(path)
    try:
        yield temporary
        temporary.replace(path)
    finally:
        _remove([temporary])


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Have Ctrl-C, and a request to end, wait until what belongs together is done."""
    if threading.current_thread() is not threading.main_thread():  # it alone is interrupted
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, signal.SIG_DFL if handler is None else handler)
        for number in came[:1]:
            signal.raise_signal(number)


def _take_places(ready: Mapping[Path, Path], old: Mapping[Path, Path]) -> None:
    """Put files in their places; where one can't be, those before it get their old ones back."""
    done: list[Path] = []
    try:
        for path, temporary in ready.items():
            with _naming(path):
                temporary.replace(path)
            done.append(path)
    except BaseException:
        for path in done:
            old[path].replace(path) if path in old else path.unlink(missing_ok=True)
        raise
    finally:
        _remove([*ready.values(), *old.values()])


def _beside(path: Path) -> Path:
    """Return a name for a temporary file, which is known by it if a kill leaves it behind."""
    return path.with_name(f".{path.name[:64]}.{secrets.token_hex(4)}.turnspec-tmp")


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):  # a disk that can't be written says so here, too
            path.unlink(missing_ok=True)


def _remove_left_behind(folders: Iterable[Path]) -> None:
    """Remove the temporary files of commands that were killed."""
    for folder in filter(Path.is_dir, folders):
        found = [path for path in folder.iterdir() if _TEMPORARY.fullmatch(path.name)]
        with contextlib.suppress(OSError):  # another command may just have removed it
            _remove(p for p in found if time.time() - p.lstat().st_mtime > _LEFT_BEHIND)


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let an error name the file that was wanted: it names the temporary one, or none."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def _holds(path: Path, data: bytes) -> bool:
    """Tell whether a file has this content; a device or a pipe can't be replaced by a file."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise OSError(0, "a device or a pipe; name a file", str(path))
    return status.st_size == len(data) and path.read_bytes() == data
