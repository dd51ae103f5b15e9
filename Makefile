# One word per chore; `make` alone lists them. Every chore sets up what it needs first.
.DEFAULT_GOAL := help
.PHONY: help setup eval test check gate tune lab docs refresh bench bench-crash interop clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# More labelled data to score besides datasets/: make eval DATA=DIR[:DIR...]
DATA ?=
# Where `make eval` leaves its run and report.
OUT ?= runs/latest
# Further options of JupyterLab, such as --allow-root in a container.
LAB ?=

help: ## List the chores
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

# The stamp names what the environment was made from, so a change of either file remakes it.
$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("wsmem needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[lab,test]'
	$(BIN)/python -m compileall -q wsmem  # a start without byte code takes twice as long
	touch $@

setup: $(VENV)/.ready ## Make .venv with everything the other chores use

eval: setup ## Score recall on labelled data, print the board, write the report (DATA=DIR[:DIR...] adds sets)
	DATA='$(DATA)' $(BIN)/wsmem eval --out '$(OUT)'
	$(BIN)/wsmem report '$(OUT)'

check: setup ## Lint, format and types, without tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check ## Everything CI runs: check, tests, notebooks
	$(BIN)/pytest -n 2 --dist loadfile

gate: setup ## Compare ranking, shipped weights and counted work with the committed baselines
	$(BIN)/wsmem gate

tune: setup ## Search for better weights (minutes; goes on where it stopped; DATA=DIR[:DIR...] adds sets)
	DATA='$(DATA)' $(BIN)/wsmem tune

lab: setup ## Open the notebooks in JupyterLab
	$(BIN)/jupyter lab notebooks $(LAB)

docs: setup ## Write the generated parts of README.md and docs/
	$(BIN)/python benchmarks/docs.py

refresh: setup ## Score our own sets anew for notebooks and gate, and run these again
	$(BIN)/python benchmarks/refresh_ranking.py
	$(BIN)/python benchmarks/refresh_gate.py

bench: setup ## Time recalls, ranking and the engine beside their peers (many minutes)
	$(BIN)/wsmem bench latency
	$(BIN)/python benchmarks/ranking_speed.py
	$(BIN)/python benchmarks/index_cost.py
	$(BIN)/python benchmarks/engine_speed.py
	$(BIN)/python benchmarks/recall_start.py

bench-crash: setup ## Kill and starve the store for minutes; nothing acknowledged may be lost
	$(BIN)/python benchmarks/crash/run.py

interop: setup ## Share a store with the public plugin (needs Node and npm)
	$(BIN)/python benchmarks/interop/run.py

clean: ## Remove the environment and everything generated
	rm -rf $(VENV) runs build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
