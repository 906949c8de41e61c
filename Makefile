# Another Python 3.11 or Java 17: make PYTHON=/path/to/python3.11 JAVA_HOME=/path/to/java-17 <target>
PYTHON ?= python3.11

.DEFAULT_GOAL := help
.PHONY: help demo up down test test-unit test-crash test-mutation test-spark cluster cluster-test tried test-airflow soak lint format envs wheel clean python

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: python ## compact three tables of small files on this machine, and measure before and after
	@$(PYTHON) -m tests.demo.run

up: python ## open the Airflow UI on the demo's tables
	@$(PYTHON) -m tests.demo.ui up

down: python ## stop what `make up` started
	@$(PYTHON) -m tests.demo.ui down

test: python ## everything: lint, unit, crash, mutation, Spark, cluster, Airflow, demo
	@$(PYTHON) -m tests.harness.suite

test-unit: python ## unit and contract tests
	@$(PYTHON) -m tests.harness.suite unit

test-crash: python ## the jobs in a model world, killed at every step
	@$(PYTHON) -m tests.harness.suite crash

test-mutation: python ## each guard against a known hazard removed, to see a test fail
	@$(PYTHON) -m tests.harness.suite mutation

test-spark: python ## the jobs on Spark 3.5 and 4.3, the smoke tests on 3.3
	@$(PYTHON) -m tests.harness.suite spark

cluster: python ## a real HDFS, YARN and Hive Metastore with Kerberos, to try things on by hand (OPEN=1: without)
	@$(PYTHON) -m tests.cluster.run $(if $(OPEN),--open)

cluster-test: python ## the jobs on a real HDFS, YARN and Hive Metastore, with Kerberos and without
	@LAKEKEEPER_CLUSTER=required $(PYTHON) -m tests.harness.suite cluster

tried: python ## write docs/tried-on-a-cluster.md anew
	@$(PYTHON) -m tests.cluster.tried

test-airflow: python ## the provider on Airflow 3.3 and 2.11
	@$(PYTHON) -m tests.harness.suite airflow

soak: python ## kill Spark drivers at random instants, and count the rows: CYCLES=50 or MINUTES=10, SEED=n
	@$(PYTHON) tests/harness/envs.py spark-3.5
	@.envs/spark-3.5/bin/python -m tests.soak.run $(if $(CYCLES),--cycles $(CYCLES)) \
	  $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

lint: python ## ruff and mypy
	@$(PYTHON) -m tests.harness.suite lint

format: python ## let ruff put the code in order
	@$(PYTHON) tests/harness/envs.py dev
	@.envs/dev/bin/ruff check --fix .
	@.envs/dev/bin/ruff format .

envs: python ## make all environments below .envs/
	@$(PYTHON) tests/harness/envs.py

wheel: python ## build the wheel into dist/
	@$(PYTHON) -m tests.harness.wheel

clean: python ## remove what builds, tests and the demo left; .envs/ stays
	@$(PYTHON) -m tests.demo.ui down
	@rm -rf .scratch dist build .pytest_cache .mypy_cache .ruff_cache .coverage* spark-warehouse metastore_db derby.log

python:
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "error: no $(PYTHON) here. Install Python 3.11, or point at it: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(PYTHON) -m tests.harness.machine
