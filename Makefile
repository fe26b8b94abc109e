# Everything sets up what it needs by itself. Needed beforehand: Python 3.11 or newer, make, git.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SAMPLE := samples/paddlejob/wide_and_deep
IMAGE  := registry.baidubce.com/paddle-operator/demo-wide-and-deep:v1

.DEFAULT_GOAL := help
.PHONY: help demo test unit soak mutants bench check crd format kubelab lock clean

help: ## what can be made
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 16

demo: $(VENV)/run ## train wide & deep with real parameter servers, on this machine
	@paddle=$$($(BIN)/python scripts/paddle_env.py requirements/paddle-ps.txt) && \
	$(BIN)/pdj run $(SAMPLE)/wide_and_deep.yaml --image $(IMAGE)=$(SAMPLE) --python $$paddle

test: check ## everything: checks, unit tests, a real control plane, real Paddle jobs
	@ps=$$($(BIN)/python scripts/paddle_env.py requirements/paddle-ps.txt) && \
	collective=$$($(BIN)/python scripts/paddle_env.py requirements/paddle-collective.txt) && \
	kubelab=$$($(BIN)/python scripts/kubelab.py) && \
	PADDLE_PS_PYTHON=$$ps PADDLE_COLLECTIVE_PYTHON=$$collective KUBELAB=$$kubelab \
	  $(BIN)/python -m pytest -q $(PYTEST_ARGS)

unit: $(VENV)/dev ## unit tests, in seconds
	@$(BIN)/python -m pytest -q -m "not paddle and not cluster" $(PYTEST_ARGS)

bench: $(VENV)/dev ## our runtime beside other libraries, on a real API server (BENCH_ARGS=--small)
	@peers=$$($(BIN)/python scripts/paddle_env.py requirements/bench.txt) && \
	kubelab=$$($(BIN)/python scripts/kubelab.py) && \
	PYTHONPATH=tests $(BIN)/python -m bench.runtime --kubernetes $$kubelab --peers $$peers $(BENCH_ARGS)

soak: $(VENV)/dev ## the properties, with as many examples as it takes to be sure
	@kubelab=$$($(BIN)/python scripts/kubelab.py) && \
	HYPOTHESIS_PROFILE=soak KUBELAB=$$kubelab $(BIN)/python -m pytest -q --timeout 3000 \
	  tests/kube tests/api tests/controllers tests/cluster/test_bad_objects.py $(PYTEST_ARGS)

mutants: $(VENV)/dev ## break the runtime and the validation in many small ways; the tests must notice
	@$(BIN)/python scripts/mutate.py src/paddle_operator/kube/cache.py \
	  tests/kube/test_cache.py tests/kube/test_cache_property.py
	@$(BIN)/python scripts/mutate.py src/paddle_operator/kube/queue.py tests/kube/test_queue.py
	@for module in shape validation rules; do $(BIN)/python scripts/mutate.py \
	  src/paddle_operator/api/$$module.py tests/api/test_shape.py tests/api/test_validation.py \
	  tests/api/test_rules.py; done

check: $(VENV)/dev ## format, lint, types, the contract of the layers, generated files
	@$(BIN)/ruff format --check -q .
	@$(BIN)/ruff check -q .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m paddle_operator.api.crd deploy --check

crd: $(VENV)/run ## write the CRDs in deploy/ from the types and rules in api/
	@$(BIN)/python -m paddle_operator.api.crd deploy

kubelab: $(VENV)/run ## build the control plane that the tests use, once; print its path
	@$(BIN)/python scripts/kubelab.py

format: $(VENV)/dev ## put the code into form
	@$(BIN)/ruff check -q --fix .
	@$(BIN)/ruff format -q .

lock: $(VENV)/dev ## pin the newest versions of what pyproject.toml allows
	@$(BIN)/pip install -q uv
	@for set in "run build" "dev dev build"; do set -- $$set; name=$$1; shift; \
	  $(BIN)/uv pip compile -q pyproject.toml $$(printf -- '--extra %s ' $$@) --universal --python-version 3.11 \
	    --generate-hashes --no-header --no-annotate --upgrade -o requirements/$$name.txt; done

clean: ## remove what was made here; what was downloaded stays in the cache
	@rm -rf $(VENV) .pdj .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache log

# One virtual environment; each stamp says which pinned set is in it.
$(VENV)/run: requirements/run.txt pyproject.toml
	@$(call setup,run)

$(VENV)/dev: requirements/dev.txt pyproject.toml
	@$(call setup,dev)
	@touch $(VENV)/run

define setup
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "paddle-operator needs Python 3.11 or newer; this is %s. Try make PYTHON=python3.11" % sys.version.split()[0])'
	echo "setting up $(VENV) ($(1))"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements/$(1).txt
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@
endef
