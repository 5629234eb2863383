"""turnspec as it is installed: from the wheel, from the wheel of the sdist, and from a checkout.

Each is put into an environment of its own, and every verb is run in an empty folder. What turnspec
depends on comes from a package index, or from pip's cache: without either these tests fail.
`make test` looks into the wheel, `make test-every-format` installs it, and the others.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

import pytest
from benchmarks.install_size import MOST_MEGABYTES, MOST_PACKAGES
from benchmarks.installs import Environment, InstallError, build_sdist, build_wheel

from tests.conftest import ROOT
from tests.generated_formats import NAMES
from tests.own_checkouts import FEW
from tests.own_templates import FOLDER
from tests.test_catalog import model_file
from tests.test_cli import COMMANDS
from turnspec import __version__
from turnspec.cli.extras import EXTRAS
from turnspec.sources.index import Entry

pytestmark = pytest.mark.timeout(600)

QWEN = "qwen3-coder"
HUB = "Qwen/Qwen3-Coder-30B-A3B-Instruct"
PLAIN = FOLDER / "plain-content.jinja"
CALL = (
    "<tool_call>\n<function=look>\n<parameter=at>\nParis\n</parameter>\n</function>\n</tool_call>"
)
MESSAGES = '[{"role": "user", "content": "Hello!"}]'
ANSWERED = '[{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hi."}]'


@dataclass(frozen=True, slots=True)
class Machine:
    """Somebody's machine: an environment with turnspec in it, and an empty folder to work in."""

    environment: Environment
    folder: Path

    def run(self, *arguments: object, given: str = "", code: int = 0) -> tuple[str, str]:
        """Run turnspec and return what it printed; the exit code has to be this one."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        command = [str(self.environment.programs / "turnspec"), *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=self.folder,
            input=given,
            capture_output=True,
            text=True,
            timeout=200,
            env={**kept, "TURNSPEC_CACHE": str(self.folder.parent / "cache")},
        )
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        return done.stdout, done.stderr

    def python(self, code: str) -> str:
        """Run Python code and return what it printed."""
        command = [str(self.environment.programs / "python"), "-I", "-c", code]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


def machine(tmp_path: Path, *what: str) -> Machine:
    """Install something; without a package index the test fails, and says so."""
    environment = Environment.create(tmp_path / "environment")
    try:
        environment.install(*what)
    except InstallError as error:
        pytest.fail(f"needs a package index or pip's cache: {error}", pytrace=False)
    folder = tmp_path / "empty"
    folder.mkdir()
    return Machine(environment, folder)


def known_verbs(user: Machine, model: Path) -> set[str]:
    """Run what a plain installation has, on a known format; return the verbs."""
    assert user.run("--version")[0].startswith(f"turnspec, version {__version__}\nspecs, ")
    assert len(json.loads(user.run("list", "--json")[0])["formats"]) == len(NAMES)
    identified, hint = user.run("identify", model, HUB)
    assert identified.splitlines()[0] == f"{model}: the template of {QWEN}"
    assert hint.endswith(f"to copy its parser: turnspec vendor {QWEN} --into DIR\n")
    assert f"\n{QWEN}: calls\n" in f"\n{user.run('identify', '--turn', '-', given=CALL)[0]}"
    user.run("vendor", model, "--protocol", "--into", "app")
    copies = sorted(path.name for path in (user.folder / "app").iterdir())
    assert copies == ["protocol.py", "qwen3-coder.gbnf", "qwen3_coder.py"]
    assert user.run("vendor", "--check", "app")[0].count("fresh ") == 3
    assert user.run("diff", "app/qwen3_coder.py")[0].startswith("no format changed ")
    parsed, _ = user.run("parse", HUB, given=CALL)
    assert json.loads(parsed)["tool_calls"][0]["function"]["name"] == "look"
    assert "\nroot ::= " in user.run("grammar", model)[0]
    assert json.loads(user.run("export", QWEN, "--to", "response-template")[0])["version"] == 1
    assert "\nTwo calls:\n" in user.run("explain", QWEN)[0]
    assert '"content": "Hello!"' in user.run("explain", model, "--trace", "Hello!")[0]
    assert "R1 how is reasoning shown?" in user.run("explain", model)[0]
    assert user.run("render", model, given=MESSAGES)[0].endswith("<|im_start|>assistant\n")
    assert len(user.run("cases", QWEN, "-n", "2")[0].splitlines()) == 2
    assert user.run("tokens", QWEN, code=2)[1].startswith("error: whose tokens?")
    assert "--tool-call-parser" in user.run("flags", QWEN)[0]
    told = json.loads(user.run("mask", model, given=ANSWERED)[0])
    assert [span["message"] for span in told["spans"]] == [1]
    assert user.run("report")[0] == "wrote report.html\n"
    assert QWEN in (user.folder / "report.html").read_text(encoding="utf-8")
    assert f"\n- {QWEN}\n" in user.run("report-problem", QWEN, "--turn", "-", given=CALL)[0]
    return {
        "list",
        "identify",
        "vendor",
        "diff",
        "parse",
        "grammar",
        "export",
        "explain",
        "render",
        "mask",
        "cases",
        "tokens",
        "flags",
        "report",
        "report-problem",
    }


def building_verbs(user: Machine, model: Path) -> set[str]:
    """Run what makes new formats; return the verbs."""
    user.run("analyze", PLAIN, "--into", "parsers", "--messages", FEW)
    assert sorted(path.suffix for path in (user.folder / "parsers").iterdir()) == [
        *(".gbnf", ".py", ".yaml")
    ]
    user.run("init")
    user.run("add", PLAIN)
    user.run("regen", "--messages", FEW)
    assert user.run("check")[0] == "templates: 1; specs and generated files are fresh\n"
    spec = "specs/plain-content.yaml"
    assert user.run("diff", spec, spec)[0].startswith("no format changed ")
    template = user.folder / "templates" / PLAIN.name
    text = template.read_text(encoding="utf-8").replace("<:end:>", "<:over:>")
    template.write_text(text, encoding="utf-8")
    assert "plain-content: breaking\n" in user.run("add", "--update", "plain-content")[0]
    assert user.run("outdated")[0].startswith("0 pinned: ")
    user.run("upgrade")
    user.run("rename", "plain-content", "another")
    user.run("remove", "another")
    made = {"analyze", "init", "add", "regen", "check", "rename", "remove"}
    return made | {"outdated", "upgrade"}


@pytest.fixture
def model(reference_templates: list[Entry], tmp_path: Path) -> Path:
    """A model's file with a template that everybody knows."""
    path = next(ROOT / found.location for found in reference_templates if found.name == QWEN)
    return model_file(tmp_path / "model.gguf", path.read_text(encoding="utf-8"))


