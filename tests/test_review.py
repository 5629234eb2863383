"""`turnspec diff`: what it prints in each form, on git revisions and files, and its exit codes."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.few_turns import take_few_turns
from tests.git_checkouts import commit, git, new_repository, remove_format, write_format
from tests.specs_for_tests import (
    json_native_spec,
    plain_spec,
    tag_with_json_spec,
    tagged_spec,
)
from tests.test_cli import run, run_whole
from turnspec.pipeline.project import Project
from turnspec.review.compare import Review, Source
from turnspec.review.revisions import review_since, review_specs
from turnspec.review.rules import Severity
from turnspec.review.shown import changelog, json_data, markdown, text_lines
from turnspec.sources.index import INDEX_FILE
from turnspec.sources.text_files import sha256_of
from turnspec.spec.files import dump_spec, load_spec
from turnspec.spec.model import Reasoning, Spec, SwitchWord, Thinking, ThinkingState
from turnspec.spec.words import Part, ReasoningMode, ReasoningScope, Switch

pytestmark = pytest.mark.usefixtures("few_turns")


def renamed_calls(spec: Spec) -> Spec:
    """Return the format with another marker around its calls, as a breaking change."""
    text = dump_spec(spec).replace("tool_call>", "invocation>")
    changed = load_spec(text, "")
    assert isinstance(changed, Spec)
    return changed


def with_reasoning_dropped() -> tuple[Spec, Spec]:
    """Return a format that marks reasoning, and the same of a template that drops it."""
    spec = json_native_spec()
    header = ThinkingState(spec.turn.header)
    spec = replace(spec, thinking=Thinking(default=header, enabled=header, disabled=header))
    turn = replace(
        spec.turn,
        order=(Part.CONTENT, Part.CALLS),
        ends=tuple(end for end in spec.turn.ends if end.last is not Part.REASONING),
    )
    none = Reasoning(ReasoningMode.NONE, "", "", None, ReasoningScope.NONE)
    return spec, replace(spec, turn=turn, reasoning=none)


def opened_by_the_model(spec: Spec) -> Spec:
    """Return the format with reasoning that the prompt doesn't open: lenient for its old parser."""
    header = ThinkingState(spec.turn.header)
    return replace(
        spec,
        thinking=replace(spec.thinking, default=header, enabled=header),
        reasoning=replace(spec.reasoning, mode=ReasoningMode.TAG_BASED),
    )


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    specs = (json_native_spec(), tagged_spec(), plain_spec())
    return new_repository(tmp_path_factory.mktemp("git") / "checkout", specs)


