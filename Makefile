# The two commands: `make demo` runs the main job, `make test` passes the tests. Both make their own
# virtual environment, so an externally managed system Python is no obstacle.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --retries 5 --timeout 60

.PHONY: demo test lint types unit engines clean

demo: $(VENV)/.demo
	$(BIN)/graphport demo

test: lint types unit engines

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/mypy
	$(BIN)/pyright

unit: $(VENV)/.dev
	$(BIN)/pytest tests -m "not engine" -n 2

# Tests against engines that run outside this process: PostgreSQL with and without AGE, both Kuzu drivers.
engines: $(VENV)/.dev
	$(BIN)/pytest tests -m engine

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || { echo "no venv module: on Debian and Ubuntu, apt install python3-venv" >&2; exit 1; }
	$(PIP) install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --quiet --editable ".[all]"
	touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.demo
	$(PIP) install --quiet --group dev
	touch $@