def contents(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as packed:
        return {name: hashlib.sha256(packed.read(name)).hexdigest() for name in packed.namelist()}


@pytest.mark.long
def test_the_wheel(model: Path, tmp_path: Path) -> None:
    """A plain installation: small, whole for known formats, and clear about what it lacks."""
    wheel = build_wheel(tmp_path / "dist")
    user = machine(tmp_path, str(wheel))
    assert user.python("import turnspec; print('site-packages' in turnspec.__file__)") == "True"
    verbs = known_verbs(user, model)
    notice = user.run("explain", QWEN)[1]
    assert notice.endswith(
        f"to fetch it: pip install 'turnspec[build]' && turnspec explain {QWEN} --fetch\n"
    )
    assert user.run("render", QWEN, given=MESSAGES, code=1)[0].startswith("a prompt ends with: ")
    needs = r"error: this needs \w+, which isn't installed; to install it, run: pip install "
    for arguments, extra in (
        (["analyze", PLAIN, "--into", "parsers"], "build"),
        (["regen"], "build"),
        (["check"], "build"),
        (["outdated"], "build"),
        (["explain", QWEN, "--fetch"], "build"),
        (["render", QWEN, "--fetch"], "build"),
        (["live", QWEN], "live"),
    ):
        output, error = user.run(*arguments, given=MESSAGES, code=1)
        assert output == ""
        assert re.fullmatch(rf"{needs}'turnspec\[{extra}\]'\n", error), (arguments, error)
        verbs.add(str(arguments[0]))
    user.run("init")
    user.run("add", PLAIN)
    user.run("upgrade")
    user.run("rename", "plain-content", "another")
    user.run("remove", "another")
    assert verbs | {"init", "add", "upgrade", "rename", "remove"} == set(COMMANDS)
    installed = {name.lower() for name in user.environment.distributions()}
    assert not installed & {"black", "gguf", "hypothesis", "llama_cpp_python", "numpy"}
    assert len(installed) <= MOST_PACKAGES
    assert user.environment.compiled_size() <= MOST_MEGABYTES * 1e6


@pytest.mark.long
def test_the_wheel_of_the_sdist(model: Path, tmp_path: Path) -> None:
    """The same wheel; with the extra for new formats, also those verbs."""
    source = build_sdist(tmp_path / "sdist")
    wheel = build_wheel(tmp_path / "dist", source)
    assert contents(wheel) == contents(build_wheel(tmp_path / "other"))
    shutil.rmtree(source)
    user = machine(tmp_path, f"{wheel}[build]")
    verbs = known_verbs(user, model) | building_verbs(user, model)
    assert user.run("explain", QWEN)[1].endswith(f"to fetch it: turnspec explain {QWEN} --fetch\n")
    assert "pip install 'turnspec[live]'" in user.run("live", QWEN, code=1)[1]
    assert verbs | {"live"} == set(COMMANDS)


@pytest.mark.long
def test_an_editable_install(model: Path, tmp_path: Path) -> None:
    """It has the formats of its checkout, and nothing is copied into that."""
    before = names_in(ROOT / "generator" / "turnspec")
    user = machine(tmp_path, "--editable", f"{ROOT}[build]")
    code = "from turnspec.catalog.catalog import installed_formats as f; print(f().root)"
    assert user.python(code) == str(ROOT)
    assert known_verbs(user, model) | building_verbs(user, model) | {"live"} == set(COMMANDS)
    assert names_in(ROOT / "generator" / "turnspec") == before


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, but for the bytecode that Python keeps there."""
    return sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")


def test_a_module_of_another_name_breaks_nothing(tmp_path: Path) -> None:
    """A user's own generator.py, or formats.py, is nobody's business."""
    for name in ("generator.py", "formats.py", "catalog.py", "protocol.py"):
        (tmp_path / name).write_text("raise SystemExit('mine')\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "turnspec", "parse", QWEN],
        cwd=tmp_path,
        input="Hello!",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, json.loads(done.stdout)["content"]) == (0, "Hello!")


def test_modules_of_the_current_folder_are_not_run(tmp_path: Path) -> None:
    """A command has no folder of the user on its path, nor has the server that it starts."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "command.py"
    start = "from turnspec.__main__ import main\n\nif __name__ == '__main__':\n    main()\n"
    command.write_text(start, encoding="utf-8")
    for name in ("copy.py", "signal.py", "attr.py"):
        planted = f"open({str(tmp_path / 'run')!r}, 'w')\n"
        (tmp_path / name).write_text(planted, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, command, "render", PLAIN],
        cwd=tmp_path,
        input=MESSAGES,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "run").exists()


def test_the_metadata_of_the_wheel(tmp_path: Path) -> None:
    with zipfile.ZipFile(build_wheel(tmp_path)) as packed:
        files = packed.namelist()
        head = f"turnspec-{__version__}.dist-info"
        metadata = HeaderParser().parsestr(packed.read(f"{head}/METADATA").decode())
    assert (metadata["Name"], metadata["Version"]) == ("turnspec", __version__)
    assert metadata["License-Expression"] == "MIT AND 0BSD"
    assert metadata["Requires-Python"] == ">=3.11"
    assert set(metadata.get_all("Provides-Extra", [])) == {*EXTRAS, "examples"}
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert {f"{head}/licenses/LICENSE", f"{head}/licenses/LICENSE-GENERATED"} <= set(files)
    assert "turnspec/py.typed" in files
    assert not [name for name in files if name.endswith((".jinja", ".pyc")) and "fetched" in name]
    tops = {name.partition("/")[0] for name in files}
    assert tops == {"turnspec", head}
