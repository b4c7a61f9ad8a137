# Every target works on a fresh clone: it makes what it needs first; a stamp in .venv records that.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
UV_VERSION := 0.13.9
BIN := .venv/bin
INSTALLED := .venv/.installed

# uv ships certificates of its own; it uses the machine's where there are some.
ifneq ($(wildcard /etc/ssl/certs),)
export UV_SYSTEM_CERTS ?= 1
endif

.PHONY: help setup demo test chaos chaos-mutants lint bench-stream bench-freshness bench-reads bench-operators bench-recall check lock

help: ## show the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1  \2/p' Makefile

setup: $(INSTALLED) ## make .venv from the hashed lock, and fetch Kafka's jars
	$(BIN)/varve fetch

demo: setup ## feed a sample conversation through the whole of Varve, and ask it questions
	$(BIN)/varve demo

test: setup ## run all tests, on a real Kafka, Redis and Qdrant engine
	$(BIN)/pytest $(PYTEST_ARGS)

chaos: setup ## inject faults under load, and compare the result with an oracle: build/reports/chaos.json
	$(BIN)/python -m tests.chaos --report build/reports/chaos.json $(CHAOS_ARGS)

chaos-mutants: setup ## put defects into a copy of the code, one at a time, and see what notices each: build/reports/mutants.json
	$(BIN)/python -m tests.chaos.mutation --report build/reports/mutants.json $(MUTANTS_ARGS)

lint: setup ## format, lint, types and floors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench-stream: setup ## measure the stages on a real broker: throughput, flat cost and memory, fairness, recovery
	$(BIN)/python -m benchmarks.stream

bench-freshness: setup ## measure how soon after its window closed a message is recalled, on the whole stack
	$(BIN)/python -m benchmarks.freshness

bench-operators: setup ## measure the algebra in one process
	$(BIN)/python -m benchmarks.operators

bench-reads: setup ## measure one tenant's recalls while another floods the service
	$(BIN)/python -m benchmarks.reads

bench-recall: setup ## measure recall on the Qdrant engine
	$(BIN)/python -m evaluation.bench_recall

check: lint test ## everything that must pass before a push

lock: $(BIN)/uv ## write requirements.lock again from pyproject.toml
	$(BIN)/uv pip compile --quiet --generate-hashes --all-extras --no-header --python-version 3.11 --output-file requirements.lock pyproject.toml

# uv pip sync leaves uv itself in place; the project is then installed without asking any index.
$(INSTALLED): requirements.lock pyproject.toml | $(BIN)/uv
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes --compile-bytecode requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	touch $@

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Varve needs Python 3.11 or newer: make PYTHON=python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "$(PYTHON) cannot make virtual environments: apt-get install python3-venv, or make PYTHON=... with one that can" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
