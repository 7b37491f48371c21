# Nightshift. `make try` shows what it does, `make test` proves it. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup setup-run setup-try engine try test test-fast test-engine test-node lint fmt lock bench clean

help:  ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1\t/' | expand -t 14

setup: $(VENV)/.dev  ## everything pinned, tests' packages too, in .venv

setup-run: $(VENV)/.run  ## what the program, the verbs and the rehearsal need, in .venv

setup-try: $(VENV)/.try  ## the same with PyTorch, for nodes that are real processes

$(VENV)/.%: requirements/%.txt requirements/uv.txt pyproject.toml tools/setup.sh
	@tools/setup.sh "$(VENV)" $*

engine: setup-run  ## the Pulumi engine and AWS provider, found or built and cached
	@$(BIN)/python -m nightshift.emulator.engine

try:  ## the main job on an emulated AWS, no account needed; a week of it, on real nodes where root may
	@tools/prepare.sh "$(MAKE)" "$$(tools/try-set.sh)"
	@$(BIN)/python -m nightshift.rehearsal.front_door

test:  ## lint, types and all tests
	@tools/prepare.sh "$(MAKE)" setup
	@$(MAKE) --no-print-directory lint test-fast test-engine test-node

test-fast: setup  ## pure tests and mocks, network blocked
	$(PYTEST) -n 2 -m "not engine and not node and not gpu and not aws"

test-engine: setup  ## the real engine and provider on the emulated AWS
	$(PYTEST) -n 2 --dist loadgroup -m engine

test-node: setup  ## real processes and block devices, one at a time: the devices are the machine's
	$(PYTEST) -n 0 -m "node and not engine"

lint: setup  ## formatting, rules, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/ty check

fmt: setup  ## format and fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: setup  ## pin the newest versions that pyproject.toml allows
	@tools/lock.sh "$(BIN)"
	@$(BIN)/python -m bootstrap.runtime.relock

bench: setup  ## every benchmark, JSON on stdout
	@for file in benchmarks/*.py; do name=$$(basename $$file .py); echo "== $$name" >&2; $(BIN)/python -m benchmarks.$$name; done
	@$(BIN)/python -m benchmarks.training

clean:  ## remove what was made here; caches outside the clone stay
	rm -rf $(VENV) .build .pytest_cache .ruff_cache .hypothesis *.egg-info
