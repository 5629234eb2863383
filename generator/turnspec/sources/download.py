"""Getting a pinned sdist or wheel: from the cache, or from the user's package indexes.

It is a file like any other: never built, never installed.
"""

from __future__ import annotations

import contextlib
import logging
import ssl
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from logging.handlers import BufferingHandler
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, cast

import httpx2
from filelock import FileLock
from packaging.version import InvalidVersion, Version
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from unearth import Link, Package, PackageFinder
from unearth.auth import MultiDomainBasicAuth
from unearth.fetchers.sync import PyPIClient

from turnspec.sources.cache import cache_folder
from turnspec.sources.index import Origin
from turnspec.sources.pip_settings import PipSettings, read_pip_settings
from turnspec.sources.text_files import file_sha256
from turnspec.spec.os_reasons import os_message
from turnspec.spec.problems import Problem

if TYPE_CHECKING:
    from unearth.fetchers import Fetcher

# An attempt that brought something is followed by another at once, one that didn't by a pause.
_MOST_ATTEMPTS = 20
_MOST_FRUITLESS_ATTEMPTS = 3
_RESUME_REFUSED = 416
_NO_VERSION = Version("0.dev0")


def obtain(
    origin: Origin,
    *,
    offline: bool = False,
    console: Console | None = None,
    settings: PipSettings | None = None,
    pause: float = 0.5,
) -> Path | Problem:
    """Return the pinned file from the cache, downloading it if need be, or why it can't be had.

    ``offline`` forbids the download. A progress bar is shown on ``console`` if that is a terminal.
    ``settings`` default to the user's pip settings; ``pause`` is in seconds, between attempts.
    """
    target = cache_folder() / origin.file
    page = f"https://pypi.org/project/{origin.project}/{origin.version}/#files"
    by_hand = f"to do it by hand, take {origin.file} from {page} and put the file at {target}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Two runs at once (tests in parallel) must not write into one file.
        with FileLock(target.with_name(f"{target.name}.lock")):
            if _is_whole(target, origin):
                return target
            if offline:
                state = "has another checksum" if target.exists() else "is not there"
                reason = f"working offline and {target} {state}"
            else:
                reason = _download(origin, target, settings or read_pip_settings(), console, pause)
    except OSError as error:
        reason = os_message(error) if error.filename else f"{target}: {os_message(error)}"
    return Problem(f"cannot fetch {origin.file}: {reason}; {by_hand}") if reason else target


def _download(
    origin: Origin, target: Path, settings: PipSettings, console: Console | None, pause: float
) -> str:
    """Download to ``target`` from the first source that has the right file; return a reason."""
    with _client(settings) as client, _progress_bar(console) as bar:
        found = _search(origin, settings, client, lambda p: p.link.filename == origin.file)
        packages, reasons = found
        for package in packages:
            reason = _from_link(client, package.link, origin, target, bar, pause)
            if not reason:
                return ""
            reasons.append(reason)
    return "; ".join(reasons) or "no package index is set (pip's no-index)"


def _client(settings: PipSettings) -> PyPIClient:
    verify = _tls_context(settings) if settings.cert or settings.client_cert else True
    return PyPIClient(
        auth=MultiDomainBasicAuth(prompting=False, index_urls=settings.index_urls),
        trusted_hosts=settings.trusted_hosts,
        verify=verify,
        timeout=settings.timeout,
        follow_redirects=True,
        proxy=settings.proxy,
    )


def _tls_context(settings: PipSettings) -> ssl.SSLContext:
    is_folder = settings.cert is not None and Path(settings.cert).is_dir()
    file, folder = (None, settings.cert) if is_folder else (settings.cert, None)
    context = ssl.create_default_context(cafile=file, capath=folder)
    if settings.client_cert:
        context.load_cert_chain(settings.client_cert)
    return context


def newest_origin(origin: Origin, settings: PipSettings | None = None) -> Origin | str:
    """Return the newest package of a project with a file of the same name but for the version.

    It is the pinned one if none is newer; one that is pulled back, or comes before a release,
    doesn't count. A text says why nothing can be told.
    """

    def is_such(package: Package) -> bool:
        version = package.version or ""
        return package.link.filename == origin.file.replace(origin.version, version)

    settings = settings or read_pip_settings()
    with _client(settings) as client:
        packages, reasons = _search(origin, settings, client, is_such)
        found = [(_version(p), p) for p in packages if not p.link.is_yanked]
        newest, package = max(found, key=itemgetter(0), default=(_NO_VERSION, None))
        if package is None or newest <= Version(origin.version):
            return origin if packages else "; ".join(reasons)
        link = package.link
        sha256 = ((link.hash_option or {}).get("sha256") or [""])[0]
        try:
            length = client.head(link.url_without_fragment).headers.get("Content-Length", "")
        except httpx2.HTTPError as error:
            return f"{_shown(link.url)}: {_one_line(error)}"
    if not sha256 or not length.isdecimal():
        return f"{_shown(link.url)}: the index tells neither sha256 nor size; pin it by hand"
    version, file = str(newest), link.filename
    name = f"{origin.project}-{version}"
    return replace(origin, id=name, version=version, file=file, sha256=sha256, size=int(length))


