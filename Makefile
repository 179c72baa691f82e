# Needs Python 3.11 (or newer) and make, nothing else. `make help` lists the targets.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# Touched after an installation, so that only a change of the requirements installs again.
STAMP := $(VENV)/.installed
# nnU-Net lives beside it: its torchvision and ours do not go together.
NNUNET_VENV := .venv-nnunet
NNUNET_STAMP := $(NNUNET_VENV)/.installed
SOURCES := src $(wildcard benchmarks) docs/analyses
# One torch thread a worker: several workers with all cores each only get in each other's way.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --maxprocesses 4 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test nnunet lint format docs bench clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14

demo: $(STAMP) ## set up, then run the main job
	$(BIN)/gradsurge demo

test: lint ## set up, then run all checks and tests
	$(PYTEST) $(PYTEST_ARGS)

nnunet: $(STAMP) $(NNUNET_STAMP) ## set up nnU-Net beside it, then test its own commands with ours
	$(PYTEST) tests/integrations/nnunet $(PYTEST_ARGS)

lint: $(STAMP) ## checks that run no code: style, types, import directions
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy $(SOURCES)
	$(BIN)/lint-imports

format: $(STAMP) ## fix and format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(STAMP) ## build the site into site/
	$(BIN)/mkdocs build --strict

bench: $(STAMP) ## print the measured ratios
	@set -e; for script in $(sort $(wildcard benchmarks/[a-z]*.py)); do \
		echo "== $$script"; $(BIN)/python $$script; \
	done

clean: ## remove environments, caches and build output
	rm -rf $(VENV) $(NNUNET_VENV) build dist site .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python"; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + ": make PYTHON=/path/to/python")'
	@echo "Setting up $(VENV); the first time takes a few minutes."
	"$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check \
		-c constraints.txt -e '.[dev]'
	@touch $@

$(NNUNET_STAMP): pyproject.toml constraints.txt
	@echo "Setting up $(NNUNET_VENV) with nnU-Net; the first time takes a few minutes."
	"$(PYTHON)" -m venv $(NNUNET_VENV)
	$(NNUNET_VENV)/bin/python -m pip install --quiet --no-input --disable-pip-version-check \
		-c constraints.txt -e '.[nnunet]'
	@touch $@
