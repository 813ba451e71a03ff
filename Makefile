# Two commands set up everything: `make train` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RANKS ?= 2
READY := $(VENV)/ready

.PHONY: train test bench lint

train: $(READY)  ## train the reference on 2 ranks: Gloo on CPU, NCCL with 2 or more GPUs
	OMP_NUM_THREADS=1 $(BIN)/torchrun --standalone --nproc-per-node=$(RANKS) -m ddp_reference

test: $(READY)  ## run every test
	$(BIN)/python -m pytest tests
	$(BIN)/python -m pytest lessons --submission solutions

bench: $(READY)  ## measure the grader against other ways to start ranks
	$(BIN)/python -m benchmarks.grader

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Made once, and again when the dependencies change.
$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	touch $@
