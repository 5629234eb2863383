"""A template that is a known one but for a turn now and then: told wherever it is taken for that.

What its analysis finds is the format of the known one, so only turns tell them apart.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.test_cli import run

GREEN = """\
{%- for m in messages -%}
{%- if m.role == 'assistant' -%}
{{ '‹bot›' + (m.content or '') }}
{%- for c in m.tool_calls or [] -%}
{{ '‹run ' + c.function.name + '›' + (c.function.arguments | tojson) + '‹/run›' }}
{%- endfor -%}
{{ '‹end›' }}
{%- else -%}{{ '‹' + m.role + '›' + m.content + '‹/' + m.role + '›' }}{%- endif -%}
{%- endfor -%}
{{ (tools | tojson) if tools else '' }}{{ '‹bot›' if add_generation_prompt else '' }}"""
THIRD = "+ ('‹phew›' if loop.index == 3 else '')"
RED = GREEN.replace("+ '‹/run›' }}", f"+ '‹/run›' {THIRD} }}}}")
FAILED = "rung 0: "


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the green template's format, committed, and the red template beside it."""
    root = tmp_path_factory.mktemp("own") / "formats"
    (root / "templates").mkdir(parents=True)
    (root / "templates/index.yaml").write_text("origins: []\ntemplates: []\n", encoding="utf-8")
    for name, text in (("mine", GREEN), ("edited", RED), ("same", "{# same #}" + GREEN)):
        root.with_name(f"{name}.jinja").write_text(text, encoding="utf-8")
    assert run("add", root.with_name("mine.jinja"), "--root", root).exit_code == 0
    assert run("regen", "--root", root).exit_code == 0
    for command in ("init", "add -A", "-c user.name=me -c user.email=me@here commit -m mine"):
        subprocess.run(["git", "-C", root, *command.split()], check=True, capture_output=True)
    return root


def asked(fresh: Path, verb: str, template: str, *more: object) -> tuple[int, str]:
    path = fresh.with_name(template)
    result = run(verb, path, "--root", fresh, *more)
    return result.exit_code, result.output.replace(str(path), template)


def test_it_is_taken_for_no_known_format(fresh: Path, tmp_path: Path) -> None:
    code, told = asked(fresh, "identify", "edited.jinja")
    assert (code, told.partition("\n")[0].partition("; ")[0]) == (
        1,
        "edited.jinja: new: reasoning NONE, calls TAG_WITH_JSON",
    )
    assert "; like mine, but it renders " in told
    assert " turns otherwise\n" in told
    code, told = asked(fresh, "vendor", "edited.jinja", "--into", tmp_path)
    assert code == 1
    assert told.startswith("error: edited.jinja: its format is new (like mine, but it renders ")
    assert not [*tmp_path.iterdir()]
    code, told = asked(fresh, "identify", "same.jinja")
    assert (code, told.partition("\n")[0]) == (
        0,
        "same.jinja: another template, which writes the format of mine",
    )


def test_its_text_taken_for_the_known_one_is_told(fresh: Path) -> None:
    pinned = fresh / "templates/mine.jinja"
    pinned.write_text(RED, encoding="utf-8")
    updated = run("add", "--update", pinned, "--root", fresh)
    assert updated.exit_code == 1
    assert "\nmine: breaking (the template changed, its format didn't, its " in updated.stdout
    assert "  rung-lost: " in updated.stdout
    assert "\nmine: rung 0 (" in updated.stdout
    assert f"error: mine: not verified: {FAILED}" in updated.stderr
    assert run("regen", "--root", fresh).exit_code == 1
    changed = run("diff", "--root", fresh)
    assert changed.exit_code == 1
    assert changed.stdout.startswith(
        "mine: breaking (the template changed, its format didn't, its verification did)\n"
        "  rung-lost: a rung of the verification passed, and doesn't any more (rung 0: "
    )
    git(fresh, "add", "-A")
    git(fresh, "commit", "-m", "red")
    # Of what its spec is blind to nobody knows what another text does.
    pinned.write_text(RED.replace("phew", "oh"), encoding="utf-8")
    assert run("add", "--update", pinned, "--root", fresh).exit_code == 1
    assert run("regen", "--root", fresh).exit_code == 1
    changed = run("diff", "--root", fresh)
    assert changed.stdout.startswith(
        "mine: lenient (the template changed, its format didn't, and isn't verified)\n"
        "  rung-red: a rung of the verification isn't passed (rung 0: "
    )
    git(fresh, "reset", "--hard", "HEAD~1")


def git(root: Path, *arguments: str) -> None:
    me = ("-c", "user.name=me", "-c", "user.email=me@here")
    subprocess.run(["git", "-C", root, *me, *arguments], check=True, capture_output=True)


def test_two_templates_of_which_one_is_red_are_not_alike(fresh: Path, tmp_path: Path) -> None:
    """One is known, or both are only analysed."""
    other = tmp_path / "other.jinja"
    other.write_text("{# other #}" + GREEN, encoding="utf-8")
    for old in (fresh.with_name("mine.jinja"), other):
        changed = run("diff", old, fresh.with_name("edited.jinja"), "--root", fresh)
        assert changed.exit_code == 1
        assert "  rung-lost: a rung of the verification passed, and doesn't" in changed.stdout
        assert run("diff", old, fresh.with_name("same.jinja"), "--root", fresh).exit_code == 0


def test_a_new_format_that_is_red_is_told(fresh: Path) -> None:
    added = run("add", fresh.with_name("edited.jinja"), "--root", fresh)
    assert added.exit_code == 1
    assert "known already" not in added.stderr
    assert run("regen", "--root", fresh).exit_code == 1
    changed = run("diff", "--root", fresh)
    assert changed.exit_code == 0  # nobody has a parser of it
    assert "edited: added: " in changed.stdout
    assert "  rung-red: a rung of the verification isn't passed (rung 0: " in changed.stdout
    assert run("diff", "--fail-on", "lenient", "--root", fresh).exit_code == 1
    assert "`rung-red`" in run("diff", "--format", "markdown", "--root", fresh).stdout


def test_who_uses_a_spec_that_is_red_is_told(fresh: Path, tmp_path: Path) -> None:
    assert run("analyze", fresh.with_name("edited.jinja"), "--into", tmp_path).exit_code == 1
    spec = tmp_path / "edited.yaml"
    notice = f"notice: {spec} is not verified: {FAILED}"
    output = tmp_path / "output.txt"
    output.write_text("Fine.", encoding="utf-8")
    for command in (
        ["grammar", spec],
        ["parse", spec, output],
        ["flags", spec],
        ["identify", spec],
    ):
        assert notice in run(*command).stderr
    assert notice in run("diff", fresh / "specs/mine.yaml", spec).stderr
    flags = run("flags", fresh.with_name("edited.jinja")).stdout
    assert "  a plugin reads it, if the analysis is verified:\n" in flags