@pytest.fixture
def root(committed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(committed, tmp_path / "checkout")


@pytest.fixture(scope="module")
def everything(committed: Path, tmp_path_factory: pytest.TempPathFactory) -> Review:
    """A review with a change of each kind."""
    root = shutil.copytree(committed, tmp_path_factory.mktemp("all") / "checkout")
    write_format(root, renamed_calls(json_native_spec()))
    write_format(root, opened_by_the_model(tagged_spec()))
    write_format(root, tag_with_json_spec())
    remove_format(root, "plain")
    with pytest.MonkeyPatch.context() as patch:
        take_few_turns(patch)
        review = review_since("main", Project(root))
    assert isinstance(review, Review)
    assert review.old.startswith("main (")
    return replace(review, old="main")  # the commit's hash holds the time


def test_as_text(everything: Review, snapshot: SnapshotAssertion) -> None:
    assert "\n".join(text for text, _ in text_lines(everything)) == snapshot


def test_as_markdown(everything: Review, snapshot: SnapshotAssertion) -> None:
    assert markdown(everything) == snapshot


def test_as_a_changelog(everything: Review) -> None:
    assert changelog(everything) == (
        "### Formats\n\n"
        "1 breaking, 1 lenient, 1 added, 1 removed between main and the working tree.\n\n"
        "- **Breaking**:\n"
        "  - json-native: parser-misreads, trigger-missed\n"
        "- **Lenient**:\n  - tagged: parser-complains\n"
        "- **Added**:\n  - tag-with-json: reasoning NONE, tools TAG_WITH_JSON\n"
        "- **Removed**:\n  - plain\n"
    )


def test_two_revisions(root: Path) -> None:
    write_format(root, renamed_calls(json_native_spec()))
    commit(root)
    write_format(root, opened_by_the_model(tagged_spec()))
    result = run("diff", "main~1..main", "--root", root, "--format", "changelog")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "\n  - json-native: parser-misreads, " in result.stdout
    assert "tagged" not in result.stdout
    assert run("diff", "main..HEAD", "--root", root).exit_code == 0
    for none in ("none..HEAD", "HEAD..none"):
        error = "error: git knows no revision 'none'; give a commit, branch or tag\n"
        assert run("diff", none, "--root", root).stderr == error


def test_as_json(everything: Review, snapshot: SnapshotAssertion) -> None:
    assert json.dumps(json_data(everything), indent=2) == snapshot


def test_a_fence_is_longer_than_those_inside(tmp_path: Path) -> None:
    old = json_native_spec()
    limits = tuple(replace(limit, reason="````") for limit in old.limits)
    review = review_of_files(tmp_path, old, replace(old, limits=limits))
    assert "\n`````diff\n" in markdown(review)


def review_of_files(folder: Path, old: Spec, new: Spec) -> Review:
    paths = [str(folder / name / f"{spec.name}.yaml") for name, spec in (("a", old), ("b", new))]
    return review_specs(Source(old, file=paths[0]), Source(new, file=paths[1]))


def test_nothing_changed(root: Path) -> None:
    result = run("diff", "--root", root)
    assert (result.exit_code, result.stderr) == (0, "")
    head = git(root, "rev-parse", "HEAD")[:9]
    assert result.stdout == f"no format changed between HEAD ({head}) and the working tree\n"


def test_what_is_not_committed_is_compared_with_head(root: Path) -> None:
    write_format(root, renamed_calls(json_native_spec()))
    result = run("diff", "--root", root)
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout.startswith("json-native: breaking\n")
    commit(root)
    assert run("diff", "--root", root).exit_code == 0
    assert run("diff", "HEAD~1", "--root", root).exit_code == 1
    assert run("diff", "main~1", "--root", root, "--format", "markdown").exit_code == 1


def test_what_a_review_cannot_show_is_noted(root: Path) -> None:
    """A comment on a pull request has to say that it isn't all."""
    spec = plain_spec()
    template = root / "templates" / spec.template.file
    template.write_text("pinned", encoding="utf-8")
    row = f"{{file: {template.name}, origin: local, sha256: {sha256_of(b'pinned')}}}"
    (root / INDEX_FILE).write_text(f"origins: []\ntemplates:\n  - {row}\n", encoding="utf-8")
    note = "specs/plain.yaml: is of another text than is pinned; run: turnspec regen"
    result = run("diff", "--root", root, "--format", "markdown")
    assert (result.exit_code, result.stderr) == (0, f"notice: {note}\n")
    assert result.stdout.endswith(f"\n\n- {note}\n")
    assert run("diff", "--root", root, "--format", "github").stdout == f"::warning::{note}\n"
    found = json.loads(run("diff", "--root", root, "--format", "json").stdout)
    assert (found["templates"], found["notes"]) == ([], [note])
    template.write_text("edited", encoding="utf-8")
    remove_format(root, "plain")
    assert (
        "\n- specs/plain.yaml: isn't there yet; "
        in run("diff", "--root", root, "--format", "markdown").stdout
    )
    result = run("diff", "--root", root, "--format", "markdown")
    assert "\n- templates/plain.jinja: its text isn't the pinned one, so its spec " in result.stdout


def test_a_lenient_change_does_not_fail(root: Path) -> None:
    write_format(root, opened_by_the_model(tagged_spec()))
    result = run("diff", "--root", root)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("tagged: lenient\n")


def test_reasoning_that_is_shown_no_more_is_told_with_what_the_new_parser_makes_of_it(
    tmp_path: Path,
) -> None:
    files = tmp_path / "old.yaml", tmp_path / "new.yaml"
    for file, spec in zip(files, with_reasoning_dropped(), strict=True):
        file.write_text(dump_spec(spec), encoding="utf-8")
    verdict, _, backward, _, wanted, got, *_ = run("diff", *files).stdout.splitlines()
    assert verdict.endswith(": lenient")
    assert "new parser, old turns: breaking" in backward
    assert ("wanted: reasoning" in wanted, "got: content" in got) == (True, True)
    assert "reasoning-lost" in run("diff", *files, "--format", "changelog").stdout
    assert "\nnew parser, old turns\n" in run("diff", *files, "--format", "markdown").stdout


def flipped_default(spec: Spec) -> Spec:
    """Return the format with thinking only on request, where it was the template's default."""
    thinking = spec.thinking
    enabled = replace(thinking.enabled, prompt=thinking.default.prompt)
    off = ThinkingState(thinking.disabled.prompt)
    return replace(spec, thinking=Thinking(default=off, enabled=enabled, disabled=off))


def test_another_default_of_thinking_is_breaking(root: Path) -> None:
    """Both parsers read both states: it is who sets nothing that gets another answer."""
    spec = json_native_spec()
    write_format(root, flipped_default(spec))
    found = json.loads(run("diff", "--root", root, "--format", "json").stdout)["templates"][0]
    assert found["old_parser_new_turns"]["severity"] == "compatible"
    assert found["severity"] == "breaking"
    told = [finding for finding in found["findings"] if finding["severity"] == "breaking"]
    assert [(finding["rule"], finding["text"]) for finding in told] == [
        ("thinking-default-flipped", "thinking → no thinking"),
    ]
    first = run("diff", "--root", root).stdout.partition("\n")[0]
    assert first == "json-native: breaking: thinking → no thinking for whoever sets nothing"
    back = review_of_files(root, flipped_default(spec), spec).templates[0]
    assert "thinking-default-flipped" in [finding.rule.id for finding in back.findings]


def test_a_default_that_leaves_the_model_free_and_then_does_not(tmp_path: Path) -> None:
    """Its prompt says nothing of thinking, and each switch does."""
    spec = json_native_spec()
    thinking = spec.thinking
    on = ThinkingState(f"{spec.turn.header}<think>", {"enable_thinking": True})
    free = Thinking(ThinkingState(spec.turn.header), on, thinking.disabled)
    for flipped, said in ((on, "thinking"), (thinking.disabled, "no thinking")):
        fixed = replace(free, default=ThinkingState(flipped.prompt))
        pair = replace(spec, thinking=free), replace(spec, thinking=fixed)
        line, severity = next(text_lines(review_of_files(tmp_path, *pair)))
        wanted = f"breaking: left to the model → {said} for whoever sets nothing"
        assert (line.partition(": ")[2], severity) == (wanted, "breaking")


def test_another_variable_for_the_same_is_breaking_for_who_sets_the_old_one(tmp_path: Path) -> None:
    spec = json_native_spec()
    named = replace(spec.thinking.disabled, variables={"quiet": True})
    renamed = replace(spec, thinking=replace(spec.thinking, disabled=named))
    (review,) = review_of_files(tmp_path, spec, renamed).templates
    told = [(finding.rule.id, finding.text) for finding in review.findings]
    assert told == [
        ("thinking-switch-flipped", 'no thinking → thinking with {"enable_thinking": false}')
    ]
    assert review.severity is Severity.BREAKING
    # A variable of another name beside the old one takes nothing from anybody.
    both = replace(spec.thinking.disabled, variables={"enable_thinking": False})
    on = replace(spec.thinking.enabled, variables={"ponder": True})
    more = replace(spec, thinking=replace(spec.thinking, enabled=on, disabled=both))
    (review,) = review_of_files(tmp_path, spec, more).templates
    assert review.severity is Severity.COMPATIBLE


def test_a_word_that_switches_no_more_is_breaking_for_who_writes_it(tmp_path: Path) -> None:
    spec = json_native_spec()
    word = SwitchWord("/quiet", Switch.DISABLED, ("user",), spec.thinking.disabled.prompt)
    with_word = replace(spec, thinking=replace(spec.thinking, words=(word,)))
    (review,) = review_of_files(tmp_path, with_word, spec).templates
    told = [(finding.rule.id, finding.text) for finding in review.findings]
    assert told == [
        ("thinking-switch-flipped", '"/quiet" in a message switches it no more (disabled)')
    ]
    (review,) = review_of_files(tmp_path, spec, with_word).templates
    assert review.severity is Severity.COMPATIBLE


def test_the_parser_of_the_revision_is_tried(root: Path) -> None:
    """A parser that was committed with a defect has it in the review too."""
    module = root / "generated/json_native.py"
    text = module.read_text(encoding="utf-8")
    module.write_text(text.replace("def parse(", "def unparse("), encoding="utf-8")
    commit(root)
    write_format(root, replace(json_native_spec(), limits=()))
    result = run("diff", "--root", root)
    assert result.exit_code == 1
    raised = "AttributeError: module 'generated_parser' has no attribute 'parse'"
    assert f'got: problems ["{raised}"]' in result.stdout


def test_a_checkout_inside_a_repository(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    new_repository(outer / "formats", [plain_spec()])
    shutil.move(outer / "formats/.git", outer / ".git")
    commit(outer)
    remove_format(outer / "formats", "plain")
    result = run_whole("diff", cwd=outer / "formats/templates")
    assert result.returncode == 1
    assert result.stdout.startswith("plain: removed\n\n1 removed between HEAD (")


def test_a_spec_that_cannot_be_used_is_told_and_the_others_are_compared(root: Path) -> None:
    path = root / "specs/plain.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("mode: PLAIN", "mode: NICE"), encoding="utf-8")
    write_format(root, opened_by_the_model(tagged_spec()))
    result = run("diff", "--root", root)
    assert result.exit_code == 1
    assert result.stdout.startswith("tagged: lenient\n")
    assert "plain:" not in result.stdout
    assert result.stderr.startswith("error: specs/plain.yaml:")
    assert result.stderr.count("\n") == 1
    commit(root)
    path.write_text(text, encoding="utf-8")
    assert run("diff", "--root", root).stderr.startswith("error: HEAD:specs/plain.yaml:")


def test_two_files(tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(dump_spec(json_native_spec()), encoding="utf-8")
    new.write_text(dump_spec(renamed_calls(json_native_spec())), encoding="utf-8")
    result = run("diff", old, new, "--format", "json")
    assert (result.exit_code, result.stderr) == (1, "")
    data = json.loads(result.stdout)
    assert (data["old"], data["new"], data["breaking"]) == (str(old), str(new), True)
    assert [template["name"] for template in data["templates"]] == ["json-native"]
    same = run("diff", old, old)
    assert (same.exit_code, same.stdout) == (0, f"no format changed between {old} and {old}\n")


def test_a_file_that_is_not_a_spec(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(dump_spec(plain_spec()), encoding="utf-8")
    bad.write_text("- 1\n", encoding="utf-8")
    result = run("diff", good, bad)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {bad}:1: ")
    nowhere = tmp_path / "none.yaml"
    for pair in ((good, nowhere), (nowhere, good)):
        result = run("diff", *pair)
        assert result.exit_code == 1
        assert result.stderr == f"error: {nowhere}: there is no such file or folder\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["no-such"], "git knows no revision 'no-such'; give a commit, branch or tag"),
        (["--", "-x"], "git knows no revision '-x'; give a commit, branch or tag"),
        (["specs/plain.yaml"], "git knows no revision 'specs/plain.yaml'; give a second spec file"),
    ],
)
def test_nothing_to_compare(committed: Path, arguments: list[str], error: str) -> None:
    result = run_whole("diff", *arguments, cwd=committed)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"error: {error}\n")


def test_a_third_argument(committed: Path) -> None:
    result = run_whole("diff", "a", "b", "c", cwd=committed)
    assert result.returncode == 2
    assert result.stderr == (
        "error: Got unexpected extra argument (c); see: turnspec diff --help\n"
    )


def test_outside_a_repository(committed: Path, tmp_path: Path) -> None:
    root = shutil.copytree(committed, tmp_path / "checkout", ignore=lambda *_: [".git"])
    result = run_whole("diff", cwd=root)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        f"error: {root} isn't in a git repository; give two spec files instead\n"
    )


def test_outside_a_checkout(tmp_path: Path) -> None:
    result = run_whole("diff", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        "error: no templates/index.yaml here or above; go to a repository of formats, "
        "name one with --root, or make one: turnspec init\n"
    )


def test_as_a_hook_of_another_repository(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(root.parent))
    assert run("diff", "--root", root).exit_code == 0


def test_without_git(committed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    result = run("diff", "--root", committed)
    assert result.exit_code == 2
    assert result.stderr.endswith("git isn't installed; give two spec files instead\n")
