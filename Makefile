# Everything a developer runs. Needs make and Python >= 3.11 only; `PYTHON=/path/to/python make test` picks another one.

PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test format lint types tests fix docs clean

demo: $(VENV)/.installed
	@$(BIN)/erst demo
	@echo "(Here, erst is $(BIN)/erst.)"

test: format lint types tests

# ruff format --check, not a rewrite: `make fix` rewrites.
format: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/pyright --pythonpath $(BIN)/python

tests: $(VENV)/.dev
	$(BIN)/python -m pytest

fix: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Runs the examples in the documents again and writes what they print now; read the diff.
docs: $(VENV)/.dev
	WRITE_DOCS=1 $(BIN)/python -m pytest -n 0 tests/test_docs.py

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist

$(VENV)/.python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: PYTHON=/path/to/python make" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) cannot make virtual environments: install its venv package (Debian: python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Stamps: a second call installs nothing until pyproject.toml changes.
$(VENV)/.installed: $(VENV)/.python pyproject.toml
	@test -f $(VENV)/.dev || $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@