def _version(package: Package) -> Version:
    """Return a package's version; one that comes before a release, or is none, is below all."""
    try:
        version = Version(package.version or "")
    except InvalidVersion:
        return _NO_VERSION
    return _NO_VERSION if version.is_prerelease else version


def _search(
    origin: Origin, settings: PipSettings, client: PyPIClient, wanted: Callable[[Package], bool]
) -> tuple[list[Package], list[str]]:
    """Return the packages that are wanted, and what each source that doesn't have any says.

    Every source is asked by itself, so that a broken one doesn't hide the others.
    """
    found: list[Package] = []
    reasons: list[str] = []
    sources = [("find_links", place) for place in settings.find_links]
    sources += [("index_urls", url) for url in settings.index_urls]
    for kind, source in sources:
        with _collected_warnings() as warnings:
            try:
                finder = PackageFinder(
                    cast("Fetcher", client),
                    **{kind: [source]},  # type: ignore[arg-type]
                    trusted_hosts=settings.trusted_hosts,
                    ignore_compatibility=True,
                )
                packages = finder.find_all_packages(origin.project, allow_yanked=True)
                here = [package for package in packages if wanted(package)]
            except (httpx2.HTTPError, ValueError, OSError) as error:
                reasons.append(f"{_shown(source)}: {_one_line(error)}")
                continue
        found += here
        if not here:
            said = "; ".join(_one_line(warning.getMessage()) for warning in warnings)
            reasons.append(f"{_shown(source)}: {said or 'has no such file'}")
    return found, reasons


def _from_link(
    client: PyPIClient, link: Link, origin: Origin, target: Path, bar: Progress, pause: float
) -> str:
    """Download one link until the checksum holds. A wrong file is thrown away and tried again."""
    part = target.with_name(f"{target.name}.part")
    reason = ""
    for _ in range(2):
        reason = _fill(client, link, part, origin, bar, pause)
        if reason:
            return reason
        if _is_whole(part, origin):
            part.replace(target)
            return ""
        reason = f"{_shown(link.url)}: sent {_difference(part, origin)}"
        part.unlink()
    return reason


def _difference(part: Path, origin: Origin) -> str:
    if _size(part) > origin.size:
        return f"more than the {origin.size} bytes that are pinned"
    return f"a file with sha256 {file_sha256(part)}, pinned is {origin.sha256}"


def _fill(
    client: PyPIClient, link: Link, part: Path, origin: Origin, bar: Progress, pause: float
) -> str:
    """Append to ``part`` until it has its size, going on where an interrupted download stopped."""
    task = bar.add_task(origin.file, total=origin.size)
    fruitless = 0
    for _ in range(_MOST_ATTEMPTS):
        before = _size(part)
        if before >= origin.size:
            return ""
        reason = _attempt(client, link, part, origin.size, bar, task)
        if not reason:
            return ""
        fruitless = 0 if _size(part) > before else fruitless + 1
        if fruitless == _MOST_FRUITLESS_ATTEMPTS:
            return reason
        time.sleep(pause * fruitless)
    return f"{_shown(link.url)}: the connection broke off {_MOST_ATTEMPTS} times"


def _attempt(
    client: PyPIClient, link: Link, part: Path, size: int, bar: Progress, task: TaskID
) -> str:
    """Append to ``part`` what comes, up to ``size`` bytes and one; return why it broke off."""
    start = _size(part)
    # Stored as it is: a server must not compress it again, or offsets would mean nothing.
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        with client.get_stream(link.url_without_fragment, headers=headers) as response:
            if response.status_code == _RESUME_REFUSED:
                part.unlink(missing_ok=True)
            response.raise_for_status()
            resumed = response.status_code == httpx2.codes.PARTIAL_CONTENT
            with part.open("ab" if resumed else "wb") as file:
                for chunk in response.iter_raw():
                    file.write(chunk[: size + 1 - file.tell()])  # one more tells of more
                    bar.update(task, completed=file.tell())
                    if file.tell() > size:
                        break
    except httpx2.HTTPError as error:
        return f"{_shown(link.url)}: {_one_line(error)}"
    return ""


def _progress_bar(console: Console | None) -> Progress:
    shown = console or Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    hidden = not shown.is_terminal
    return Progress(*columns, TimeRemainingColumn(), console=shown, disable=hidden, transient=True)


@contextlib.contextmanager
def _collected_warnings() -> Iterator[list[logging.LogRecord]]:
    """Collect what the finder would log: the reasons why a source has nothing."""
    logger = logging.getLogger("unearth")
    collector = BufferingHandler(sys.maxsize)
    collector.setLevel(logging.WARNING)
    logger.addHandler(collector)
    try:
        yield collector.buffer
    finally:
        logger.removeHandler(collector)


def _is_whole(path: Path, origin: Origin) -> bool:
    return _size(path) == origin.size and file_sha256(path) == origin.sha256


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _shown(url: str) -> str:
    """Return a source as it may be shown: without a password."""
    return Link(url).redacted if "://" in url else url


def _one_line(error: object) -> str:
    return " ".join(str(error).split()) or type(error).__name__
