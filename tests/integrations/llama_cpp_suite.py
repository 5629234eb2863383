"""llama.cpp's own chat parsers on every format: it makes one of each template.

They are no part of its library: they are compiled from the source archive that the reference
templates are from, and linked with the library of the Python package.
"""

from __future__ import annotations

import json
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.generated_formats import committed_format
from tests.integrations.choosing import judged
from tests.integrations.environments import FOLDER
from tests.integrations.servers_suite import form_of, result_of
from turnspec.sources.cache import cache_folder
from turnspec.spec.server_results import ServerRecord
from turnspec.transcripts.run import all_cores

PACKAGE = "llama-cpp-python"
_FOLDERS = ("common/", "include/", "ggml/include/", "vendor/nlohmann/")
_SOURCES = ("chat*", "common", "json*", "log", "peg-parser", "trie", "unicode", "*/*")
# What common.cpp needs of samplers isn't linked, as nothing here asks for it.
_COMPILE = ("g++", "-std=c++17", "-O1", "-ffunction-sections", "-fdata-sections")
_READER = Path(__file__).with_name("llama_cpp_run.cpp")
_SIZES = (4, 20)  # characters, where servers have tokens
_SECONDS = 60  # for what is left of a format's cases


def run_llama_cpp(names: Sequence[str]) -> ServerRecord:
    """Read the named formats' turns."""
    reader, results = _reader(), {}
    with ThreadPoolExecutor(all_cores()) as pool:
        forms = [form_of(committed_format(name).spec) for name in names]
        for form, told in zip(forms, pool.map(partial(_told, reader), forms), strict=True):
            ways = ("whole", *(f"in pieces of {size} characters" for size in _SIZES))
            found = {"names": ("", ""), **judged(form["cases"], ways, iter(told))}
            spec = committed_format(form["name"]).spec
            results[spec.name] = result_of(spec, form, {"pairs": [found]})
    return ServerRecord(PACKAGE, version(PACKAGE), 1, results)


def _told(reader: Path, form: Mapping[str, Any]) -> list[Any]:
    """Return what became of each case, in each way; where the reader stops, it begins anew."""
    cases, told = form["cases"], list[Any]()
    while len(told) < len(cases):
        lines = [json.dumps(form["template"]), *map(_question, cases[len(told) :])]
        fault = "ends the process"
        try:
            done = subprocess.run(
                [reader], input="\n".join(lines) + "\n", capture_output=True, text=True,
                timeout=_SECONDS,
            )  # fmt: skip
            output = done.stdout
        except subprocess.TimeoutExpired as late:
            fault = f"takes more than {_SECONDS} s"
            output = (late.stdout or b"").decode()
        told += [json.loads(line) for line in output.split("\n")[:-1]]
        if len(told) < len(cases):
            told.append(fault)
    ways = 1 + len(_SIZES)
    return [way for case in told for way in ([case] * ways if isinstance(case, str) else case)]


def _question(case: Mapping[str, Any]) -> str:
    text = case["text"]
    cut = [[text[at : at + size] for at in range(0, len(text), size)] or [""] for size in _SIZES]
    asked = {name: case[name] for name in ("text", "tools", "variables")}
    return json.dumps({**asked, "pieces": cut})


def _reader() -> Path:
    """Return the program that reads turns, compiled if it isn't there (some minutes)."""
    folder = FOLDER / f"llama-cpp-{version(PACKAGE)}"
    reader = folder / "reader"
    if reader.is_file() and reader.stat().st_mtime > _READER.stat().st_mtime:
        return reader
    _unpack(folder)
    includes = [f"-I{folder / place}" for place in ("common", "include", "ggml/include", "vendor")]
    sources = sorted(
        {path for name in _SOURCES for path in (folder / "common").glob(f"{name}.cpp")}
    )
    with ThreadPoolExecutor(all_cores()) as pool:
        objects = list(pool.map(partial(_compiled, includes), sources))
    package = find_spec("llama_cpp")
    assert package is not None
    assert package.origin is not None
    library = Path(package.origin).parent / "lib"
    names = ("llama", "ggml", "ggml-base", "ggml-cpu")
    links = [f"-L{library}", *(f"-l{name}" for name in names), f"-Wl,-rpath,{library}", "-lpthread"]
    command: list[str | Path] = [
        *_COMPILE,
        "-Wl,--gc-sections",
        *includes,
        _READER,
        *objects,
        *links,
        "-o",
        reader,
    ]
    subprocess.run(command, check=True)
    return reader


def _compiled(includes: Sequence[str], source: Path) -> Path:
    made = source.with_suffix(".o")
    if not made.is_file():
        subprocess.run([*_COMPILE, *includes, "-c", source, "-o", made], check=True)
    return made


def _unpack(folder: Path) -> None:
    (archive,) = cache_folder().glob(f"{PACKAGE.replace('-', '_')}-{version(PACKAGE)}.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, _wanted(opened), filter="data")


def _wanted(opened: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the files of the sources, each below the folder that llama.cpp has it in."""
    for member in opened:
        place = member.name.partition("/vendor/llama.cpp/")[2]
        if member.isfile() and place.startswith(_FOLDERS):
            yield member.replace(name=place)
