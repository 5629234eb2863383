# Every target does its own set-up: it needs Python 3.11 or newer and a package index. What runs
# llama.cpp, or all tests, builds that from source, with gcc, g++ and cmake; `make regen` doesn't.

VENV := .venv
BIN := $(VENV)/bin
BUILD := $(VENV)/.stamp-build
STAMP := $(VENV)/.stamp
# The first Python on the path that is new enough; `make PYTHON=...` chooses another.
PYTHON ?= $(shell for candidate in python3 python3.11 python3.12 python3.13 python3.14; do \
	if $$candidate -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	then echo $$candidate; break; fi; done)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help regen regen-long check diff report report-browser site site-browser \
	test quick test-every-format test-long fuzz lint bench \
	install-size api models families typescript capabilities engines engine-faults faults live learned-formats \
	figures schemas module-coverage module-start compiler-faults \
	conformance reference integrations lock dist changelog outdated clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# The format whose chat handler the example server has, and whose parser the example page.
EXAMPLE := qwen-qwen3-0-6b
regen: $(BUILD)  ## fetch the templates, analyse them, write and verify specs, parsers and grammars
	@$(BIN)/turnspec regen
	@$(BIN)/turnspec export $(EXAMPLE) --to llama-cpp-python --into examples/chat_server >/dev/null
	@$(BIN)/turnspec vendor $(EXAMPLE) --javascript --no-grammar --into examples/chat_page >/dev/null

regen-long: $(BUILD)  ## the same, verified with 1000 random messages per template
	@$(BIN)/turnspec regen --messages 1000

check: $(BUILD)  ## say whether specs and generated files are fresh; writes nothing
	@$(BIN)/turnspec check

REV := HEAD
diff: $(BUILD)  ## say what changed in the formats since a git revision: HEAD, or REV=main
	@$(BIN)/turnspec diff $(REV)

report: $(BUILD)  ## write build/report.html, a page of all formats
	@$(BIN)/turnspec report

# Needs Chromium and its driver, which no other target does.
report-browser: $(STAMP)  ## try the page in Chromium; pictures of it go to build/
	@$(BIN)/python -m tests.report_browser

# Needs Node's npm, which fetches Pyodide, and a package index for Sphinx; all of it pinned by hashes.
# TURNSPEC_REPOSITORY=https://github.com/OWNER/NAME is where issues are filed and links to files lead.
site: $(BUILD)  ## write build/site: gallery, docs with search, a page per format, the playground
	@$(BIN)/python -m website

site-browser: $(STAMP) site  ## try the site in Chromium (some minutes); pictures of it go to build/
	@$(BIN)/python -m tests.site_browser $(CHECKS)

# A file is tested in one process, so that its tests share what takes long to make. Bytecode is kept
# in build/, also where the environment wants none beside the sources.
CACHED := env -u PYTHONDONTWRITEBYTECODE PYTHONPYCACHEPREFIX="$(CURDIR)/build/pycache"
PYTEST := $(CACHED) $(BIN)/pytest -q -n auto --dist loadfile --no-loadscope-reorder --durations=10
# Types are checked meanwhile, as mypy takes one core of several. The first time, one process makes
# the bytecode of all tests, which else each would.
test: style  ## lint, types and tests, on a few formats that have all there is
	@mkdir -p build; $(MYPY) >build/types.txt 2>&1 & types=$$!; \
		[ -d build/pycache ] || $(CACHED) $(BIN)/pytest -qq --collect-only >build/collected.txt; \
		$(PYTEST) -m 'not long'; tested=$$?; \
		wait $$types || { cat build/types.txt; exit 1; }; exit $$tested

# The engine, specs, grammars of schemas, and how parsers and writers are made: nothing that renders
# templates, starts commands or goes through all formats.
QUICK := engine drawn_formats parser_cases spec_checks spec_files spec_overlay spec_schema \
	spec_fingerprint grammar_schema codegen_writer analysis_parts analysis_repetition analysis_text \
	catalog_names sources_index sources_naming chat_messages rendering_variables
quick: $(STAMP)  ## ruff and the tests of the inner loop, without types
	@$(BIN)/ruff check --quiet .
	@$(PYTEST) $(QUICK:%=tests/test_%.py)

# `make test` takes a few formats, which tests/generated_formats.py chooses, and a few cuts of a text.
test-every-format: lint  ## the same on every format, cut everywhere, and tests marked as long (hours)
	@TURNSPEC_EVERY_FORMAT=1 $(PYTEST)

test-long: $(STAMP)  ## what parsers promise, on 200 random texts per test and parser (an hour or so)
	@TURNSPEC_EXAMPLES=$${TURNSPEC_EXAMPLES:-200} $(PYTEST) \
		tests/test_parser_promises.py tests/test_drawn_formats.py tests/test_drawn_templates.py \
		tests/test_typescript.py tests/test_typescript_special.py

