"""Parsers that leave something out, or share their engine: smaller, and otherwise the same."""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path

import pytest

from tests.generated_formats import (
    FORMS,
    PARTS,
    committed_spec,
    facts_of_format,
    installed_module,
    module_source,
)
from turnspec.codegen.compiled import compiled_source
from turnspec.codegen.left_out import Extra, leave_out
from turnspec.codegen.loading import load, load_module
from turnspec.codegen.shared import ENGINE_FILE, engine_text, shared_module
from turnspec.report.texts import texts_to_try

OTHER_SYNTAX = '<tool_call>\nget_weather(city="Paris")\n</tool_call>'


@cache
def sources(name: str) -> dict[Extra | None, str]:
    """Return the statements of the whole parser, and of those that leave one thing out."""
    facts = facts_of_format(name)
    _, begins, statements = module_source(name).partition("from __future__ ")
    smaller: dict[Extra | None, str] = {
        extra: compiled_source(leave_out(facts, {extra})) for extra in Extra
    }
    return {None: begins + statements, **smaller}


@pytest.mark.parametrize("name", FORMS)
def test_a_parser_without_special_tokens_reads_what_it_read_without_any(name: str) -> None:
    found = sources(name)
    whole, smaller = load_module(found[None]), load_module(found[Extra.SPECIAL_TOKENS])
    assert len(found[None].splitlines()) - len(found[Extra.SPECIAL_TOKENS].splitlines()) >= 20
    for offered in texts_to_try(committed_spec(name), load(committed_spec(name))):
        options = {"tools": offered.tools, "prefill": offered.prefill}
        expected = whole.parse(offered.text, **options)
        message = smaller.parse(offered.text, **options)
        assert message.to_dict() == expected.to_dict()
        assert list(map(str, message.problems)) == list(map(str, expected.problems))
    with pytest.raises(ValueError, match="special_tokens: this parser was made without them"):
        smaller.Parser(special_tokens=["<|end|>"])


@pytest.mark.parametrize("name", FORMS)
def test_a_parser_without_other_syntax_reads_its_own(name: str) -> None:
    spec, found = committed_spec(name), sources(name)
    whole, smaller = load_module(found[None]), load_module(found[Extra.OTHER_SYNTAX])
    for offered in texts_to_try(spec, load(spec)):
        options = {"tools": offered.tools, "prefill": offered.prefill}
        expected = whole.parse(offered.text, **options)
        if not expected.problems:
            assert smaller.parse(offered.text, **options).to_dict() == expected.to_dict()


def test_another_syntax_is_no_call_where_it_is_left_out() -> None:
    found = sources("qwen3-coder")
    assert load_module(found[None]).parse(OTHER_SYNTAX).tool_calls
    assert not load_module(found[Extra.OTHER_SYNTAX]).parse(OTHER_SYNTAX).tool_calls
    assert "def other_call" not in found[Extra.OTHER_SYNTAX]


@pytest.mark.parametrize("name", FORMS)
def test_nothing_is_left_of_what_stands_in_for_special_tokens(name: str) -> None:
    source = sources(name)[Extra.SPECIAL_TOKENS]
    assert "class SpecialTokens" not in source
    assert "with_stand_ins" not in source


@pytest.mark.parametrize("name", FORMS)
def test_each_reader_that_is_resumed_waits_somewhere(name: str) -> None:
    for source in sources(name).values():
        for node in ast.parse(source).body:
            returns = node.returns if isinstance(node, ast.FunctionDef) else None
            if returns and ast.unparse(returns).startswith("Reading["):
                assert any(isinstance(it, ast.Yield | ast.YieldFrom) for it in ast.walk(node))


def test_parsers_that_share_their_engine_read_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the engine knows of one format alone, it knows beside others as well."""
    folder = tmp_path / "sharing_formats"
    folder.mkdir()
    (folder / ENGINE_FILE).write_text(engine_text(), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in PARTS:
        spec, whole = committed_spec(name), installed_module(name)
        file = name.replace("-", "_")
        source = shared_module(module_source(name))
        (folder / f"_{file}.py").write_text(source, encoding="utf-8")
        parser = importlib.import_module(f"sharing_formats._{file}")
        for offered in texts_to_try(spec, whole):
            options = {"tools": offered.tools, "prefill": offered.prefill}
            expected = whole.parse(offered.text, **options)
            assert str(parser.parse(offered.text, **options)) == str(expected), (name, offered)
