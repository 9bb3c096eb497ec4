# Strata's commands. `make run` starts everything; `make test` checks everything.
# Both need only Python 3.11 to 3.13, make and a package index.
.DEFAULT_GOAL := help
SHELL := /bin/sh
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes

# What starts and kills servers comes first, in two processes, in which little else happens; the rest is dealt
# out to three, since one of them often waits. By the order of tests/conftest.py, not by the number of tests.
SERVERS := tests/torture tests/faults tests/embedded tests/examples
DEAL := --dist load --no-loadscope-reorder

# Hundreds of processes are started: they need not compile everything each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test torture demo bench lint lock clean

help: ## what can be done here
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /|/' | awk -F'|' '{printf "  make %-8s %s\n", $$1, $$2}'

run: .venv/run.stamp ## start Strata on http://127.0.0.1:8002 (PORT=… for another port)
	@exec $(BIN)/python manage.py run --end-with-parent

test: .venv/test.stamp ## lint, types, layers, migrations and every test
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy .
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest -n 2 $(DEAL) $(SERVERS)
	@exec $(BIN)/python -m pytest -n 3 $(DEAL) $(addprefix --ignore=,$(SERVERS))

torture: .venv/test.stamp ## kill workers, broker and PostgreSQL in the middle of 10,000 jobs, for ten minutes
	@TORTURE=long exec $(BIN)/python -m pytest tests/torture --durations=0 -s

demo: .venv/run.stamp ## play the bundled support case through the running server and ask it questions
	@exec $(BIN)/python manage.py replay --bundled

bench: .venv/bench.stamp ## measure the running parts beside their floor (needs wrk)
	@exec $(BIN)/python -m tests.benchmarks

lint: .venv/test.stamp ## format and fix what can be fixed
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lock: ## pin every dependency again, with hashes (needs uv)
	@uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-header --no-annotate --quiet -o requirements/run.txt
	@for group in test bench; do uv pip compile pyproject.toml --group $$group --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate --quiet \
	  -c requirements/run.txt -o requirements/$$group.txt || exit 1; done

clean: ## remove the virtual environment; memories in .memory/ stay
	rm -rf .venv

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Strata needs Python 3.11, 3.12 or 3.13; none was found. Set PYTHON=/path/to/python3."; exit 1; }
	@echo "Creating .venv with $(PYTHON) …"
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "Could not create .venv. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

.venv/run.stamp: requirements/run.txt | .venv/bin/python
	@echo "Installing packages into .venv (first start only) …"
	@$(INSTALL) -r requirements/run.txt
	@touch $@

.venv/test.stamp .venv/bench.stamp: .venv/%.stamp: requirements/%.txt .venv/run.stamp
	@echo "Installing the $* tools into .venv …"
	@$(INSTALL) -r requirements/$*.txt
	@touch $@