# The corpus is kept in build/fuzz, so that the next run goes on from there.
TARGET := parser
SECONDS := 600
NAMES :=
fuzz: $(STAMP)  ## fuzz for 10 minutes; TARGET=parser (NAMES="qwen3-coder"), markers, specs, gguf, grammar, tools, tokens
	@mkdir -p build/fuzz/$(TARGET)
	@$(BIN)/python -m tests.fuzz $(TARGET) $(NAMES) -seed=2026 -max_total_time=$(SECONDS) \
		-artifact_prefix=build/fuzz/$(TARGET)- build/fuzz/$(TARGET)

# Workflows by a linter of GitHub's, here and where `turnspec init` has them from, and by their schemas.
STARTER := generator/turnspec/repository/starter
BY_SCHEMA := $(BIN)/check-jsonschema --builtin-schema vendor.github
quietly = @said=$$($(1) 2>&1) || { echo "$$said"; exit 1; }
MYPY := $(BIN)/mypy --no-error-summary
lint: style  ## ruff, mypy, and the workflows
	@$(MYPY)
.PHONY: style
style: $(STAMP)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo 'make: run $(BIN)/ruff format .'; exit 1; }
	$(call quietly,$(BIN)/zizmor --offline --quiet --no-progress .github action.yml $(STARTER)/*.yml)
	$(call quietly,$(BY_SCHEMA)-workflows .github/workflows/*.yml $(STARTER)/*.yml)
	$(call quietly,$(BY_SCHEMA)-actions action.yml)
	$(call quietly,$(BY_SCHEMA)-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml)

# Binding is measured beside llama.cpp's own converter.
bench: $(STAMP)  ## measure the generated parsers and the binding of grammars against their targets
	@$(BIN)/python -m benchmarks.parser_speed; measured=$$?; \
		$(BIN)/python -m benchmarks.typescript_speed && exit $$measured
	@$(BIN)/python -m benchmarks.grammar_binding

schemas: $(STAMP)  ## count what becomes of others' JSON Schemas: the official test suite, and real ones
	@$(BIN)/python -m benchmarks.schema_suite

figures: $(BUILD)  ## print how long the committed parsers are, and what generates them; limits are kept
	@$(BIN)/python -m benchmarks.module_figures

# LINES=1 lists what never runs, by functions of the engine.
module-coverage: $(STAMP)  ## say what of the parsers never runs, whatever they read (some minutes)
	@$(BIN)/python -m benchmarks.module_coverage $(if $(LINES),--lines) $(NAMES)

# AGAINST is a git revision or a folder with modules.
AGAINST := 084c2fb
module-start: $(BUILD)  ## compare the parsers' start and speed with those of another revision
	@$(BIN)/python -m benchmarks.module_start --against $(AGAINST) $(NAMES)

# EXTRAS measures others: make install-size EXTRAS="'' build live"
install-size: $(BUILD)  ## measure what `pip install turnspec` brings: packages and megabytes
	@$(BIN)/python -m benchmarks.install_size $(EXTRAS)

api: $(STAMP)  ## write docs/api.md: options, events, attributes and kinds of problems of all parsers
	@$(BIN)/python -m tests.api_page

# Node, the compiler and a linter: what the machine has, else what is installed below build/.
typescript: $(STAMP)  ## lay out and lint the TypeScript and JavaScript that is written by hand
	@$(BIN)/python -m tests.typescript.toolchain

# After a new template, or where a format changed.
models: $(BUILD)  ## write templates/models.json: which formats public models have, by their ids (some minutes)
	@$(BIN)/python -m tests.model_table

families: $(STAMP)  ## write docs/FAMILIES.md: well-known families with a turn of each, parsed
	@$(BIN)/python -m tests.family_table

.PHONY: safety
safety: $(STAMP)  ## write docs/safety.md: in which formats a text can call a tool
	@$(BIN)/python -m tests.safety_table

# Names choose formats, and show all that is amiss: make engines NAMES=qwen3-coder
engines: $(STAMP)  ## llama.cpp, llguidance and xgrammar (with PyTorch, a big download) on all grammars
	@$(BIN)/pip install --quiet --requirement requirements-engines.txt
	@$(BIN)/python -m tests.engine_counts $(NAMES)

engine-faults: $(STAMP)  ## plant faults in the engine and count how many its tests notice
	@$(BIN)/python -m tests.engine_faults
compiler-faults: $(STAMP)  ## plant faults in what compilation does, and count how many are noticed
	@$(BIN)/python -m tests.compiler_faults $(NAMES)
# Names choose formats, and write nothing: make faults NAMES=qwen3-coder
faults: $(STAMP)  ## plant faults and count how many the ladder notices (half an hour); docs/FAULTS.md
	@$(BIN)/python -m tests.faults $(NAMES)

capabilities: $(STAMP)  ## write docs/CAPABILITIES.md: what each template takes, and what stands in
	@$(BIN)/python -m tests.capability_table

# transformers has no part in the tests but what it once rendered, so it gets an environment of its own.
TRANSFORMERS := transformers==5.23.0
reference: $(STAMP)  ## record what Hugging Face transformers renders, and compare (300 MB of packages)
	@test -d build/reference || $(PYTHON) -m venv build/reference
	@build/reference/bin/pip install --quiet '$(TRANSFORMERS)' jinja2
	@$(BIN)/python -m tests.reference.compare export build/cases.json
	@build/reference/bin/python tests/reference/record.py build/cases.json tests/reference/transformers.json
	@$(BIN)/python -m tests.reference.compare

# NEW=1 tries formats without a result alone; SUITES="response-template" chooses targets, and
# NAMES="qwen3-coder glm-4-6" formats, and writes nothing.
integrations: $(STAMP)  ## exports, and servers' own parsers, in environments under build/ (7 GB, an hour)
	@$(BIN)/python -m tests.integrations $(if $(NEW),--new) $(if $(SUITES),--suites $(SUITES) --) $(NAMES)

# CASES chooses ids, families or formats, shows what deviates, and writes nothing:
# make conformance CASES="kimi 'mistral/v11-*'"
conformance: $(BUILD)  ## run the cases of canitoolcall, a suite of others; docs/CONFORMANCE.md
	@$(BIN)/python -m tests.conformance $(CASES)

# MODEL runs a model of yours instead: make live MODEL=x.gguf PROMPT='Is it raining?' TOOLS=tools.json
live: $(STAMP)  ## llama.cpp writes in all formats, with a tiny model; figures in specs/live.json
	@$(BIN)/turnspec live $(if $(MODEL),--model "$$MODEL" $(if $(PROMPT),--prompt "$$PROMPT") \
		$(if $(TOOLS),--tools "$$TOOLS") $(if $(FREE),--free),--record)
	@$(if $(MODEL),,$(BIN)/turnspec live --real-vocabularies)

# Names choose formats, and write nothing: make learned-formats NAMES=qwen3-coder
learned-formats: $(STAMP)  ## train small models of some formats and run them (PyTorch, a big download)
	@$(BIN)/pip install --quiet --requirement requirements-training.txt
	@$(BIN)/python -m benchmarks.learned_formats $(NAMES)

LOCK = build/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'
lock:  ## renew requirements.lock, requirements-build.lock and requirements-site.lock
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/pip install --quiet uv
	@$(LOCK) --upgrade --all-extras --group dev --group checkout \
		--output-file requirements.lock pyproject.toml
	@$(LOCK) --extra build --group checkout --constraint requirements.lock \
		--output-file requirements-build.lock pyproject.toml
	@$(LOCK) --upgrade --group site --output-file requirements-site.lock

# TAG=v0.1.0 also holds the version to the tag's.
TAG :=
dist: $(BUILD)  ## build the wheel and the sdist into dist/
	@test -z "$(TAG)" || test "$(TAG)" = "v$$($(BIN)/hatchling version)" || \
		{ echo "make: $(TAG) isn't the tag of version $$($(BIN)/hatchling version)"; exit 1; }
	@rm -rf dist
	@$(BIN)/hatchling build

SINCE = $(shell git describe --tags --abbrev=0 2>/dev/null)
changelog: $(BUILD)  ## print what CHANGELOG.md says of formats: since the last tag, or SINCE=v0.1.0
	@test -n "$(SINCE)" || { echo 'make: there is no tag yet; name a revision: make changelog SINCE=...'; exit 1; }
	@$(BIN)/turnspec diff $(SINCE) --format changelog || test $$? -eq 1

outdated: $(BUILD)  ## say of which pinned templates there are newer ones; writes nothing
	@$(BIN)/turnspec outdated

clean:  ## remove the virtual environment, caches and fetched templates
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis templates/fetched
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BUILD): requirements-build.lock pyproject.toml
	@test -n '$(PYTHON)' || { echo 'make: Python 3.11 or newer is needed: make PYTHON=/path/to/python3'; exit 1; }
	@echo 'set-up: $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --requirement requirements-build.lock
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Not for this very processor: on machines with AMX, native code of llama.cpp crashed with quantized models.
$(STAMP): $(BUILD) requirements.lock
	@echo 'set-up: llama.cpp and the tools for tests (the first time llama.cpp is built: some minutes)'
	@CMAKE_ARGS="$${CMAKE_ARGS:--DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF}" $(BIN)/pip install --quiet --requirement requirements.lock || \
		{ echo 'make: that needs a package index, and gcc, g++ and cmake to build llama.cpp'; exit 1; }
	@touch $@
