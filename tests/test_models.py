"""Models' ids, and which formats their templates had: templates/models.json."""

from __future__ import annotations

import json
from pathlib import Path

from tests.model_table import ORIGIN, fingerprint_of, names_of, table
from tests.test_cli import run
from turnspec.catalog.catalog import Catalog
from turnspec.catalog.finding import Found, How, find_format
from turnspec.catalog.models import MODELS_FILE, ModelTable
from turnspec.sources.hub_place import HubModel
from turnspec.sources.index import read_index
from turnspec.spec.problems import Problem

ROOT = Path(__file__).parent.parent
TOLD = json.loads((ROOT / MODELS_FILE).read_text(encoding="utf-8"))
SURE = "; to be sure, give its template to: turnspec identify"
QWEN = "Qwen/Qwen2.5-VL-7B-Instruct"


def test_formats_are_still_what_models_have() -> None:
    """What fails here is mended by `make models`."""
    told = {name: of["fingerprint"] for name, of in TOLD["formats"].items()}
    assert {name: fingerprint_of(name) for name in told} == told


def test_each_model_has_one_format_and_an_id() -> None:
    models = [model for of in TOLD["formats"].values() for model in of["models"]]
    models += TOLD["others"]
    assert len({model.lower() for model in models}) == len(models) > 2000
    assert [model for model in models if HubModel.read(model) is None] == []
    assert TOLD["source"] == ORIGIN in read_index(ROOT)[0].origins


def test_pinned_templates_of_models_have_their_own_format() -> None:
    pinned = [entry for entry in read_index(ROOT)[0].entries if entry.origin == ORIGIN]
    for entry in pinned:
        assert entry.name in TOLD["formats"], entry.name
    assert pinned


def test_by_a_models_id(tmp_path: Path) -> None:
    name = ModelTable.read(ROOT).format_of(QWEN.lower())
    for asked in (QWEN, QWEN.upper(), f"{QWEN}@main"):
        found = find_format(asked, Catalog.around(tmp_path))
        assert isinstance(found, Found)
        assert (found.format.name, found.how) == (name, How.MODEL)
        model = asked.partition("@")[0]
        by = f"is taken for {name} by its template of {TOLD['date']}"
        assert found.notice == f"{model} {by}{SURE}"


def test_by_models_of_the_same_name(tmp_path: Path) -> None:
    asked = "SomeOrg/qwen2.5-vl-72b-instruct-AWQ"
    found = find_format(asked, Catalog.around(tmp_path))
    assert isinstance(found, Found)
    name = ModelTable.read(ROOT).format_of(QWEN)
    assert (found.format.name, found.how) == (name, How.MODEL)
    assert found.notice == f"{asked} is taken for {name} by models of that name{SURE}"


def test_a_formats_own_name_goes_before_models_of_the_same_name(tmp_path: Path) -> None:
    asked = "deepseek-ai/DeepSeek-R1"
    assert ModelTable.read(ROOT).format_of(asked) is None
    assert ModelTable.read(ROOT).format_like(asked) == "deepseek-ai-deepseek-v3"
    found = find_format(asked, Catalog.around(tmp_path))
    assert isinstance(found, Found)
    assert (found.format.name, found.how) == ("llama-cpp-deepseek-r1", How.LIKE_NAME)


def test_models_of_one_name_and_two_formats_say_nothing() -> None:
    models = ModelTable("", "", {"a/Some-7B": "one", "b/Some-1B": "other", "c/New": ""})
    assert models.format_of("A/some-7b") == "one"
    assert models.format_like("c/Some-3B") is None
    assert models.format_like("d/New-3B") is None
    assert ModelTable("", "", {"a/Some-7B": "one"}).format_like("Some-3B-GGUF") == "one"


def test_a_model_whose_format_is_not_known(tmp_path: Path) -> None:
    model = TOLD["others"][0]
    assert find_format(model, Catalog.around(tmp_path)) == Problem(
        f"no format is known as {model!r}; to write a parser for it, run: "
        f"turnspec analyze {model} --into DIR"
    )


def test_the_command_says_by_what_a_model_is_known() -> None:
    result = run("identify", "--offline", QWEN)
    name = ModelTable.read(ROOT).format_of(QWEN)
    first = f"{QWEN}: {name}, by its template of {TOLD['date']}{SURE}"
    assert result.stdout.splitlines()[0] == first


def test_without_a_table_there_are_no_models(tmp_path: Path) -> None:
    assert ModelTable.read(tmp_path).format_of(QWEN) is None


# How the table is written.


def test_a_template_is_analysed(tmp_path: Path) -> None:
    path = tmp_path / "template.jinja"
    path.write_text("{{ 'nothing' }}", encoding="utf-8")
    assert names_of(path) == ()


def test_models_are_told_by_format() -> None:
    """Of formats with one fingerprint that whose name is most like; a known one if any is."""
    names = ("mimo-vl", "qwen-qwen2-5-7b-instruct")
    models = {"a": ["Qwen/Qwen2-7B", "Mi/MiMo-VL"], "b": ["x/New", "Mi/MiMo-VL"]}
    told = table({"a": names, "b": ()}, models)
    assert {name: of["models"] for name, of in told["formats"].items()} == {
        "mimo-vl": ["Mi/MiMo-VL"],
        "qwen-qwen2-5-7b-instruct": ["Qwen/Qwen2-7B"],
    }
    assert told["others"] == ["x/New"]
