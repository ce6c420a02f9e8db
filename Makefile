# The two commands: `make demo` runs the main job, `make test` passes the tests. Both make their own
# virtual environment, so an externally managed system Python is no obstacle.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --retries 5 --timeout 60

.PHONY: demo test lint types unit all-tests bench clean

demo: $(VENV)/.demo
	@$(BIN)/graphport demo

# Everything, as CI runs it: on a laptop a missing PostgreSQL, Docker, Chromium or Java is a skip that says so.
test: lint types all-tests

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/mypy
	for folder in tests/*/; do MYPYPATH=tests/storage:tests/every_backend:tests/knowledge $(BIN)/mypy $$folder || exit 1; done  # each has its own conftest
	$(BIN)/pyright

# Fast enough to run after each change: no servers, no browser, no kills.
unit: $(VENV)/.dev
	$(BIN)/pytest tests -n 2 -m "not slow" --ignore tests/postgres --ignore tests/kuzu

all-tests: $(VENV)/.dev
	$(BIN)/pytest tests -n 2

# Every figure in one table, some hours; BENCH="--quick" for minutes. See benchmarks/README.md.
bench: $(VENV)/.dev
	@$(PIP) install --quiet --group bench
	$(BIN)/python benchmarks/all.py $(BENCH)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -m venv $(VENV) || { echo "no venv module: on Debian and Ubuntu, apt install python3-venv" >&2; exit 1; }
	@$(PIP) install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	@echo "installing graphport and its engines into $(VENV) ..."
	@$(PIP) install --quiet --editable ".[all]"
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.demo
	@$(PIP) install --quiet --upgrade "pip>=25.1"  # older ones know no groups, and .venv may have been there before
	@$(PIP) install --quiet --group dev
	@touch $@
