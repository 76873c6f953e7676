# make demo   set up, run the ladder from 2017 to today at smoke size, name its report at the end
# make test   set up, run everything that CI runs
PYTHON ?= python3
BIN := .venv/bin

# Bytecode is kept, whatever the environment says: without it every process compiles torch anew from its source, some 3 s.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check format setup clean

# Installed once per change of the dependencies; after that nothing needs a network. Without --no-compile half of the time
# would go into bytecode of modules that nobody imports.
.venv/.installed: pyproject.toml constraints.txt
	@echo "setting up .venv: a minute or two"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[dev]'
	touch $@

setup: .venv/.installed

demo: setup
	$(BIN)/python train.py study=ladder seed=0,1
	$(BIN)/python evaluate.py study=runs/studies/ladder

test: check
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache
