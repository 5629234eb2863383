"""What the operating system refuses, in one line that says what to do."""

from __future__ import annotations

import errno
import os

_NO_ROOM = "no room is left on the disk; make some and run the same command again"
_READ_ONLY = "the disk can't be written to; choose a folder on another one"
_NOT_ALLOWED = "you may not read or write here; look at the permissions, or choose another place"

_REASONS = {
    errno.ENOSPC: _NO_ROOM,
    errno.EDQUOT: _NO_ROOM,
    errno.EFBIG: "too large for a file here; look at the limits of this system (ulimit -f)",
    errno.EBADF: "standard input or output is closed; leave it open, or redirect it",
    errno.EROFS: _READ_ONLY,
    errno.EACCES: _NOT_ALLOWED,
    errno.EPERM: _NOT_ALLOWED,
    errno.ENOENT: "there is no such file or folder",
    errno.ENOTDIR: "a part of this path is a file, not a folder",
    errno.EISDIR: "this is a folder, where a file is wanted",
    errno.EMFILE: "too many files are open; close other programs, or raise the limit (ulimit -n)",
    errno.ENOMEM: "there is no memory left; close other programs",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


def reason(error: OSError) -> str:
    """Return what went wrong, and what to do, without the name of the file."""
    known = _REASONS.get(error.errno or 0)
    return known or error.strerror or " ".join(str(error).split()) or type(error).__name__


def os_message(error: OSError) -> str:
    """Return the same with the file that it is about, where it is about one."""
    name = error.filename2 or error.filename
    return f"{os.fsdecode(name)}: {reason(error)}" if name else reason(error)
