# Two commands for a newcomer: `make demo` and `make test`. Both set everything up first.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo studio test lint format docs campaign bench tables clean

demo: .venv/core
	$(BIN)/chainrule train digits-mlp

# The whole course, live in the browser.
studio: .venv/studio
	$(BIN)/chainrule studio

test: .venv/dev
	$(BIN)/pytest -n 2 -q

lint: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: .venv/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The site: course, guides and reference, in build/docs/index.html. Warnings are errors.
docs: .venv/docs
	$(BIN)/sphinx-build --jobs auto --fail-on-warning --keep-going --quiet docs build/docs
	@echo "$$(find build/docs -name '*.html' | wc -l) pages: build/docs/index.html"

# An attack on the program: a few minutes, or an hour with SIZE=full, which is recorded.
SIZE ?= medium
campaign: .venv/dev
	PYTHONPATH=tests $(BIN)/python -m campaign --size $(SIZE) $(if $(filter full,$(SIZE)),--record benchmarks/campaign.json)

# This library beside its peers, row by row; ROWS="mlp gpt" takes some.
bench: .venv/peers
	$(BIN)/chainrule bench $(ROWS) --record --resume

# Tables of docs/results.md, docs/speed.md, docs/dependencies.md and SECURITY.md, and the links of docs/course.md.
tables: .venv/core
	$(BIN)/python benchmarks/write_tables.py
	$(BIN)/python benchmarks/draw_speed.py
	$(BIN)/python docs/write_course.py
	$(BIN)/python docs/write_dependencies.py

.venv/python: 
	$(PYTHON) -c 'import sys; sys.exit("chainrule needs Python 3.11 or newer; set PYTHON=…" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	touch $@

.venv/core: .venv/python pyproject.toml constraints.txt
	@echo "Installing chainrule into .venv (a minute or two, once) …"
	$(PIP) --editable .
	touch $@

.venv/studio: .venv/core
	$(PIP) --editable '.[studio]'
	touch $@

.venv/docs: .venv/core
	$(PIP) --editable '.[docs]'
	touch $@

.venv/dev: .venv/core
	$(PIP) --editable '.[dev]'
	touch $@

.venv/peers: .venv/core
	$(PIP) --editable '.[peers]'
	touch $@

clean:
	rm -rf .venv runs build docs/reference
