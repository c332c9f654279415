# Everything a person or a workflow runs here. `make` lists it.

PYTHON ?= python3.11
WORKERS ?= 2

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.NOTPARALLEL:

py := .venv/bin/python
# What the environment is made of; its stamp lies inside it, so that removing .venv removes the stamp.
venv_key := $(shell { echo '$(CURDIR)'; cat requirements.lock pyproject.toml; } | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c1-16)
venv_stamp := .venv/.outlast-$(venv_key)
engine_bin := .build/engine-bin
with_engine := PATH="$$(cat $(engine_bin)):$$PATH"
part := tools/checks/part

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---- set up --------------------------------------------------------------------------------------------------------

.PHONY: setup
setup: engine $(venv_stamp) ## the engine, and the environment in .venv; instant when nothing changed

.PHONY: python
python:
	@command -v $(PYTHON) >/dev/null || { echo "setup: no $(PYTHON) on PATH. Install Python 3.11, or name it: make setup PYTHON=.../python3.11" >&2; exit 1; }

.PHONY: engine
engine: python
	@mkdir -p .build
	@bin="$$($(PYTHON) tools/engine/ensure.py --print-bin)" && echo "$$bin" > $(engine_bin)

$(venv_stamp): | python
	@echo "setup: installing the $$(grep -c '==' requirements.lock) packages of requirements.lock into .venv (about 200 MB to download, 1.4 GB on disk, 2 minutes on two cores)"
	@[ -x $(py) ] || $(PYTHON) -m venv .venv
	@$(py) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(py) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@rm -f .venv/.outlast-* && touch $@
	@echo "setup: environment ready"

# ---- look ----------------------------------------------------------------------------------------------------------

.PHONY: demo
demo: setup ## the main acts on simulated clouds with the real engine; KEEP=1 leaves them running
	@$(with_engine) $(py) -m demo $(if $(KEEP),--keep)

.PHONY: tour
tour: setup ## every act of the demo
	@$(with_engine) $(py) -m demo --tour $(if $(KEEP),--keep)

.PHONY: bench
bench: setup ## the budgets, as ratios measured in one run
	@$(with_engine) $(py) -m benchmarks

# ---- check ---------------------------------------------------------------------------------------------------------

.PHONY: test
test: setup check test-unit test-engine ## checks, unit tests and short engine tests

.PHONY: test-unit
test-unit: $(venv_stamp) ## tests without the engine, in parallel
	@$(part) "unit tests" $(py) -m pytest -n $(WORKERS) --dist loadfile -m "not engine and not real"

.PHONY: test-engine
test-engine: setup ## short tests on the real engine
	@$(with_engine) $(part) "engine tests" $(py) -m pytest -m "engine and not real"

.PHONY: test-real
test-real: setup ## long engine lives, registries, clusters, browser
	@$(with_engine) $(part) "real tests" $(py) -m pytest -m real

.PHONY: check
check: lint ## format, lint, types and imports; changes nothing
	@$(part) format .venv/bin/ruff format --check --quiet
	@$(part) types $(py) -m mypy
	@$(part) imports .venv/bin/lint-imports --no-logo --cache-dir .build/import-linter

.PHONY: lint
lint: $(venv_stamp) ## ruff's rules
	@$(part) lint .venv/bin/ruff check --quiet

.PHONY: format
format: $(venv_stamp) ## rewrite the sources in the house format
	@.venv/bin/ruff check --fix --select I --quiet
	@.venv/bin/ruff format

# ---- generated files -----------------------------------------------------------------------------------------------

.PHONY: schemas
schemas: $(venv_stamp) ## rewrite config/schema from the models
	@$(py) -c 'from pathlib import Path; from outlast.intent.schema import write_schemas; write_schemas(Path("config/schema"))'

.PHONY: resources
resources: $(venv_stamp) ## rewrite docs/resources.md and docs/simulated-clouds.md
	@$(py) -W ignore -m tools.pages

.PHONY: shapes
shapes: $(venv_stamp) ## rewrite the table of the properties our stacks set, with the shapes of the installed SDKs
	@$(py) -m tests.simcloud.used_properties

.PHONY: lock
lock: ## recompile requirements.lock from requirements.in
	@[ -x .build/lock/bin/pip-compile ] || { $(PYTHON) -m venv .build/lock && .build/lock/bin/python -m pip install --quiet pip-tools==7.6.2; }
	@env -u PIP_FIND_LINKS CUSTOM_COMPILE_COMMAND="make lock" .build/lock/bin/pip-compile --quiet --generate-hashes \
		--allow-unsafe --strip-extras --no-emit-find-links --no-emit-index-url --no-emit-trusted-host \
		--output-file requirements.lock requirements.in

.PHONY: clean
clean: ## remove what was built here; keeps .venv and the engine's cache
	@rm -rf .build .mypy_cache .pytest_cache .ruff_cache .hypothesis .sim
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
