# Another Python (3.10 to 3.13) or Java (17 or 21): make PYTHON=/path/to/python3.12 JAVA_HOME=/path/to/java-17 <target>
ifndef PYTHON
PYTHON := $(shell for each in python3.13 python3.12 python3.11 python3.10 python3; do \
  "$$each" -c 'import ensurepip, venv' 2>/dev/null && echo "$$each" && break; done)
endif

.DEFAULT_GOAL := help
.PHONY: help demo up down screenshots drawings site bench test test-all test-unit test-crash test-mutation test-spark cluster cluster-test docs tried test-engines test-airflow coverage soak lint format envs wheel sbom clean python

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: python ## compact three tables of small files on this machine, and measure before and after
	@$(PYTHON) -m demo.run

up: python ## open the Airflow UI on the demo's tables
	@$(PYTHON) -m demo.ui up

down: python ## stop what `make up` started
	@$(PYTHON) -m demo.ui down

screenshots: python ## take the pictures of the documentation, of what `make up` runs; needs Chromium
	@$(PYTHON) -m demo.screenshot

drawings: python ## draw the pictures of docs/drawings; needs Chromium and npm
	@$(PYTHON) -m demo.drawings

site: python ## build the documentation into site/
	@$(PYTHON) -m demo.services.environments docs
	@.envs/docs/bin/mkdocs build --strict
	@echo 'Open site/index.html; the search needs a web server: $(PYTHON) -m http.server -b 127.0.0.1 -d site'

bench: python ## measure the jobs beside Lakekeeper and plain Spark; all cases write docs/benchmarks.md: CASE=name ROUNDS=n STEPS=a,b KEEP=1 AGAIN=1
	@$(PYTHON) -m benchmarks.run $(CASE) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(STEPS),--steps $(STEPS)) \
	  $(if $(KEEP),--keep) $(if $(AGAIN),--again)

SUITE = $(PYTHON) -m tests.harness.suite $(if $(ALL),--all)

test: python ## lint and the default set of tests (about 35 minutes on two cores, 3 GB of disk)
	@$(PYTHON) -m tests.harness.suite

test-all: python ## every test on all versions (about 65 minutes on two cores, 3 GB of disk; RESUME=1: only what has not passed yet)
	@LAKEKEEPER_CLUSTER=$${LAKEKEEPER_CLUSTER:-required} $(PYTHON) -m tests.harness.suite --all $(if $(RESUME),--resume)

test-unit: python ## unit and contract tests, and those of the harness
	@$(SUITE) unit

test-crash: python ## the jobs on a simulated cluster, killed at every step (ALL=1: on every version; also for the targets below)
	@$(SUITE) crash

test-mutation: python ## remove each guard against a known hazard, and check that a test fails
	@$(SUITE) mutation

test-spark: python ## the jobs on Spark 3.5 and 4.3, the smoke tests on 3.3
	@$(SUITE) spark

cluster: python ## a real HDFS, YARN and Hive Metastore with Kerberos, to experiment by hand (OPEN=1: without Kerberos)
	@$(PYTHON) -m tests.cluster.run $(if $(OPEN),--open)

cluster-test: python ## the jobs on a real HDFS, YARN and Hive Metastore, with Kerberos and without
	@LAKEKEEPER_CLUSTER=required $(PYTHON) -m tests.harness.suite --all cluster

docs: python ## write the generated parts of the documentation
	@$(PYTHON) -m tests.contract.option_table
	@$(PYTHON) -m tests.contract.pages

tried: python ## write docs/safety/tried-on-a-cluster.md from the names of the tests
	@$(PYTHON) -m tests.cluster.tried

test-engines: python ## other engines read the same rows: Hive 3.1 (ALL=1: Hive 4.0, Trino and readers of files too)
	@$(SUITE) engines

test-airflow: python ## the provider on Airflow 3.3 and 2.11
	@$(SUITE) airflow

coverage: python ## which lines the unit, Spark and Airflow tests run
	@$(PYTHON) -m tests.harness.suite --coverage unit spark airflow

soak: python ## kill Spark drivers at random instants, and count the rows: CYCLES=50 or MINUTES=10, SEED=n
	@$(PYTHON) -m demo.services.environments spark-3.5
	@.envs/spark-3.5/bin/python -m tests.soak.run $(if $(CYCLES),--cycles $(CYCLES)) \
	  $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

lint: python ## ruff, mypy, import-linter, and the documentation with its links
	@$(PYTHON) -m tests.harness.suite lint

format: python ## format the code with ruff
	@$(PYTHON) -m demo.services.environments dev
	@.envs/dev/bin/ruff check --fix .
	@.envs/dev/bin/ruff format .

envs: python ## create all environments in .envs/
	@$(PYTHON) -m demo.services.environments

wheel: python ## build the wheels of both distributions into dist/
	@$(PYTHON) -m tests.harness.wheel

sbom: python ## also what they depend on, as CycloneDX files in dist/
	@$(PYTHON) -m tests.harness.wheel --sbom

clean: python ## remove the files of builds, tests and the demo, but not .envs/
	@$(PYTHON) -m demo.ui down
	@rm -rf .scratch dist build .pytest_cache .mypy_cache .ruff_cache .coverage* spark-warehouse metastore_db derby.log

python:
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "error: no Python 3.10 to 3.13 that can make a virtual environment: $(or $(PYTHON),none is on the PATH)." >&2; \
	  echo "On Debian and Ubuntu: apt-get install python3 python3-venv. Or point at one: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -m demo.services.pythons
