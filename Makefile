# Two commands do everything on a machine that has Python and make: `make run` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml constraints.txt

.PHONY: run test check bench torture demo clean

run: $(VENV)/.ready
	@$(BIN)/sourcewatch run
	@$(BIN)/sourcewatch report

# The suite starts commands some hundred times; where Python is told to keep no bytecode, each would compile all of it.
test: $(VENV)/.ready-test
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest --numprocesses=2 --dist=loadfile

check: $(VENV)/.ready-test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(VENV)/.ready-test
	$(BIN)/python benchmarks/chain.py

# Kill passes with SIGKILL at random instants: `make torture KILLS=20000 SEED=7`.
KILLS ?= 2000
torture: $(VENV)/.ready-test
	$(BIN)/python tests/torture.py $(KILLS) $(SEED)

demo: $(VENV)/.ready
	@$(BIN)/sourcewatch demo

$(VENV)/.ready: $(SOURCES)
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.ready-test: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
